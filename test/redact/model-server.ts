import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll } from '@jest/globals';

/** What a server has seen of one request. */
export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export type Answer = (seen: Seen, response: ServerResponse) => void;

/** A server in place of a model. It records all that reaches it. */
export class ModelServer {
  readonly seen: Seen[] = [];
  answer: Answer = (_, response) => response.end('{}');
  readonly #server: Server = createServer(async (request, response) => {
    const bytes: Buffer[] = [];
    for await (const chunk of request) bytes.push(chunk as Buffer);
    const { method = '', url = '', headers } = request;
    const seen = { method, url, headers, body: Buffer.concat(bytes).toString('utf8') };
    this.seen.push(seen);
    this.answer(seen, response);
  });

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  start(): Promise<void> {
    return new Promise((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
  }

  stop(): Promise<unknown> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(resolve));
  }

  /** Answers with JSON. */
  json(value: unknown, status = 200): void {
    this.answer = (_, response) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(value));
    };
  }

  /** Answers with server-sent events, in pieces of so many bytes, each of which is sent when the one before it is gone. */
  events(text: string, size: number): void {
    this.answer = async (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
      const bytes = Buffer.from(text);
      for (let at = 0; at < bytes.length; at += size) {
        await new Promise((resolve) => response.write(bytes.subarray(at, at + size), resolve));
      }
      response.end();
    };
  }
}

export function modelServer(): ModelServer {
  const server = new ModelServer();
  beforeAll(() => server.start());
  afterAll(() => server.stop());
  return server;
}

/** Events as these APIs send them, of which the text is in as many deltas as it has pieces. */
export const PROTOCOLS: Readonly<
  Record<string, (pieces: readonly string[], args: readonly string[]) => string>
> = {
  'chat/completions': (pieces, args) => {
    const chunk = (choice: object, more = {}) =>
      `data: ${JSON.stringify({ id: 'c-1', object: 'chat.completion.chunk', model: 'm', choices: [{ index: 0, finish_reason: null, ...choice }], ...more })}\n\n`;
    return [
      chunk({ delta: { role: 'assistant', content: '' } }),
      ...pieces.map((content) => chunk({ delta: { content } })),
      chunk({
        delta: {
          tool_calls: [
            { index: 0, id: 'call_1', type: 'function', function: { name: 'send', arguments: '' } },
          ],
        },
      }),
      ...args.map((piece) =>
        chunk({ delta: { tool_calls: [{ index: 0, function: { arguments: piece } }] } }),
      ),
      chunk({ delta: {}, finish_reason: 'tool_calls' }),
      `data: ${JSON.stringify({ id: 'c-1', object: 'chat.completion.chunk', choices: [], usage: { total_tokens: 9 } })}\n\n`,
      'data: [DONE]\n\n',
    ].join('');
  },
  responses: (pieces, args) => {
    let sequence_number = 0;
    const event = (type: string, fields: object) =>
      `event: ${type}\ndata: ${JSON.stringify({ type, ...fields, sequence_number: sequence_number++ })}\n\n`;
    const part = { item_id: 'msg_1', output_index: 0, content_index: 0 };
    const call = { item_id: 'fc_1', output_index: 1 };
    return [
      event('response.created', { response: { id: 'resp_1', output: [] } }),
      ...pieces.map((delta) => event('response.output_text.delta', { ...part, delta })),
      event('response.output_text.done', { ...part, text: pieces.join('') }),
      ...args.map((delta) => event('response.function_call_arguments.delta', { ...call, delta })),
      event('response.function_call_arguments.done', { ...call, arguments: args.join('') }),
      event('response.completed', {
        response: {
          output: [
            { type: 'message', content: [{ type: 'output_text', text: pieces.join('') }] },
            { type: 'function_call', call_id: 'call_1', name: 'send', arguments: args.join('') },
          ],
        },
      }),
    ].join('');
  },
  messages: (pieces, args) => {
    const event = (type: string, fields: object = {}) =>
      `event: ${type}\r\ndata: ${JSON.stringify({ type, ...fields })}\r\n\r\n`;
    const delta = (index: number, fields: object) => event('content_block_delta', { index, delta: fields });
    return [
      event('message_start', { message: { id: 'msg_1', role: 'assistant', content: [] } }),
      event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
      event('ping'),
      ...pieces.map((text) => delta(0, { type: 'text_delta', text })),
      event('content_block_stop', { index: 0 }),
      event('content_block_start', {
        index: 1,
        content_block: { type: 'tool_use', id: 'toolu_1', name: 'send', input: {} },
      }),
      ...args.map((partial_json) => delta(1, { type: 'input_json_delta', partial_json })),
      event('content_block_stop', { index: 1 }),
      event('message_delta', { delta: { stop_reason: 'tool_use' } }),
      event('message_stop'),
    ].join('');
  },
};

/** The events of a stream as any client reads them: https://html.spec.whatwg.org/multipage/server-sent-events.html */
export function eventsIn(text: string): { readonly event: string; readonly data: string }[] {
  const blocks = text.split(/\r\n\r\n|\n\n|\r\r/);
  if (blocks.pop() !== '') throw new Error('the last event does not end');
  return blocks.flatMap((block) => {
    const fields = block
      .split(/\r\n|\n|\r/)
      .map((line) => /^([^:]*)(?:: ?(.*))?$/s.exec(line)?.slice(1) ?? []);
    const all = (name: string) => fields.filter(([field]) => field === name).map(([, value = '']) => value);
    const data = all('data');
    return data.length === 0 ? [] : [{ event: all('event').at(-1) ?? 'message', data: data.join('\n') }];
  });
}

// biome-ignore lint/suspicious/noExplicitAny: events of three protocols
type Json = any;

/** What a client makes of the deltas of a stream: the text of the answer, and the arguments of the call. */
export function readAnswer(text: string): { text: string; args: string } {
  let answer = '';
  let args = '';
  for (const { data } of eventsIn(text)) {
    if (data === '[DONE]') continue;
    const event: Json = JSON.parse(data);
    for (const { delta } of event.choices ?? []) {
      answer += delta.content ?? '';
      args += delta.tool_calls?.[0].function.arguments ?? '';
    }
    if (event.type === 'response.output_text.delta') answer += event.delta;
    if (event.type === 'response.function_call_arguments.delta') args += event.delta;
    answer += event.type === 'content_block_delta' ? (event.delta.text ?? '') : '';
    args += event.type === 'content_block_delta' ? (event.delta.partial_json ?? '') : '';
  }
  return { text: answer, args };
}
