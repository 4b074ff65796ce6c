import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createPseudonyms, createRedactor, type Redactor, redactFetch } from '../../redact/index.ts';
import { propertyRuns } from '../support/property-runs.ts';
import { eventsIn, modelServer, PROTOCOLS, readAnswer } from './model-server.ts';

const rules = createRedactor({ packs: ['default', 'pii/contact', 'pii/payment', 'pii/person'] });
const server = modelServer();

const TOKEN = `ghp_${'a1B2c3D4'.repeat(4)}e5F6`;
const PASSWORD = 'Tr0ub4dor&3';
const PERSON = ['ada@example.org', '4111 1111 1111 1111', 'Lovelace'];
const SECRETS = [...PERSON, TOKEN, PASSWORD, '4111111111111111'];

/** A conversation of its own. */
function client(): {
  redactor: Redactor;
  post: (path: string, body: unknown, init?: RequestInit) => Promise<Response>;
} {
  const redactor = rules.withPseudonyms(createPseudonyms());
  const fetch = redactFetch(globalThis.fetch, { redactor });
  const headers = { 'content-type': 'application/json', authorization: 'Bearer sk-test-key-of-the-call' };
  return {
    redactor,
    post: (path, body, init) =>
      fetch(server.url + path, { method: 'POST', headers, body: JSON.stringify(body), ...init }),
  };
}

const text = `Customer first name Ada, last_name: Lovelace, mail ada@example.org, card 4111 1111 1111 1111, password=${PASSWORD}, ${TOKEN}`;
const args = JSON.stringify({
  to: 'ada@example.org',
  last_name: 'Lovelace',
  card: 4111111111111111,
  token: TOKEN,
});
const schema = { type: 'object', properties: { to: { type: 'string', description: `as ${PERSON[0]}` } } };

const REQUESTS: Readonly<Record<string, { path: string; body: object }>> = {
  'chat completions': {
    path: '/v1/chat/completions',
    body: {
      model: 'gpt-5-mini',
      user: 'ada@example.org',
      metadata: { id: 'ada@example.org', model: TOKEN, password: PASSWORD },
      stop: [TOKEN],
      messages: [
        { role: 'system', content: `Today ${text}` },
        { role: 'user', content: [{ type: 'text', text }], name: 'Ada' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            { id: 'call_9pw5', type: 'function', function: { name: 'send_mail', arguments: args } },
          ],
        },
        { role: 'tool', tool_call_id: 'call_9pw5', content: args },
      ],
      tools: [{ type: 'function', function: { name: 'send_mail', description: text, parameters: schema } }],
      max_tokens: 100,
      stream: false,
    },
  },
  responses: {
    path: '/v1/responses',
    body: {
      model: 'gpt-5-mini',
      instructions: text,
      previous_response_id: 'resp_0123456789abcdef',
      input: [
        { role: 'user', content: [{ type: 'input_text', text }] },
        { type: 'reasoning', id: 'rs_1', encrypted_content: 'Z0FBQUFBQm9'.repeat(200), summary: [] },
        { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'send_mail', arguments: args },
        { type: 'function_call_output', call_id: 'call_1', output: args },
      ],
    },
  },
  embeddings: { path: '/v1/embeddings', body: { model: 'text-embedding-3-small', input: [text, args] } },
  messages: {
    path: '/v1/messages',
    body: {
      model: 'claude-sonnet-4-5',
      max_tokens: 100,
      system: [{ type: 'text', text, cache_control: { type: 'ephemeral' } }],
      metadata: { user_id: 'ada@example.org' },
      messages: [
        { role: 'user', content: text },
        {
          role: 'assistant',
          content: [
            {
              type: 'thinking',
              thinking: 'I send it.',
              signature: 'EqQBCgIYAhIM1gbcDa9GJwZA2b3h'.repeat(50),
            },
            {
              type: 'tool_use',
              id: 'toolu_01A',
              name: 'send_mail',
              input: { ...JSON.parse(args), id: PERSON[0] },
            },
          ],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_01A', content: args }] },
      ],
      tools: [{ name: 'send_mail', description: text, input_schema: schema }],
    },
  },
};

/** What the protocols need as it is. */
const STRUCTURE =
  /"(?:model|role|type|tool_call_id|call_id|tool_use_id|previous_response_id|signature|encrypted_content)":"[^"]*"/g;

describe('a request', () => {
  it.each(Object.entries(REQUESTS))(
    'leaves without a secret, and with all that the API needs: %s',
    async (_, { path, body }) => {
      const { post } = client();
      server.json({});
      await post(path, body);
      const seen = server.seen.at(-1);
      for (const secret of SECRETS) expect(seen?.body).not.toContain(secret);
      const sent = JSON.parse(seen?.body ?? '');
      const { metadata, ...known } = body as { metadata?: unknown };
      const { metadata: _masked, ...sentKnown } = sent;
      expect(JSON.stringify(sentKnown).match(STRUCTURE)).toEqual(JSON.stringify(known).match(STRUCTURE));
      expect(sent.max_tokens).toBe((body as { max_tokens?: number }).max_tokens);
      expect(JSON.stringify(sent)).toContain(path === '/v1/embeddings' ? '<:EMAIL_1:>' : 'send_mail');
      // A model has to be able to read what it has called.
      for (const call of sent.messages?.[2]?.tool_calls ?? []) JSON.parse(call.function.arguments);
      expect(seen?.headers.authorization).toBe('Bearer sk-test-key-of-the-call');
      expect(Number(seen?.headers['content-length'])).toBe(Buffer.byteLength(seen?.body ?? ''));
    },
  );

  it.each<[string, (json: string) => NonNullable<RequestInit['body']>]>([
    ['bytes', (json) => new TextEncoder().encode(json)],
    ['a buffer', (json) => new TextEncoder().encode(json).buffer as ArrayBuffer],
    ['a Blob', (json) => new Blob([json], { type: 'application/json' })],
    ['a stream', (json) => new Blob([json]).stream()],
  ])('is masked if its body is %s', async (_, bodyOf) => {
    const { post } = client();
    server.json({});
    const body = bodyOf(JSON.stringify({ input: text }));
    await post('/v1/embeddings', undefined, { body, duplex: 'half' } as RequestInit);
    for (const secret of SECRETS) expect(server.seen.at(-1)?.body).not.toContain(secret);
  });

  it('is masked if it is a Request', async () => {
    const { redactor } = client();
    server.json({});
    const fetch = redactFetch(globalThis.fetch, { redactor });
    const request = new Request(`${server.url}/v1/embeddings`, {
      method: 'POST',
      headers: { 'x-api-key': 'key', 'content-type': 'application/json' },
      body: JSON.stringify({ input: text }),
    });
    await fetch(request);
    expect(server.seen.at(-1)).toMatchObject({ method: 'POST', headers: { 'x-api-key': 'key' } });
    for (const secret of SECRETS) expect(server.seen.at(-1)?.body).not.toContain(secret);
  });

  it('without a body is sent as it is', async () => {
    const { redactor } = client();
    server.json({ data: [] });
    const response = await redactFetch(globalThis.fetch, { redactor })(new URL(`${server.url}/v1/models`));
    expect(await response.json()).toEqual({ data: [] });
  });

  it('has no value of an answer that no rule would find there', async () => {
    const { post } = client();
    server.answer = ({ body }, response) => {
      const name = /last_name: (<:NAME_\d:>)/.exec(body)?.[1] ?? '';
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({ choices: [{ message: { role: 'assistant', content: `So ${name} it is` } }] }),
      );
    };
    const first = { role: 'user', content: 'last_name: Lovelace' };
    const answer = (await (await post('/v1/chat/completions', { messages: [first] })).json()) as {
      choices: [{ message: object }];
    };
    expect(answer.choices[0].message).toMatchObject({ content: 'So Lovelace it is' });
    await post('/v1/chat/completions', { messages: [first, answer.choices[0].message] });
    expect(server.seen.at(-1)?.body).not.toContain('Lovelace');
  });
});

it('keeps the digits of integers', async () => {
  const { post } = client();
  server.json({});
  await post('/v1', { seed: 1 }, { body: '{"seed":12345678901234567890}' });
  expect(server.seen.at(-1)?.body).toBe('{"seed":12345678901234567890}');
});

describe('what cannot be masked', () => {
  const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${'iVBORw0K'.repeat(20)}` } };
  const file = {
    type: 'document',
    source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0x'.repeat(200) },
  };
  const content = (data: string) => ({
    body: JSON.stringify({ messages: [{ role: 'user', content: [{ type: 'text', text: data }] }] }),
  });
  const small = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0K' } };
  const form = () => {
    const data = new FormData();
    data.append('file', new Blob([text]), 'batch.jsonl');
    return data;
  };
  const CASES: [string, () => RequestInit][] = [
    ['a form', () => ({ body: form(), headers: {} })],
    ['text that is no JSON', () => ({ body: `{"input":"${PASSWORD}"` })],
    ['JSON that is called text', () => ({ body: '{}', headers: { 'content-type': 'text/plain' } })],
    ['bytes that are no UTF-8', () => ({ body: Uint8Array.of(0x22, 0xff, 0x22) })],
    ['a body that is compressed', () => ({ body: '{}', headers: { 'content-encoding': 'gzip' } })],
    ['a form of the web', () => ({ body: new URLSearchParams({ input: text }), headers: {} })],
    ['an image', () => ({ body: JSON.stringify({ messages: [{ role: 'user', content: [image] }] }) })],
    ['a small image', () => ({ body: JSON.stringify({ messages: [{ role: 'user', content: [small] }] }) })],
    [
      'an image within a text',
      () => content(`See ![it](data:image/png;base64,${'iVBORw0K'.repeat(200)}), and answer.`),
    ],
    ['a file in lines of base64', () => content(`It:\n${`${'JVBERi0x'.repeat(9)}\r\n`.repeat(20)}`)],
    ['a file', () => ({ body: JSON.stringify({ messages: [{ role: 'user', content: [file] }] }) })],
  ];

  it.each(CASES)('is refused, and nothing is sent: %s', async (_, init) => {
    const { post } = client();
    const before = server.seen.length;
    const refused = post('/v1/files', undefined, init());
    await expect(refused).rejects.toMatchObject({ name: 'MaskError', code: 'MILLRACE_MASK' });
    const error: unknown = await refused.catch((error: unknown) => error);
    for (const secret of SECRETS) expect(String(error)).not.toContain(secret);
    expect(server.seen.length).toBe(before);
  });

  it('passes if that is wanted, and text beside an image is masked', async () => {
    const { redactor } = client();
    const fetch = redactFetch(globalThis.fetch, { redactor, unmaskable: 'pass' });
    server.json({});
    await fetch(`${server.url}/v1/files`, { method: 'POST', body: form() });
    expect(server.seen.at(-1)?.headers['content-type']).toMatch(/^multipart\/form-data; boundary=/);
    expect(server.seen.at(-1)?.body).toContain('batch.jsonl');
    const content = [{ type: 'text', text }, image, file];
    await fetch(server.url, {
      method: 'POST',
      body: JSON.stringify({ messages: [{ role: 'user', content }] }),
    });
    const sent = JSON.parse(server.seen.at(-1)?.body ?? '');
    expect(sent.messages[0].content.slice(1)).toEqual([image, file]);
    for (const secret of SECRETS) expect(server.seen.at(-1)?.body).not.toContain(secret);
  });

  it('is an option that is checked', () => {
    const make = () => redactFetch(globalThis.fetch, { redactor: rules, unmaskable: 'ignore' as 'pass' });
    expect(make).toThrow("redactFetch: unmaskable must be 'refuse' or 'pass', not 'ignore'");
  });
});

const VALUE = 'ada "the first" <ada@example.org>';
const ANSWER = 'Dear 🦊 <:EMAIL_1:>, a < b, <:EMAIL_9:> <: und <:EMAIL_1:>';
const ARGUMENTS = String.raw`{"to":"<:EMAIL_1:>","copy":"\u003c:EMAIL_1:\u003e","a":[1,"<"]}`;

/** A conversation in which `<:EMAIL_1:>` is {@link VALUE}. */
function knowing(value = VALUE): ReturnType<typeof client> {
  const { redactor, post } = client();
  redactor.pseudonyms?.pseudonymOf(value, 'pii/contact:email');
  return { redactor, post };
}

const cutting = (text: string) =>
  fc
    .array(fc.nat(text.length), { maxLength: 12 })
    .map((places) =>
      [...places.sort((a, b) => a - b), text.length].map((place, i, all) =>
        text.slice(all[i - 1] ?? 0, place),
      ),
    );

describe.each(Object.entries(PROTOCOLS))('a stream of %s', (_, write) => {
  const whole = ANSWER.replaceAll('<:EMAIL_1:>', VALUE);
  const wholeArguments = { to: VALUE, copy: VALUE, a: [1, '<'] };

  async function ask(pieces: readonly string[], args: readonly string[], size: number): Promise<string> {
    server.events(write(pieces, args), size);
    const response = await knowing().post('/v1', { stream: true });
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    return response.text();
  }

  it.each([1, 2, 3, 7, 1000])('is restored in pieces of %d bytes', async (size) => {
    const answer = readAnswer(await ask([...ANSWER], [...ARGUMENTS], size));
    expect(answer.text).toBe(whole);
    expect(JSON.parse(answer.args)).toEqual(wholeArguments);
  });

  it('is restored however its text is cut, with each event that came, in its order', async () => {
    await fc.assert(
      fc.asyncProperty(
        cutting(ANSWER),
        cutting(ARGUMENTS),
        fc.integer({ min: 1, max: 300 }),
        async (pieces, args, size) => {
          const text = await ask(pieces, args, size);
          const answer = readAnswer(text);
          expect(answer.text).toBe(whole);
          expect(JSON.parse(answer.args)).toEqual(wholeArguments);
          const kinds = (events: string) =>
            eventsIn(events).map(({ event, data }) => [
              event,
              data.replace(/"(?:content|text|delta|arguments|partial_json)":.*/, ''),
            ]);
          expect(kinds(text)).toEqual(kinds(write(pieces, args)));
        },
      ),
      { numRuns: propertyRuns(20) },
    );
  });

  it('stays as it is without a pseudonym, to the byte', async () => {
    const text = `: hello\n\n${write(['Dear ', 'all'], ['{}'])}`;
    server.events(text, 5);
    const response = await knowing().post('/v1', {});
    expect(await response.text()).toBe(text);
  });
});

describe('a stream of events', () => {
  async function restored(pieces: readonly string[]): Promise<string> {
    const { redactor } = knowing();
    const parts = new ReadableStream({
      start(controller) {
        for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece));
        controller.close();
      },
    });
    const headers = { 'content-type': 'text/event-stream' };
    const fetch = redactFetch(() => Promise.resolve(new Response(parts, { headers })), { redactor });
    return (await fetch('http://localhost/')).text();
  }

  it.each([
    ['nests too deeply', `{"a":${'['.repeat(20_000)}"<:EMAIL_1:>"${']'.repeat(20_000)}}`],
    [
      'has an object for an index',
      '{"choices":[{"index":{"toString":1},"delta":{"content":"<:EMAIL_1:>"}}]}',
    ],
  ])('has an event as it came that %s', async (_, data) => {
    const others = 'data: {"choices":[{"index":0,"delta":{"content":"to <:EMAIL_1:>"}}]}\n\n';
    const text = await restored([`data: ${data}\n\n`, others]);
    expect(text).toBe(
      `data: ${data}\n\n${others.replace('<:EMAIL_1:>', JSON.stringify(VALUE).slice(1, -1))}`,
    );
  });

  it('takes a time that grows with its length only', async () => {
    const start = performance.now();
    const long = [
      'data: {"choices":[{"index":0,"delta":{"content":"',
      ...Array(30_000).fill('a'.repeat(64)),
      '"}}]}\n\n',
    ];
    expect(await restored(long)).toBe(long.join(''));
    const open = Array.from(
      { length: 10_000 },
      (_, i) => `data: {"choices":[{"index":${i},"delta":{"content":"<"}}]}\n\n`,
    );
    expect(await restored(open)).toBe(open.join(''));
    expect(performance.now() - start).toBeLessThan(8000);
  }, 20_000);
});

describe('an answer', () => {
  it('of JSON is restored, with headers that are true', async () => {
    const call = { function: { name: 'send', arguments: ARGUMENTS } };
    server.json({ choices: [{ message: { content: ANSWER, tool_calls: [call] } }] });
    const response = await knowing().post('/v1/chat/completions?a=1', {});
    expect(response).toMatchObject({ status: 200, ok: true, url: `${server.url}/v1/chat/completions?a=1` });
    expect(response.headers.get('content-length')).toBeNull();
    // biome-ignore lint/suspicious/noExplicitAny: an answer
    const { message } = ((await response.json()) as any).choices[0];
    expect(message.content).toBe(ANSWER.replaceAll('<:EMAIL_1:>', VALUE));
    expect(JSON.parse(message.tool_calls[0].function.arguments).to).toBe(VALUE);
  });

  it('that is an error is restored too', async () => {
    server.json({ error: { message: 'no such address: <:EMAIL_1:>' } }, 400);
    const response = await knowing('ada@example.org').post('/v1', {});
    expect([response.status, await response.json()]).toEqual([
      400,
      { error: { message: 'no such address: ada@example.org' } },
    ]);
  });

  it('without a redactor with pseudonyms is the one of `fetch`', async () => {
    server.json({ a: '<:EMAIL_1:>' });
    const fetch = redactFetch(globalThis.fetch, { redactor: rules });
    expect(await (await fetch(server.url, { method: 'POST', body: '{}' })).json()).toEqual({
      a: '<:EMAIL_1:>',
    });
  });

  it('that fails rejects as `fetch` does', async () => {
    server.answer = (_, response) => response.destroy();
    await expect(knowing().post('/v1', {})).rejects.toThrow('fetch failed');
    server.answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: {"choices":[{"index":0,"delta":{"content":"<:EMA"}}]}\n\n', () =>
        response.destroy(),
      );
    };
    const response = await knowing().post('/v1', {});
    await expect(response.text()).rejects.toThrow();
  });

  it('ends with a signal', async () => {
    server.answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: {"choices":[{"index":0,"delta":{"content":"Dear"}}]}\n\n');
    };
    const controller = new AbortController();
    const response = await knowing().post('/v1', {}, { signal: controller.signal });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    expect((await reader.read()).done).toBe(false);
    controller.abort();
    await expect(reader.read()).rejects.toThrow('aborted');
  });

  it('that nobody reads stops the server, and one that is cancelled closes its connection', async () => {
    const bytes = Buffer.from(
      `data: {"choices":[{"index":0,"delta":{"content":"${'x'.repeat(100_000)}"}}]}\n\n`,
    );
    let sent = 0;
    let isClosed: () => void = () => {};
    const closed = new Promise<void>((resolve) => {
      isClosed = resolve;
    });
    let isFull: () => void = () => {};
    const full = new Promise<void>((resolve) => {
      isFull = resolve;
    });
    server.answer = (_, response) => {
      response.on('close', isClosed);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const write = () => {
        do sent += bytes.length;
        while (response.write(bytes));
        if (sent > 1e6) isFull();
        response.once('drain', write);
      };
      write();
    };
    const response = await knowing().post('/v1', {});
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    for (let i = 0; i < 30; i++) await reader.read();
    await full;
    await reader.cancel();
    await closed;
    expect(sent).toBeLessThan(1e8);
  });
});
