import { describe, expect, it } from '@jest/globals';
import { Redactor } from '../../../../operators/masks/redact/redactor.ts';

const LABEL = 'RSA PRIVATE KEY';
const BEGIN = `-----BEGIN ${LABEL}-----`;
const END = `-----END ${LABEL}-----`;
const BODY = 'MIIEpAIBAAKCAQEA0Z3VS5JJcds3xfn/ygWyF8PbnGy0AHB7MmC0F8Wv9XyVnYkq';
const rules = {
  'keys:pem': {
    match: `${BEGIN}[\\s\\S]*?${END}`,
    block: {
      contains: '-----BEGIN ',
      start: '-----BEGIN [A-Z ]{1,20}KEY-----',
      end: '-----END [A-Z ]{1,20}KEY-----',
    },
  },
  PIN: 'pin-[0-9]+',
};

function masks(limits: { lines?: number; timeoutMs?: number } = {}) {
  const time = { now: 0 };
  const counts: [string, number][] = [];
  const redactor = new Redactor({
    rules,
    confidence: 'medium',
    allowedValues: [],
    allowedKeys: [],
    secretFields: undefined,
    decode: { json: 0, percent: 0, base64: 0 },
    blocks: { lines: 200, timeoutMs: 5000, now: () => time.now, ...limits },
    replace: (_, id) => `<:${id}:>`,
    onMask: (rule, count) => void counts.push([rule, count]),
  });
  const lines = (text: string, source = 'a.log') =>
    text.split('\n').map((line) => redactor.maskLine(source, line));
  return { lines, time, counts };
}
const M = '<:keys:pem:>';

describe('a block of lines', () => {
  it('becomes a mask for each line, with what is before and behind it', () => {
    const { lines, counts } = masks();
    const text = `pin-1\nkey: pin-2 ${BEGIN}\n${BODY}\napp[1]: pin-3 Ab=\n${END} pin-4\npin-5 ok`;
    expect(lines(text)).toEqual(['<:PIN:>', `key: <:PIN:> ${M}`, M, M, `${M} <:PIN:>`, '<:PIN:> ok']);
    expect(counts.filter(([rule]) => rule === 'keys:pem')).toHaveLength(4);
  });

  it('is followed for each source', () => {
    const { lines } = masks();
    lines('x', 'b.log');
    expect([...lines(`x\n${BEGIN}`), ...lines('one', 'b.log'), ...lines('two')]).toEqual(['x', M, 'one', M]);
  });

  it('without an end has as many lines as a block may have', () => {
    const { lines } = masks({ lines: 3 });
    expect(lines(`x\n${BEGIN}\na\nb\nc\n${BEGIN}\nd`)).toEqual(['x', M, M, M, 'c', M, M]);
  });

  it('without an end ends when no line came for a while', () => {
    const { lines, time } = masks();
    expect(lines(`x\n${BEGIN}\na`)).toEqual(['x', M, M]);
    time.now = 5000;
    expect(lines('b')).toEqual([M]);
    time.now = 10_001;
    expect(lines('c')).toEqual(['c']);
  });

  it('within one line is for the expression of its rule', () => {
    const { lines } = masks();
    expect(lines(`x\n${BEGIN}\\n${BODY}\\n${END} pin-1\nok`)).toEqual(['x', `${M} <:PIN:>`, 'ok']);
    expect(lines(`${BEGIN} a ${END} ${BEGIN} b\nc\n${END}`)).toEqual([`${M} ${M}`, M, M]);
  });

  it('may have begun before the first line of a source', () => {
    const { lines } = masks();
    const fragment = '<:key-fragment:>';
    expect(lines(`${BODY}\n${BODY}\n${BODY.slice(0, 40)}==\n${END}\nok`)).toEqual([
      ...[fragment, fragment, fragment],
      ...[END, 'ok'],
    ]);
    expect(lines(`ok\n${BODY}`, 'b.log')).toEqual(['ok', BODY]);
    expect(lines(`${BODY}\nhello world\n${BODY}`, 'c.log')).toEqual([fragment, 'hello world', BODY]);
  });
});
