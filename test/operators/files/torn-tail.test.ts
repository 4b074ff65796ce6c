import fs from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { findTail } from '../../../operators/files/append/torn-tail.ts';
import { serialise } from '../../../src/sdk/serialise.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const folder = tempFolder();
const judge = async (text: string | Buffer) => {
  const bytes = Buffer.from(text);
  fs.writeFileSync(folder('file'), bytes);
  const fd = fs.openSync(folder('file'), 'r');
  const { keep, isTerminated } = await findTail(fd, bytes.length);
  fs.closeSync(fd);
  return { kept: bytes.subarray(0, keep).toString(), isTerminated };
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
  ])('stays: %s', async (_, text) => {
    expect(await judge(text)).toEqual({ kept: text, isTerminated: true });
  });

  it.each([
    ['text of others', 'one\ntwo'],
    ['partial JSON of others', '{"level":"info"'],
    ['text that holds our begin', 'x {"timestamp":'],
    ['a document of ours that lacks its newline only', line(1).trimEnd()],
    ['an indented one', indented(1).trimEnd()],
    ['indented text of others', 'list:\n  - a'],
  ])('stays, and gets a newline: %s', async (_, text) => {
    expect(await judge(text)).toEqual({ kept: text, isTerminated: false });
  });

  it('loses zeroes, and what they follow if that is torn', async () => {
    expect(await judge(`${line(1)}\0\0\0`)).toEqual({ kept: line(1), isTerminated: true });
    expect(await judge(`${line(1)}${line(2).slice(0, 20)}\0\0`)).toEqual({
      kept: line(1),
      isTerminated: true,
    });
    expect(await judge('theirs\0\0')).toEqual({ kept: 'theirs', isTerminated: false });
    expect(await judge('\0\0')).toEqual({ kept: '', isTerminated: true });
  });

  it.each([
    ['lines', line],
    ['indented documents', indented],
  ])('loses what a crash left of %s, cut at any byte', async (_, document) => {
    const before = `theirs\n${document(1)}${document(2)}`;
    const last = Buffer.from(document(3));
    for (let length = 1; length < last.length - 1; length++) {
      const file = Buffer.concat([Buffer.from(before), last.subarray(0, length)]);
      expect([length, await judge(file)]).toEqual([length, { kept: before, isTerminated: true }]);
    }
  });

  it('is told from any other text, whatever is in the events', async () => {
    const data = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue());
    const indent = fc.constantFrom(undefined, 2);
    await fc.assert(
      fc.asyncProperty(data, data, indent, fc.nat(), async (first, second, spaces, at) => {
        const whole = `${serialise(event(first), spaces)}\n`;
        const torn = Buffer.from(serialise(event(second), spaces));
        const length = 1 + (at % (torn.length - 1));
        const file = Buffer.concat([Buffer.from(whole), torn.subarray(0, length)]);
        expect(await judge(file)).toEqual({ kept: whole, isTerminated: true });
      }),
    );
  });

  it('is found wherever the chunks begin in which it is read', async () => {
    const long = 'x'.repeat(256 * 1024);
    for (let length = 1; length < 80; length++) {
      const before = line(1) + indented(2);
      const torn = indented(3).slice(0, 70) + long.slice(0, -length);
      expect(await judge(before + torn)).toEqual({ kept: before, isTerminated: true });
      const whole = serialise(event({ long: long.slice(0, -length) }));
      expect(await judge(before + whole)).toEqual({ kept: before + whole, isTerminated: false });
      expect(await judge(before + whole.slice(0, -1))).toEqual({ kept: before, isTerminated: true });
    }
  });
});
