// For the OpenTelemetry SDK. It imports nothing of it but types.

import type { Attributes, SpanContext } from '@opentelemetry/api';
import type { LogRecordProcessor } from '@opentelemetry/sdk-logs';
import type { ReadableSpan, SpanProcessor } from '@opentelemetry/sdk-trace-base';
import { type Check, checkOptions, hasMethods } from '../operators/internal-redact.ts';
import { globToExpression } from '../plugins/packs/load-packs.ts';
import { checkArgument, REDACTOR } from './check-redactor.ts';
import type { Redactor } from './create-redactor.ts';
import { read } from './errors.ts';

type Resource = ReadableSpan['resource'];
type LogRecord = Parameters<LogRecordProcessor['onEmit']>[0];
type LogAttributes = LogRecord['attributes'];

/** What is done with an attribute: its secrets are masked, its whole value is replaced, it is left out, or it stays as it is. */
export type AttributePolicy = 'mask' | 'replace' | 'drop' | 'keep';

export interface TelemetryOptions {
  /**
   * What is done with attributes, by their names. `*` stands for any characters, case does not matter, and `-` and `_` are the
   * same. The most specific name counts, and these come before {@link DEFAULT_ATTRIBUTE_POLICIES}. Other attributes are masked.
   */
  readonly attributes?: Readonly<Record<string, AttributePolicy>> | undefined;
}

/**
 * Policies for attributes of the semantic conventions that rules alone do not get right: values that are secret whatever they
 * look like, and identifiers, which stay.
 *
 * @example
 * DEFAULT_ATTRIBUTE_POLICIES['*.authorization']; // 'replace'
 */
export const DEFAULT_ATTRIBUTE_POLICIES: Readonly<Record<string, AttributePolicy>> = {
  // Headers of HTTP, metadata of RPC, and headers that SDKs of language models record.
  '*.authorization': 'replace',
  '*.proxy_authorization': 'replace',
  '*.cookie': 'replace',
  '*.set_cookie': 'replace',
  // A parameter of a query has no name that would tell a rule what it is.
  'db.query.parameter.*': 'replace',
  'db.operation.parameter.*': 'replace',
  'db.statement.parameter*': 'replace',
  'db.*.values': 'replace',
  'service.*': 'keep',
  'telemetry.*': 'keep',
  'http.route': 'keep',
  'http.request.method': 'keep',
  'http.response.status_code': 'keep',
  'gen_ai.usage.*': 'keep',
  'host.id': 'keep',
  'container.id': 'keep',
  'k8s.*.uid': 'keep',
};

const UNMASKABLE = '<:unmaskable:>';
const REPLACED = '<:redacted:>';
const MOST_NAMES_KNOWN = 1000;

/**
 * A span processor that gives masked spans to the next processor, when they end. It masks names, attributes, events with their
 * exceptions, links, messages of statuses, and attributes of resources. Ids, times and kinds stay. The spans themselves are not
 * changed, so the program and other processors see them as they are. `onStart` and `onEnding` of the next processor get the
 * span itself, which they may write to.
 *
 * @throws TypeError for an option that is unknown or of the wrong type.
 * @example
 * const exporter = new InMemorySpanExporter();
 * const processor = new RedactingSpanProcessor(createRedactor(), new SimpleSpanProcessor(exporter));
 * const provider = new BasicTracerProvider({ spanProcessors: [processor] });
 * provider.getTracer('shop').startSpan('login', { attributes: { 'url.query': 'token=Tr0ub4dor3' } }).end();
 * exporter.getFinishedSpans()[0].attributes; // { 'url.query': 'token=<:token:>' }
 */
export class RedactingSpanProcessor implements SpanProcessor {
  readonly #masker: TelemetryMasker;
  readonly #next: SpanProcessor;

  constructor(redactor: Pick<Redactor, 'redact'>, next: SpanProcessor, options: TelemetryOptions = {}) {
    this.#masker = new TelemetryMasker('RedactingSpanProcessor', redactor, options);
    checkArgument('RedactingSpanProcessor', 'the next processor', next, processorWith('onEnd'));
    this.#next = next;
  }

  onStart(...started: Parameters<SpanProcessor['onStart']>): void {
    this.#next.onStart(...started);
  }

  onEnding(...ending: Parameters<NonNullable<SpanProcessor['onEnding']>>): void {
    this.#next.onEnding?.(...ending);
  }

  onEnd(span: ReadableSpan): void {
    const masked = orNone(() => maskedSpan(span, this.#masker));
    if (masked !== undefined) this.#next.onEnd(masked);
  }

  forceFlush(): Promise<void> {
    return this.#next.forceFlush();
  }

  shutdown(): Promise<void> {
    return this.#next.shutdown();
  }
}

/**
 * A log record processor that gives masked records to the next processor. It masks bodies, attributes, names of events, and
 * attributes of resources and scopes. Ids, times and severities stay. The records themselves are not changed, so other
 * processors see them as they are.
 *
 * @throws TypeError for an option that is unknown or of the wrong type.
 * @example
 * const exporter = new InMemoryLogRecordExporter();
 * const processor = new RedactingLogRecordProcessor(createRedactor(), new SimpleLogRecordProcessor({ exporter }));
 * const provider = new LoggerProvider({ processors: [processor] });
 * provider.getLogger('shop').emit({ body: 'login with password=Tr0ub4dor&3' });
 * exporter.getFinishedLogRecords()[0].body; // 'login with password=<:password:>'
 */
export class RedactingLogRecordProcessor implements LogRecordProcessor {
  readonly #masker: TelemetryMasker;
  readonly #next: LogRecordProcessor;

  constructor(redactor: Pick<Redactor, 'redact'>, next: LogRecordProcessor, options: TelemetryOptions = {}) {
    this.#masker = new TelemetryMasker('RedactingLogRecordProcessor', redactor, options);
    checkArgument('RedactingLogRecordProcessor', 'the next processor', next, processorWith('onEmit'));
    this.#next = next;
  }

  onEmit(...[record, context]: Parameters<LogRecordProcessor['onEmit']>): void {
    const masked = orNone(() => new MaskedLogRecord(record, this.#masker));
    if (masked !== undefined) this.#next.onEmit(masked, context);
  }

  enabled(...options: Parameters<NonNullable<LogRecordProcessor['enabled']>>): boolean {
    return this.#next.enabled?.(...options) ?? true;
  }

  forceFlush(...options: Parameters<LogRecordProcessor['forceFlush']>): Promise<void> {
    return this.#next.forceFlush(...options);
  }

  shutdown(): Promise<void> {
    return this.#next.shutdown();
  }
}

/** Spans and records that a program makes by hand can lack anything. One that cannot be read is left out. */
function orNone<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}

/** A copy that names each field, so that a field of a later SDK does not pass without a mask. */
function maskedSpan(span: ReadableSpan, masker: TelemetryMasker): ReadableSpan {
  const { name, kind, parentSpanContext, startTime, endTime, duration, ended, status, links, events } = span;
  const context = masker.context(span.spanContext());
  return {
    ...{ kind, startTime, endTime, duration, ended },
    name: masker.value(name),
    spanContext: () => context,
    ...(parentSpanContext && { parentSpanContext: masker.context(parentSpanContext) }),
    attributes: masker.attributes(span.attributes),
    status: { code: status.code, ...(status.message && { message: masker.value(status.message) }) },
    events: events.map(({ time, name, attributes = {}, droppedAttributesCount = 0 }) => ({
      time,
      name: masker.value(name),
      attributes: masker.attributes(attributes),
      droppedAttributesCount,
    })),
    links: links.map(({ context, attributes = {}, droppedAttributesCount = 0 }) => ({
      context: masker.context(context),
      attributes: masker.attributes(attributes),
      droppedAttributesCount,
    })),
    resource: masker.resource(span.resource),
    instrumentationScope: masker.scope(span.instrumentationScope),
    droppedAttributesCount: span.droppedAttributesCount,
    droppedEventsCount: span.droppedEventsCount,
    droppedLinksCount: span.droppedLinksCount,
  };
}

/** The next processor may write to it, as to any record. What it sets by methods is masked as well. */
class MaskedLogRecord {
  hrTime: LogRecord['hrTime'];
  hrTimeObserved: LogRecord['hrTimeObserved'];
  spanContext?: SpanContext;
  readonly resource: Resource;
  readonly instrumentationScope: LogRecord['instrumentationScope'];
  readonly attributes: LogAttributes;
  severityText?: string;
  severityNumber?: NonNullable<LogRecord['severityNumber']>;
  body?: LogRecord['body'];
  eventName?: string;
  droppedAttributesCount: number;
  readonly #masker: TelemetryMasker;

  constructor(record: LogRecord, masker: TelemetryMasker) {
    const { spanContext, severityText, severityNumber, eventName } = record;
    this.#masker = masker;
    this.hrTime = record.hrTime;
    this.hrTimeObserved = record.hrTimeObserved;
    this.resource = masker.resource(record.resource);
    this.instrumentationScope = masker.scope(record.instrumentationScope);
    this.attributes = masker.attributes(record.attributes);
    this.body = masker.value(record.body);
    this.droppedAttributesCount = record.droppedAttributesCount;
    if (spanContext !== undefined) this.spanContext = masker.context(spanContext);
    if (severityNumber !== undefined) this.severityNumber = severityNumber;
    if (severityText !== undefined) this.severityText = masker.value(severityText);
    if (eventName !== undefined) this.eventName = masker.value(eventName);
  }

  setAttribute(name: string, value?: LogAttributes[string]): this {
    return this.setAttributes({ [name]: value });
  }

  setAttributes(attributes: LogAttributes): this {
    Object.assign(this.attributes, this.#masker.attributes(attributes));
    return this;
  }

  setBody(body: LogRecord['body']): this {
    this.body = this.#masker.value(body);
    return this;
  }

  setEventName(name: string): this {
    this.eventName = this.#masker.value(name);
    return this;
  }

  setSeverityNumber(severity: NonNullable<LogRecord['severityNumber']>): this {
    this.severityNumber = severity;
    return this;
  }

  setSeverityText(severity: string): this {
    this.severityText = this.#masker.value(severity);
    return this;
  }
}

/** All spans share a resource, of which attributes may still be missing: it is masked when it is read. */
class MaskedResource implements Resource {
  readonly schemaUrl?: string;
  readonly #resource: Resource;
  readonly #masker: TelemetryMasker;
  #settled: Attributes | undefined;

  constructor(resource: Resource, masker: TelemetryMasker) {
    this.#resource = resource;
    this.#masker = masker;
    if (resource.schemaUrl !== undefined) this.schemaUrl = resource.schemaUrl;
  }

  get asyncAttributesPending(): boolean {
    return this.#resource.asyncAttributesPending === true;
  }

  get attributes(): Attributes {
    if (this.asyncAttributesPending) return this.#masker.attributes(this.#resource.attributes);
    this.#settled ??= this.#masker.attributes(this.#resource.attributes);
    return this.#settled;
  }

  async waitForAsyncAttributes(): Promise<void> {
    await this.#resource.waitForAsyncAttributes?.();
  }

  merge(other: Resource | null): Resource {
    return new MaskedResource(this.#resource.merge(other), this.#masker);
  }

  getRawAttributes(): ReturnType<Resource['getRawAttributes']> {
    return Object.entries(this.attributes);
  }
}

/** Masks the parts that spans and log records have in common. It never throws. */
class TelemetryMasker {
  readonly #redactor: Pick<Redactor, 'redact'>;
  readonly #policyOf: (name: string) => AttributePolicy;
  // Exporters group by these objects, so each has one masked form.
  readonly #resources = new WeakMap<Resource, Resource>();
  readonly #scopes = new WeakMap<object, object>();

  constructor(caller: string, redactor: Pick<Redactor, 'redact'>, options: TelemetryOptions) {
    checkArgument(
      caller,
      'the redactor',
      redactor,
      (value) => hasMethods(value, 'redact') || REDACTOR(value),
    );
    checkOptions(caller, options, { attributes: POLICIES });
    this.#redactor = redactor;
    this.#policyOf = policiesOf(options.attributes);
  }

  value<T>(value: T): T {
    try {
      return this.#redactor.redact(value) as T;
    } catch {
      return UNMASKABLE as T;
    }
  }

  attributes<T extends Attributes | LogAttributes>(attributes: T): T {
    const shown: [string, unknown][] = [];
    const toMask: [string, unknown][] = [];
    for (const name of Object.keys(attributes ?? {})) {
      const value = read(attributes, name);
      const policy = this.#policyOf(name);
      if (policy === 'mask') toMask.push([name, value]);
      else if (policy === 'keep') shown.push([name, value]);
      else if (policy === 'replace') shown.push([name, Array.isArray(value) ? [REPLACED] : REPLACED]);
    }
    // Together: a field can say what the one beside it is.
    const masked = this.value(Object.fromEntries(toMask));
    const isMasked = typeof masked === 'object' && masked !== null;
    const entries = isMasked ? Object.entries(masked) : toMask.map(([name]) => [name, UNMASKABLE] as const);
    return Object.fromEntries([...shown, ...entries]) as T;
  }

  /** Ids stay. A trace state, which other programs have written, is left out if anything in it has to be masked. */
  context(context: SpanContext): SpanContext {
    const { traceState, ...ids } = context;
    const state = traceState?.serialize();
    return state === undefined || this.value(state) === state ? context : ids;
  }

  resource(resource: Resource): Resource {
    let masked = this.#resources.get(resource);
    if (masked === undefined) {
      masked = new MaskedResource(resource, this);
      this.#resources.set(resource, masked);
    }
    return masked;
  }

  scope<T extends LogRecord['instrumentationScope']>(scope: T): T {
    let masked = this.#scopes.get(scope) as T | undefined;
    if (masked === undefined) {
      const { attributes } = scope as { attributes?: Attributes };
      masked = { ...scope, ...(attributes && { attributes: this.attributes(attributes) }) };
      this.#scopes.set(scope, masked);
    }
    return masked;
  }
}

const processorWith =
  (method: string): Check =>
  (value) =>
    hasMethods(value, method, 'forceFlush', 'shutdown') || 'a processor of the OpenTelemetry SDK';

const ACTIONS: readonly unknown[] = ['mask', 'replace', 'drop', 'keep'] satisfies AttributePolicy[];
const POLICIES: Check = (value) =>
  (typeof value === 'object' &&
    value !== null &&
    Object.values(value).every((item) => ACTIONS.includes(item))) ||
  "an object of which each value is 'mask', 'replace', 'drop' or 'keep'";

function policiesOf(own: Readonly<Record<string, AttributePolicy>> = {}): (name: string) => AttributePolicy {
  const policies = [own, DEFAULT_ATTRIBUTE_POLICIES].flatMap((patterns) =>
    Object.entries(patterns)
      .toSorted(([a], [b]) => literals(b) - literals(a) || a.length - b.length)
      .map(([pattern, policy]) => ({ expression: globToExpression(plainName(pattern)), policy })),
  );
  const known = new Map<string, AttributePolicy>();
  return (name) => {
    let policy = known.get(name);
    if (policy === undefined) {
      const plain = plainName(name);
      policy = policies.find(({ expression }) => expression.test(plain))?.policy ?? 'mask';
      if (known.size < MOST_NAMES_KNOWN) known.set(name, policy);
    }
    return policy;
  };
}

const literals = (pattern: string) => pattern.replaceAll('*', '').length;

/** Instrumentations do not agree on the case of names of headers, nor on `-` or `_` in them. */
const plainName = (name: string) => name.toLowerCase().replaceAll('-', '_');
