import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { judgeTail } from '../../operators/output/torn-tail.ts';
import { serialise } from '../../src/models/serialise.ts';

const judge = (text: string | Buffer) => {
  const bytes = Buffer.from(text);
  const tail = judgeTail(bytes, true);
  return tail && { kept: bytes.subarray(0, tail.keep).toString(), isTerminated: tail.isTerminated };
};
const event = (data: Record<string, unknown>) => ({ timestamp: '2026-01-01T00:00:00.000Z', data });
const line = (n: number) => `${serialise(event({ n }))}\n`;
const indented = (n: number) => `${serialise(event({ n, list: [{}, { a: 1 }] }), 2)}\n`;

describe('the end of a file', () => {
  it.each([
    ['nothing', ''],
    ['lines of ours', line(1) + line(2)],
    ['indented documents of ours', indented(1) + indented(2)],
    ['text of others', 'one\ntwo\n'],
    ['indented text of others', 'list:\n  - {\n  }\n  - timestamp: 1\n'],
    ['a brace of others', 'function f()\n{\n  return 1;\n'],
  ])('stays: %s', (_, text) => {
    expect(judge(text)).toEqual({ kept: text, isTerminated: true });
  });

  it.each([
    ['text of others', 'one\ntwo'],
    ['partial JSON of others', '{"level":"info"'],
    ['text that holds our begin', 'x {"timestamp":'],
    ['a document of ours that lacks its newline only', line(1).trimEnd()],
    ['an indented one', indented(1).trimEnd()],
    ['indented text of others', 'list:\n  - a'],
  ])('stays, and gets a newline: %s', (_, text) => {
    expect(judge(text)).toEqual({ kept: text, isTerminated: false });
  });

  it('loses zeroes, and what they follow if that is torn', () => {
    expect(judge(`${line(1)}\0\0\0`)).toEqual({ kept: line(1), isTerminated: true });
    expect(judge(`${line(1)}${line(2).slice(0, 20)}\0\0`)).toEqual({ kept: line(1), isTerminated: true });
    expect(judge('theirs\0\0')).toEqual({ kept: 'theirs', isTerminated: false });
    expect(judge('\0\0')).toEqual({ kept: '', isTerminated: true });
  });

  it.each([
    ['lines', line],
    ['indented documents', indented],
  ])('loses what a crash left of %s, cut at any byte', (_, document) => {
    const before = `theirs\n${document(1)}${document(2)}`;
    const last = Buffer.from(document(3));
    for (let length = 1; length < last.length - 1; length++) {
      const file = Buffer.concat([Buffer.from(before), last.subarray(0, length)]);
      expect([length, judge(file)]).toEqual([length, { kept: before, isTerminated: true }]);
    }
  });

  it('is told from any other text, whatever is in the events', () => {
    const data = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue());
    const indent = fc.constantFrom(undefined, 2);
    fc.assert(
      fc.property(data, data, indent, fc.nat(), (first, second, spaces, at) => {
        const whole = `${serialise(event(first), spaces)}\n`;
        const torn = Buffer.from(serialise(event(second), spaces));
        const length = 1 + (at % (torn.length - 1));
        const file = Buffer.concat([Buffer.from(whole), torn.subarray(0, length)]);
        expect(judge(file)).toEqual({ kept: whole, isTerminated: true });
      }),
    );
  });

  it('asks for more until it has seen where the last document begins', () => {
    const torn = Buffer.from(`${line(1)}${line(2).slice(0, 40)}`);
    expect(judgeTail(torn.subarray(-10), false)).toBeUndefined();
    expect(judgeTail(torn.subarray(-41), false)).toEqual({ keep: 1, isTerminated: true });
    const open = Buffer.from(indented(1).slice(0, -2));
    expect(judgeTail(open.subarray(2), false)).toBeUndefined();
    expect(judgeTail(Buffer.alloc(8), false)).toBeUndefined();
  });
});
