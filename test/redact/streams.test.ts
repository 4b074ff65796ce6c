import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { createRedactor, iterateRedacted, redactedTransform } from '../../redact/index.ts';
import { redactedNodeTransform } from '../../redact/node.ts';

const SECRET = 'Tr0ub4dor&3';
const redactor = createRedactor();

beforeEach(() => void jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] }));
afterEach(() => void jest.useRealTimers());

describe('redactedTransform', () => {
  it('lets what waits leave after a pause', async () => {
    const { readable, writable } = redactedTransform<string>(redactor, { flushAfter: 20 });
    const [reader, writer] = [readable.getReader(), writable.getWriter()];
    const first = reader.read();
    await writer.write(`password=${SECRET}`);
    jest.advanceTimersByTime(20);
    expect(await first).toEqual({ done: false, value: 'password=<:password:>' });
  });

  it('checks its options', () => {
    expect(() => redactedTransform(redactor, { flushAfter: 0 })).toThrow(RangeError);
    expect(() => redactedTransform(redactor, { flushAfter: 2 ** 31 })).toThrow('at most 2147483647');
    expect(() => redactedTransform(redactor, { flushafter: 5 } as object)).toThrow(
      "unknown option 'flushafter'",
    );
  });

  it.each<[string, (stream: TransformStream<string, string>) => Promise<void>]>([
    ['cancelled', ({ readable }) => readable.cancel('gone')],
    ['aborted', ({ writable }) => writable.abort('gone')],
  ])('throws nothing from its timer when it is %s', async (_, stop) => {
    const { readable, writable } = redactedTransform<string>(redactor, { flushAfter: 20 });
    const [reader, writer] = [readable.getReader(), writable.getWriter()];
    const read = reader.read().catch(() => {});
    await writer.write('a word');
    await read;
    void reader.closed.catch(() => {});
    void writer.closed.catch(() => {});
    reader.releaseLock();
    writer.releaseLock();
    expect(jest.getTimerCount()).toBe(1);
    await stop({ readable, writable });
    expect(() => jest.advanceTimersByTime(20)).not.toThrow();
    expect(jest.getTimerCount()).toBe(0);
  });
});

describe('redactedNodeTransform', () => {
  it('lets what waits leave after a pause, and the rest at its end', async () => {
    const transform = redactedNodeTransform(redactor, { flushAfter: 20 });
    transform.write(`password=${SECRET}`);
    jest.advanceTimersByTime(20);
    expect(String(transform.read())).toBe('password=<:password:>');
    transform.end('\nlast word');
    expect(Buffer.concat(await transform.toArray()).toString()).toBe('\nlast word');
  });

  it.each<BufferEncoding>(['hex', 'base64', 'base64url'])(
    'takes bytes that are written in %s',
    async (encoding) => {
      const transform = redactedNodeTransform(redactor);
      transform.end(Buffer.from(`password=${SECRET}`).toString(encoding), encoding);
      expect((await transform.toArray()).join('')).toBe('password=<:password:>');
    },
  );

  it('has no timer once it is destroyed', () => {
    const transform = redactedNodeTransform(redactor, { flushAfter: 20 });
    transform.write('a word');
    expect(jest.getTimerCount()).toBe(1);
    transform.destroy();
    expect(jest.getTimerCount()).toBe(0);
  });
});

describe('iterateRedacted', () => {
  it('yields what waits before an error of its source', async () => {
    const lost = new Error('connection lost');
    async function* answer() {
      yield 'The password: Tr0ub4';
      yield 'dor&3';
      throw lost;
    }
    const texts: string[] = [];
    const reading = async () => {
      for await (const text of iterateRedacted(redactor, answer())) texts.push(text);
    };
    await expect(reading()).rejects.toBe(lost);
    expect(texts.join('')).toBe('The password: <:password:>');
  });
});
