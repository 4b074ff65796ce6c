import { describe, expect, it } from '@jest/globals';
import {
  type Attributes,
  type AttributeValue,
  createTraceState,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { SeverityNumber } from '@opentelemetry/api-logs';
import { type Resource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchLogRecordProcessor,
  InMemoryLogRecordExporter,
  LoggerProvider,
  type LogRecordProcessor,
  SimpleLogRecordProcessor,
} from '@opentelemetry/sdk-logs';
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import fc from 'fast-check';
import { createRedactor } from '../../redact/index.ts';
import {
  DEFAULT_ATTRIBUTE_POLICIES,
  RedactingLogRecordProcessor,
  RedactingSpanProcessor,
  type TelemetryOptions,
} from '../../redact/otel.ts';
import { propertyRuns } from '../support/property-runs.ts';

const SECRET = 'Tr0ub4dor-and-3';
const redactor = createRedactor();
const throwing = {
  redact(): never {
    throw new Error(SECRET);
  },
};

interface Setup extends TelemetryOptions {
  readonly resource?: Resource;
  readonly redactor?: Pick<typeof redactor, 'redact'>;
}

/** Tracing with two exporters: one behind the mask, and one beside it. */
function tracing({
  resource = resourceFromAttributes({}),
  redactor: own = redactor,
  ...options
}: Setup = {}) {
  const [masked, beside] = [new InMemorySpanExporter(), new InMemorySpanExporter()];
  const provider = new BasicTracerProvider({
    resource,
    spanProcessors: [
      new RedactingSpanProcessor(own, new SimpleSpanProcessor(masked), options),
      new SimpleSpanProcessor(beside),
    ],
  });
  return { provider, tracer: provider.getTracer('shop', '1.0'), masked, beside };
}

function logging({
  resource = resourceFromAttributes({}),
  redactor: own = redactor,
  ...options
}: Setup = {}) {
  const [masked, beside] = [new InMemoryLogRecordExporter(), new InMemoryLogRecordExporter()];
  const provider = new LoggerProvider({
    resource,
    processors: [
      new RedactingLogRecordProcessor(own, new SimpleLogRecordProcessor({ exporter: masked }), options),
      new SimpleLogRecordProcessor({ exporter: beside }),
    ],
  });
  return { provider, logger: provider.getLogger('shop', '1.0'), masked, beside };
}

/** What becomes of attributes of a span. */
function exported(attributes: Attributes, options: Setup = {}): Attributes | undefined {
  const { tracer, masked } = tracing(options);
  tracer.startSpan('work', { attributes }).end();
  return masked.getFinishedSpans()[0]?.attributes;
}

/** What becomes of a body of a log record, which may be anything at run time. */
function exportedBody(body: unknown, options: Setup = {}): unknown {
  const { logger, masked } = logging(options);
  logger.emit({ body: body as string });
  return masked.getFinishedLogRecords()[0]?.body;
}

const IDS = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331', traceFlags: 1 };

describe('RedactingSpanProcessor', () => {
  it('masks each place of a span that has text', () => {
    const resource = resourceFromAttributes({
      'service.name': 'shop',
      'process.command_args': ['node', 'app.js', '--password', SECRET],
    });
    const { tracer, masked } = tracing({ resource });
    const span = tracer.startSpan(`GET /reset?token=${SECRET}`, {
      kind: SpanKind.SERVER,
      attributes: { 'url.query': `token=${SECRET}&page=2`, 'http.response.status_code': 500 },
      links: [{ context: IDS, attributes: { 'url.full': `https://ada:${SECRET}@example.com/` } }],
    });
    span.addEvent(`retry with password=${SECRET}`, { 'app.password': SECRET, attempt: 2 });
    span.recordException(new Error(`no login: password=${SECRET}`));
    span.setStatus({ code: SpanStatusCode.ERROR, message: `password=${SECRET} is wrong` });
    span.end();

    const [shown] = masked.getFinishedSpans();
    expect(shown).toMatchObject({
      name: 'GET /reset?token=<:query:>',
      kind: SpanKind.SERVER,
      attributes: { 'url.query': 'token=<:token:>&page=2', 'http.response.status_code': 500 },
      links: [{ context: IDS, attributes: { 'url.full': 'https://ada:<:url-password:>@example.com/' } }],
      events: [
        {
          name: 'retry with password=<:password:>',
          attributes: { 'app.password': '<:password:>', attempt: 2 },
        },
        {
          name: 'exception',
          attributes: {
            'exception.type': 'Error',
            'exception.message': 'no login: password=<:password:>',
            'exception.stacktrace': expect.stringMatching(
              /^Error: no login: password=<:password:>\n +at .*otel\.test\.ts:\d+/,
            ),
          },
        },
      ],
      status: { code: SpanStatusCode.ERROR, message: 'password=<:password:> is wrong' },
      instrumentationScope: { name: 'shop', version: '1.0' },
    });
    expect(shown?.resource.attributes).toEqual({
      'service.name': 'shop',
      'process.command_args': ['node', 'app.js', '--password', '<:password:>'],
    });
    expect(JSON.stringify(shown)).not.toContain(SECRET);
  });

  it('keeps ids, times, counts and the identity of what spans share', () => {
    const { tracer, masked, beside } = tracing();
    const parent = trace.setSpanContext(ROOT_CONTEXT, { ...IDS, isRemote: true });
    for (const name of ['first', 'second']) tracer.startSpan(name, {}, parent).end();
    const [first, second] = masked.getFinishedSpans();
    const [original] = beside.getFinishedSpans();
    for (const field of [
      ...([
        'name',
        'kind',
        'parentSpanContext',
        'startTime',
        'endTime',
        'duration',
        'ended',
        'status',
      ] as const),
      ...(['droppedAttributesCount', 'droppedEventsCount', 'droppedLinksCount'] as const),
    ])
      expect([field, first?.[field]]).toEqual([field, original?.[field]]);
    expect(first?.spanContext()).toEqual(original?.spanContext());
    expect(first?.resource).toBe(second?.resource);
    expect(first?.instrumentationScope).toBe(second?.instrumentationScope);
  });

  it('names each field of a span that the SDK has', () => {
    const { tracer, masked, beside } = tracing();
    const parent = trace.setSpanContext(ROOT_CONTEXT, IDS);
    tracer.startSpan('work', {}, parent).end();
    const [original] = beside.getFinishedSpans();
    const isPublic = (name: string) => !name.startsWith('_');
    const getters = Object.entries(Object.getOwnPropertyDescriptors(Object.getPrototypeOf(original)))
      .filter(([, { get }]) => get !== undefined)
      .map(([name]) => name);
    expect(Object.keys(masked.getFinishedSpans()[0] ?? {}).sort()).toEqual(
      [...Object.keys(original ?? {}), ...getters, 'spanContext'].filter(isPublic).sort(),
    );
  });

  it('does not change what the program and other processors see', () => {
    const { tracer, beside } = tracing();
    const attributes = Object.freeze({ 'url.query': `token=${SECRET}` });
    const span = tracer.startSpan('work', { attributes, links: [{ context: IDS, attributes }] });
    span.addEvent('retry', attributes);
    span.setStatus({ code: SpanStatusCode.ERROR, message: `password=${SECRET}` });
    span.end();
    expect(beside.getFinishedSpans()[0]).toBe(span);
    expect(span).toMatchObject({
      attributes,
      links: [{ attributes }],
      events: [{ attributes }],
      status: { message: `password=${SECRET}` },
    });
  });

  it('leaves out a trace state in which something has to be masked', () => {
    const { tracer, masked } = tracing();
    const withState = (state: string) =>
      trace.setSpanContext(ROOT_CONTEXT, { ...IDS, traceState: createTraceState(state) });
    for (const state of ['congo=t61rcWkgMzE', `shop=password:${SECRET}`])
      tracer.startSpan('work', {}, withState(state)).end();
    const states = masked
      .getFinishedSpans()
      .flatMap((span) => [
        span.spanContext().traceState?.serialize(),
        span.parentSpanContext?.traceState?.serialize(),
      ]);
    expect(states).toEqual(['congo=t61rcWkgMzE', 'congo=t61rcWkgMzE', undefined, undefined]);
    expect(masked.getFinishedSpans()[1]?.spanContext()).toMatchObject({ traceId: IDS.traceId });
  });

  it('passes all other calls on', async () => {
    const calls: unknown[][] = [];
    const next: SpanProcessor = {
      onStart: (...args) => calls.push(['onStart', ...args]),
      onEnding: (...args) => calls.push(['onEnding', ...args]),
      onEnd: (span) => calls.push(['onEnd', span.name]),
      forceFlush: async () => void calls.push(['forceFlush']),
      shutdown: async () => void calls.push(['shutdown']),
    };
    const provider = new BasicTracerProvider({
      spanProcessors: [new RedactingSpanProcessor(redactor, next)],
    });
    const span = provider.getTracer('shop').startSpan('work', {}, ROOT_CONTEXT);
    span.end();
    await provider.forceFlush();
    await provider.shutdown();
    expect(calls).toEqual([
      ['onStart', span, ROOT_CONTEXT],
      ['onEnding', span],
      ['onEnd', 'work'],
      ['forceFlush'],
      ['shutdown'],
    ]);
    expect(calls[0]?.[1]).toBe(span);
  });

  it('masks attributes of a resource that are found later', async () => {
    const exporter = new InMemorySpanExporter();
    let find: (value: string) => void = () => {};
    const found = new Promise<string>((resolve) => {
      find = resolve;
    });
    const provider = new BasicTracerProvider({
      resource: resourceFromAttributes({ 'service.name': 'shop', 'app.settings': found }),
      spanProcessors: [new RedactingSpanProcessor(redactor, new BatchSpanProcessor(exporter))],
    });
    provider.getTracer('shop').startSpan('work').end();
    const flushed = provider.forceFlush();
    find(`password=${SECRET}`);
    await flushed;
    const resource = exporter.getFinishedSpans()[0]?.resource;
    expect(resource?.attributes).toEqual({ 'service.name': 'shop', 'app.settings': 'password=<:password:>' });
    expect(resource?.attributes).toBe(resource?.attributes);
    expect(resource?.getRawAttributes()).toEqual(Object.entries(resource?.attributes ?? {}));
    expect(resource?.merge(resourceFromAttributes({ pin: `pwd=${SECRET}` })).attributes).toEqual({
      'service.name': 'shop',
      'app.settings': 'password=<:password:>',
      pin: 'pwd=<:password:>',
    });
  });

  it('replaces what cannot be masked, and throws nothing into the program', () => {
    const { tracer, masked } = tracing({ redactor: throwing });
    const span = tracer.startSpan(SECRET, { attributes: { user: SECRET, tries: 3, 'service.name': 'shop' } });
    span.recordException(new Error(SECRET));
    span.setStatus({ code: SpanStatusCode.ERROR, message: SECRET });
    expect(() => span.end()).not.toThrow();
    const [shown] = masked.getFinishedSpans();
    expect(shown).toMatchObject({
      name: '<:unmaskable:>',
      attributes: { user: '<:unmaskable:>', tries: '<:unmaskable:>', 'service.name': 'shop' },
      status: { message: '<:unmaskable:>' },
    });
    expect(JSON.stringify(shown)).not.toContain(SECRET);
  });

  it('takes spans that a program makes by hand, and leaves out what it cannot read', () => {
    const { tracer, masked } = tracing();
    tracer.startSpan('by hand').end();
    const [span] = masked.getFinishedSpans() as [ReadableSpan];
    const shown: ReadableSpan[] = [];
    const processor = new RedactingSpanProcessor(redactor, {
      onStart: () => {},
      onEnd: (span) => shown.push(span),
      forceFlush: () => Promise.resolve(),
      shutdown: () => Promise.resolve(),
    });
    const end = (parts: object) => processor.onEnd(Object.assign(Object.create(span), parts));
    const attributes = {
      get broken() {
        throw new Error(SECRET);
      },
      password: SECRET,
    };
    end({ attributes });
    end({ attributes: null });
    end({ resource: null });
    end({ events: [null] });
    expect(shown.map(({ attributes }) => attributes)).toEqual([
      { broken: '<:unmaskable:>', password: '<:password:>' },
      {},
    ]);
  });
});

describe('RedactingLogRecordProcessor', () => {
  it('masks each place of a log record that has text', () => {
    const resource = resourceFromAttributes({
      'process.command_line': `node app.js --db-password ${SECRET}`,
    });
    const { provider, masked } = logging({ resource });
    const logger = provider.getLogger('shop', '1.0', {
      attributes: { 'app.settings': `password=${SECRET}` },
    });
    logger.emit({
      severityNumber: SeverityNumber.ERROR,
      severityText: 'ERROR',
      eventName: `login password=${SECRET}`,
      body: { request: { headers: [{ name: 'x-api-key', value: SECRET }] }, tries: 3 },
      attributes: { user: { name: 'ada', password: SECRET }, 'db.query.text': `SET PASSWORD = '${SECRET}'` },
      exception: new Error(`password=${SECRET}`),
      context: trace.setSpanContext(ROOT_CONTEXT, IDS),
    });
    const [shown] = masked.getFinishedLogRecords();
    expect(shown).toMatchObject({
      severityNumber: SeverityNumber.ERROR,
      severityText: 'ERROR',
      eventName: 'login password=<:password:>',
      body: { request: { headers: [{ name: 'x-api-key', value: '<:token:>' }] }, tries: 3 },
      attributes: {
        user: { name: 'ada', password: '<:password:>' },
        'exception.message': 'password=<:password:>',
        'exception.type': 'Error',
      },
      spanContext: IDS,
      instrumentationScope: {
        name: 'shop',
        version: '1.0',
        attributes: { 'app.settings': 'password=<:password:>' },
      },
    });
    expect(shown?.resource.attributes).toEqual({
      'process.command_line': 'node app.js --db-password <:password:>',
    });
    expect(JSON.stringify([shown, shown?.resource.attributes])).not.toContain(SECRET);
  });

  it('does not change what the program and other processors see', () => {
    const { logger, masked, beside } = logging();
    const body = Object.freeze({ password: SECRET });
    const attributes = Object.freeze({ password: SECRET });
    logger.emit({ body, attributes });
    logger.emit({ body: 'next' });
    const [original] = beside.getFinishedLogRecords();
    expect(original).toMatchObject({ body, attributes });
    const [first, second] = masked.getFinishedLogRecords();
    expect(first).toMatchObject({ body: { password: '<:password:>' }, hrTime: original?.hrTime });
    expect(first?.resource).toBe(second?.resource);
    expect(first?.instrumentationScope).toBe(second?.instrumentationScope);
  });

  it('exports a body as it was when it was logged', async () => {
    const exporter = new InMemoryLogRecordExporter();
    const provider = new LoggerProvider({
      processors: [new RedactingLogRecordProcessor(redactor, new BatchLogRecordProcessor({ exporter }))],
    });
    const body = { user: 'ada' };
    provider.getLogger('shop').emit({ body });
    body.user = `password=${SECRET}`;
    await provider.forceFlush();
    expect(exporter.getFinishedLogRecords()[0]?.body).toEqual({ user: 'ada' });
  });

  it('masks what the next processor adds', () => {
    const exporter = new InMemoryLogRecordExporter();
    const last = new SimpleLogRecordProcessor({ exporter });
    const enriching: LogRecordProcessor = {
      onEmit(record, context) {
        const added = record
          .setBody(`password=${SECRET}`)
          .setAttribute('app.password', SECRET)
          .setAttributes({ 'app.token': SECRET })
          .setEventName(`password=${SECRET}`)
          .setSeverityText(`password=${SECRET}`)
          .setSeverityNumber(SeverityNumber.WARN);
        last.onEmit(added, context);
      },
      forceFlush: () => last.forceFlush(),
      shutdown: () => last.shutdown(),
    };
    const provider = new LoggerProvider({
      processors: [new RedactingLogRecordProcessor(redactor, enriching)],
    });
    provider.getLogger('shop').emit({ body: 'login' });
    expect(exporter.getFinishedLogRecords()[0]).toMatchObject({
      body: 'password=<:password:>',
      attributes: { 'app.password': '<:password:>', 'app.token': '<:token:>' },
      eventName: 'password=<:password:>',
      severityText: 'password=<:password:>',
      severityNumber: SeverityNumber.WARN,
    });
  });

  it('passes all other calls on', async () => {
    const calls: unknown[][] = [];
    const next: LogRecordProcessor = {
      onEmit: (_, context) => calls.push(['onEmit', context]),
      enabled: ({ eventName }) => eventName !== 'noise',
      forceFlush: async () => void calls.push(['forceFlush']),
      shutdown: async () => void calls.push(['shutdown']),
    };
    const provider = new LoggerProvider({ processors: [new RedactingLogRecordProcessor(redactor, next)] });
    const logger = provider.getLogger('shop');
    logger.emit({ eventName: 'noise', body: 'not wanted' });
    logger.emit({ body: 'wanted', context: ROOT_CONTEXT });
    expect([logger.enabled({ eventName: 'noise' }), logger.enabled()]).toEqual([false, true]);
    await provider.forceFlush();
    await provider.shutdown();
    expect(calls).toEqual([['onEmit', ROOT_CONTEXT], ['forceFlush'], ['shutdown']]);
    expect(logging().provider.getLogger('shop').enabled()).toBe(true);
  });

  const cyclic: Record<string, unknown> = { password: SECRET };
  cyclic.self = cyclic;
  const getter = {
    get settings() {
      throw new Error(SECRET);
    },
  };
  const proxy = new Proxy(
    {},
    {
      ownKeys() {
        throw new Error(SECRET);
      },
    },
  );
  it.each([
    ['bytes', Buffer.from(SECRET), '<:unmaskable:>'],
    ['bytes in a field', { upload: new TextEncoder().encode(SECRET) }, { upload: '<:unmaskable:>' }],
    ['a cycle', cyclic, { password: '<:password:>', self: '[Circular]' }],
    ['a getter that throws', getter, { settings: '<:unmaskable:>' }],
    ['a proxy that throws', proxy, '<:unmaskable:>'],
    [
      'an error with a cause',
      new Error('no login', { cause: new Error(`password=${SECRET}`) }),
      expect.anything(),
    ],
    ['a map', new Map([['password', SECRET]]), {}],
    ['JSON', `{"password":"${SECRET}"}`, '{"password":"<:password:>"}'],
  ])('masks a body that is %s', (_, body, expected) => {
    const shown = exportedBody(body);
    expect(shown).toEqual(expected);
    expect(JSON.stringify(shown)).not.toMatch(new RegExp(`${SECRET}|${[...Buffer.from(SECRET)].join()}`));
  });

  it('replaces what cannot be masked, and throws nothing into the program', () => {
    const { logger, masked } = logging({ redactor: throwing });
    expect(() => logger.emit({ body: { user: SECRET }, attributes: { user: SECRET } })).not.toThrow();
    expect(masked.getFinishedLogRecords()[0]).toMatchObject({
      body: '<:unmaskable:>',
      attributes: { user: '<:unmaskable:>' },
    });
  });
});

describe('policies of attributes', () => {
  it('replaces credentials and parameters of queries, whatever they look like', () => {
    const secrets: Record<string, AttributeValue> = {
      'http.request.header.authorization': ['Bearer letmein'],
      'http.request.header.Proxy-Authorization': ['letmein'],
      'http.request.header.cookie': ['letmein=1; theme=letmein'],
      'http.response.header.set-cookie': ['letmein', 'letmein'],
      'http.response.header.set_cookie': 'letmein',
      'rpc.grpc.request.metadata.authorization': ['letmein'],
      'ai.request.headers.authorization': 'letmein',
      'db.query.parameter.0': 'letmein',
      'db.postgresql.values': ['ada', 'letmein'],
    };
    const shown = exported(secrets);
    expect(JSON.stringify(shown)).not.toContain('letmein');
    expect(Object.keys(shown ?? {})).toEqual(Object.keys(secrets));
    expect(shown).toMatchObject({
      'http.request.header.authorization': ['<:redacted:>'],
      'db.query.parameter.0': '<:redacted:>',
    });
  });

  it('masks statements, addresses, and what language models are asked and answer', () => {
    const messages = [
      { role: 'user', parts: [{ type: 'text', content: `my password is ${SECRET}` }] },
      { role: 'assistant', parts: [{ type: 'tool_call', name: 'login', arguments: { password: SECRET } }] },
    ];
    const shown = exported({
      'db.query.text': `SELECT * FROM users WHERE password = '${SECRET}' AND name = 'ada'`,
      'db.statement': `UPDATE users SET password = '${SECRET}'`,
      'url.full': `https://ada:${SECRET}@example.com/?token=${SECRET}&page=2`,
      'gen_ai.input.messages': JSON.stringify(messages),
      'gen_ai.tool.call.arguments': JSON.stringify({ api_key: SECRET }),
    });
    expect(shown).toMatchObject({
      'db.query.text': "SELECT * FROM users WHERE password = '<:password:>' AND name = 'ada'",
      'db.statement': "UPDATE users SET password = '<:password:>'",
      'url.full': 'https://ada:<:url-password:>@example.com/?token=<:query:>&page=2',
      'gen_ai.tool.call.arguments': '{"api_key":"<:token:>"}',
    });
    expect(JSON.parse(String(shown?.['gen_ai.input.messages']))).toMatchObject([
      { role: 'user' },
      { role: 'assistant' },
    ]);
    expect(JSON.stringify(shown)).not.toContain(SECRET);
  });

  it('leaves the values of the semantic conventions that are no secrets', () => {
    const attributes: Attributes = {
      'service.name': 'password-service',
      'service.instance.id': '627cc493-f310-47de-96bd-71410b7dec09',
      'http.route': '/password/:token',
      'http.request.method': 'GET',
      'http.response.status_code': 200,
      'http.request.header.content-type': ['application/json'],
      'url.full': 'https://www.example.com/search?q=OpenTelemetry#SemConv',
      'user_agent.original': 'CERN-LineMode/2.15 libwww/2.17b3',
      'client.address': '83.164.160.102',
      'server.port': 443,
      'network.protocol.version': '1.1',
      'db.query.text': 'SELECT * FROM wuser_table where username = $1 and password = $2',
      'db.collection.name': 'public.users',
      'gen_ai.request.model': 'gpt-4',
      'gen_ai.request.max_tokens': 100,
      'gen_ai.usage.input_tokens': 123456,
      'gen_ai.usage.output_tokens': 180,
      'gen_ai.token.type': 'input',
      'gen_ai.response.id': 'chatcmpl-123',
      'gen_ai.response.finish_reasons': ['stop'],
      'messaging.message.id': '452a7c7c7c7048c2f887f61572b18fc2',
      'messaging.kafka.message.key': 'myKey',
      'aws.s3.key': 'someFile.yml',
      'k8s.pod.uid': '275ecb36-5aa8-4c2a-9c47-d8bb681b9aff',
      'container.id': 'a3bf90e006b2',
      'host.id': 'fdbf79e8af94cb7f9e8df36789187052',
      'code.function.name': 'com.example.MyHttpService.serveRequest',
      'exception.type': 'java.net.ConnectException',
      'exception.stacktrace': 'Error: it failed\n    at main (/app/dist/token.js:12:34)',
      'thread.id': 42,
      'error.type': 'timeout',
      'app.ok': true,
    };
    expect(exported(attributes)).toEqual(attributes);
  });

  it('applies own policies first, the most specific name before others', () => {
    const attributes = {
      'gen_ai.input.messages': 'hello',
      'gen_ai.request.model': 'gpt-4',
      'http.request.header.authorization': ['Bearer letmein'],
      'http.route': '/users/:id',
      'app.note': `password=${SECRET}`,
      'x.a.b': 'letmein',
      'x.b': 'letmein',
      other: `password=${SECRET}`,
    };
    const policies = {
      'app.*': 'keep',
      'gen_ai.*': 'drop',
      'gen_ai.request.model': 'keep',
      'HTTP.request.header.*': 'drop',
      'http.*': 'replace',
      'x.*.b': 'replace',
      'x.b*': 'drop',
    } as const;
    const expected = {
      'gen_ai.request.model': 'gpt-4',
      'http.route': '<:redacted:>',
      'app.note': `password=${SECRET}`,
      'x.a.b': '<:redacted:>',
      other: 'password=<:password:>',
    };
    expect(exported(attributes, { attributes: policies })).toEqual(expected);
    const reversed = Object.fromEntries(Object.entries(policies).reverse());
    expect(exported(attributes, { attributes: reversed })).toEqual(expected);
  });

  it('has them for resources, events, links, scopes and log records as well', () => {
    const options = {
      attributes: { 'app.card': 'drop' },
      resource: resourceFromAttributes({ 'app.card': 'letmein' }),
    } as const;
    const card = { 'app.card': 'letmein' };
    const spans = tracing(options);
    const span = spans.tracer.startSpan('work', {
      attributes: card,
      links: [{ context: IDS, attributes: card }],
    });
    span.addEvent('paid', card);
    span.end();
    const logs = logging(options);
    logs.provider.getLogger('shop', '1.0', { attributes: card }).emit({ attributes: card });
    const [shown] = spans.masked.getFinishedSpans();
    const [record] = logs.masked.getFinishedLogRecords();
    for (const attributes of [
      ...[shown?.attributes, shown?.links[0]?.attributes, shown?.events[0]?.attributes],
      ...[shown?.resource.attributes, record?.attributes, record?.resource.attributes],
      record?.instrumentationScope.attributes,
    ])
      expect(attributes).toEqual({});
  });

  it('masks names of attributes', () => {
    const attributes = { [`password=${SECRET}`]: 1, [`login?token=${SECRET}`]: 2 };
    expect(exported(attributes)).toEqual({ 'password=<:password:>': 1, 'login?token=<:query:>': 2 });
  });

  it.each([
    [{ attributes: { a: 'hide' } }, /attributes must be an object of which each value is 'mask', 'replace'/],
    [{ attributes: 'drop' }, /attributes must be/],
    [{ attribute: {} }, /unknown option 'attribute'/],
  ])('refuses %j', (options, message) => {
    const wrong = options as unknown as TelemetryOptions;
    const noSpans = new SimpleSpanProcessor(new InMemorySpanExporter());
    const noLogs = new SimpleLogRecordProcessor({ exporter: new InMemoryLogRecordExporter() });
    expect(() => new RedactingSpanProcessor(redactor, noSpans, wrong)).toThrow(message);
    expect(() => new RedactingLogRecordProcessor(redactor, noLogs, wrong)).toThrow(message);
  });

  it('has names of the form in which they are compared', () => {
    for (const name of Object.keys(DEFAULT_ATTRIBUTE_POLICIES)) expect(name).toMatch(/^[a-z0-9_.*]+$/);
  });
});

describe('a secret at any place', () => {
  const name = fc.constantFrom(
    'password',
    'db.password',
    'http.request.header.x-api-key',
    'app.client_secret',
  );
  const place = fc.constantFrom('attribute', 'list', 'event', 'link', 'body', 'nested body', 'log attribute');

  it('is in no span and no record that is exported', () => {
    fc.assert(
      fc.property(name, place, fc.boolean(), (key, where, isJson) => {
        const value = isJson ? JSON.stringify({ [key]: SECRET }) : SECRET;
        const attributes = { [key]: where === 'list' ? [value] : value };
        const spans = tracing();
        const logs = logging();
        const span = spans.tracer.startSpan('work', {
          ...(/attribute|list/.test(where) && { attributes }),
          ...(where === 'link' && { links: [{ context: IDS, attributes }] }),
        });
        if (where === 'event') span.addEvent('it', attributes);
        span.end();
        logs.logger.emit({
          ...(where === 'body' && { body: attributes }),
          ...(where === 'nested body' && { body: { request: [{ headers: attributes }] } }),
          ...(where === 'log attribute' && { attributes: { request: attributes } }),
        });
        const sent = [spans, logs].map(({ masked }) =>
          'getFinishedSpans' in masked ? masked.getFinishedSpans() : masked.getFinishedLogRecords(),
        );
        expect(JSON.stringify(sent)).not.toContain(SECRET);
      }),
      { numRuns: propertyRuns(100) },
    );
  });
});
