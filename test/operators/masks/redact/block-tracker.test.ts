import { describe, expect, it } from '@jest/globals';
import { Redactor } from '../../../../operators/masks/redact/redactor.ts';

const LABEL = 'RSA PRIVATE KEY';
const BEGIN = `-----BEGIN ${LABEL}-----`;
const END = `-----END ${LABEL}-----`;
const BODY = 'MIIEpAIBAAKCAQEA0Z3VS5JJcds3xfn/ygWyF8PbnGy0AHB7MmC0F8Wv9XyVnYkq';
const rules = {
  'keys:pem': {
    match: `${BEGIN}[^"<>{}]*?${END}`,
    block: {
      contains: '-----BEGIN ',
      start: '-----BEGIN [A-Z ]{1,20}KEY-----',
      end: '-----END [A-Z ]{1,20}KEY-----',
    },
  },
  PIN: 'pin-[0-9]+',
};

function masks({ allowedKeys = [], more = {}, ...limits }: Limits = {}) {
  const time = { now: 0 };
  const counts: [string, number][] = [];
  const redactor = new Redactor({
    rules: { ...rules, ...more },
    confidence: 'medium',
    allowedValues: [],
    allowedKeys,
    decode: { json: 0, percent: 0, base64: 0 },
    blocks: { lines: 200, timeoutMs: 5000, now: () => time.now, ...limits },
    replace: (_, id) => `<:${id}:>`,
    onMask: (rule, count) => void counts.push([rule, count]),
  });
  const lines = (text: string, source = 'a.log') =>
    text.split('\n').map((line) => redactor.maskLine(source, line));
  const fields = (data: object, source = 'a.log') =>
    (redactor.maskEvent({ data }, source) as { data: unknown }).data;
  const text = (value: string) => redactor.maskText(value);
  return { lines, fields, text, time, counts };
}

interface Limits {
  readonly lines?: number;
  readonly timeoutMs?: number;
  readonly allowedKeys?: string[];
  readonly more?: Readonly<Record<string, string>>;
}
const M = '<:keys:pem:>';

describe('a block of lines', () => {
  it('becomes a mask for each line, with what is before and behind it', () => {
    const { lines, counts } = masks();
    const text = `pin-1\nkey: pin-2 ${BEGIN}\n${BODY}\napp[1]: pin-3 Ab=\n${END} pin-4\npin-5 ok`;
    expect(lines(text)).toEqual(['<:PIN:>', `key: <:PIN:> ${M}`, M, M, `${M} <:PIN:>`, '<:PIN:> ok']);
    expect(counts.filter(([rule]) => rule === 'keys:pem')).toHaveLength(4);
  });

  describe('in lines of JSON', () => {
    const logged = (msg: string, more = {}) => JSON.stringify({ level: 'info', msg, n: 1, ...more });

    it('leaves them JSON: only the string with a line of the key is masked', () => {
      const { lines } = masks();
      const key = [`the key: ${BEGIN}\n`, `${BODY}\n`, 'Ab=\n', `${END}\n`];
      const masked = lines(['before', ...key, 'after'].map((line) => logged(line)).join('\n'));
      expect(masked.map((line) => JSON.parse(line).msg)).toEqual([
        ...['before', `the key: ${M}`, M, M, `${M}\n`, 'after'],
      ]);
      expect(masked.map((line) => JSON.parse(line).n)).toEqual([1, 1, 1, 1, 1, 1]);
    });

    it('leaves an array of lines JSON', () => {
      const { lines } = masks();
      const text = JSON.stringify({ key: [BEGIN, BODY, 'Ab=', END], next: 'pin-1' }, undefined, 2);
      expect(JSON.parse(lines(text).join('\n'))).toEqual({ key: [M, M, M, M], next: '<:PIN:>' });
    });

    it('masks the other fields by their rules', () => {
      const { lines } = masks();
      const [, line] = lines([logged(BEGIN), logged(BODY, { note: 'pin-1' })].join('\n'));
      expect(JSON.parse(line as string)).toMatchObject({ msg: M, note: '<:PIN:>' });
    });

    it.each([
      ['the string is missing', JSON.stringify({ text: BODY })],
      ['there are two of them', JSON.stringify({ first: { msg: 'x' }, msg: BODY })],
      ['something else looks like a part of a key', logged('x', { more: BODY })],
      ['the string is cut', `{"msg":"${BODY}`],
    ])('masks the whole line if %s', (_, line) => {
      expect(masks().lines(`${logged(BEGIN)}\n${line}`)[1]).toBe(M);
    });
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

  it('without an end ends when no line came for a while, and the next one has nothing of a key', () => {
    const { lines, time } = masks();
    expect(lines(`x\n${BEGIN}\na`)).toEqual(['x', M, M]);
    time.now = 5000;
    expect(lines('b c')).toEqual([M]);
    time.now = 10_001;
    expect(lines('c d')).toEqual(['c d']);
  });

  it('goes on after a while with lines of a key, as when the reader of the output was slow', () => {
    const { lines, time } = masks();
    expect(lines(`x\n${BEGIN}\n${BODY}`)).toEqual(['x', M, M]);
    time.now = 60_000;
    expect(lines(`Nov 23 01:02:03 host app: ${BODY}`)).toEqual([M]);
    time.now = 120_000;
    expect(lines(`${BODY.slice(0, 9)}==\n${END}\nok`)).toEqual([M, M, 'ok']);
  });

  it('ends after five lines that have nothing of a key', () => {
    const { lines } = masks();
    const line = '2026-11-22T10:00:00Z INFO GET /var/lib/app/index 200 d41d8cd98f00b204e9800998ecf8427e';
    const headers = 'Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,0123456789ABCDEF\n';
    expect(lines(`want ${BEGIN}\n${`${line}\n`.repeat(7)}end`)).toEqual([
      ...[`want ${M}`, M, M, M, M, M],
      ...[line, line, 'end'],
    ]);
    expect(lines(`${BEGIN}\n${headers}\n${BODY}\n${`${line}\n`.repeat(5)}${BODY}\n${END}\nok`)).toEqual([
      ...Array(12).fill(M),
      'ok',
    ]);
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

describe('the rest of a block behind a prefix', () => {
  const fragment = '<:key-fragment:>';
  const last = `${BODY.slice(0, 40)}==`;

  it.each<[string, (line: string) => string]>([
    ['quoted', (line) => `> ${line}`],
    ['indented', (line) => `    ${line}`],
    ['of a container', (line) => `2026-05-01T10:00:00.000000001Z stdout F ${line}`],
    ['in JSON of Docker', (line) => `{"log":"${line}\\n","stream":"stdout"}`],
    ['in the journal', (line) => `Nov 23 10:00:00 web app[81]: ${line}`],
  ])('%s: is masked at the start of a source', (_, form) => {
    const { lines } = masks();
    const log = [BODY, BODY, last, END, 'ok', BODY].map(form).join('\n');
    expect(lines(log)).toEqual([fragment, fragment, fragment, END, 'ok', BODY].map(form));
  });

  it('is masked to its last line where all of it is in one string', () => {
    const { lines } = masks();
    const rest = [BODY, BODY, last, END, ''];
    expect(lines(`{"key":"${rest.join('\\n')}"}`)).toEqual([`{"key":"${fragment}\\n${END}\\n"}`]);
    expect(lines(`KEY='${rest.join('\\r\\n')}'`, 'b.log')).toEqual([`KEY='${fragment}\\r\\n${END}\\r\\n'`]);
  });

  it('is masked where it is the first field of several lines', () => {
    const { fields } = masks();
    expect(fields({ message: `${BODY}\n${BODY}\n${last}\n${END}` })).toEqual({
      message: `${fragment}\n${END}`,
    });
  });

  it('can be followed by the start of the next key', () => {
    const { lines } = masks();
    const first = `${BODY}\\n${END}\\n${BEGIN}`;
    expect(lines(`${first}\n${BODY}\nAb=\n${END}\nok`)).toEqual([
      `${fragment}\\n${END}\\n${M}`,
      ...[M, M, M, 'ok'],
    ]);
  });

  it('does not start after the start of a key, or of a certificate, in the same line', () => {
    const { lines } = masks();
    const key = `KEY="${[BEGIN, BODY, BODY, last, END].join('\\n')}\\n"`;
    expect(lines(`${key}\n${key}\nok\n${key}`)).toEqual([
      `KEY="${M}\\n"`,
      `KEY="${M}\\n"`,
      'ok',
      `KEY="${M}\\n"`,
    ]);
    const certificate = `CERT="-----BEGIN CERTIFICATE-----\\n${BODY}\\n${last}\\n-----END CERTIFICATE-----"`;
    expect(lines(`${certificate}\n${certificate}`, 'b.log')).toEqual([certificate, certificate]);
  });

  it('cuts no value that a rule finds around it', () => {
    const { lines } = masks({ more: { QUOTED: 'secret "[^"]*"' } });
    expect(lines(`a secret "x-1 ${BODY}" b`)).toEqual(['a <:QUOTED:> b']);
    expect(lines(`${BODY}\na secret "${BODY}" pin-1`, 'b.log')).toEqual([fragment, 'a <:QUOTED:> <:PIN:>']);
  });

  it('is no hash and no path', () => {
    const { lines } = masks();
    const hash = `sha256:${'9f86d081884c7d65'.repeat(4)}`;
    expect(lines(`${hash}\n${hash}`)).toEqual([hash, hash]);
    const path = `GET /${'assets/'.repeat(9)}a.js`;
    expect(lines(path, 'b.log')).toEqual([path]);
  });
});

describe('a block in a string of several lines', () => {
  const { text } = masks();
  it.each<[string, (line: string) => string]>([
    ['in JSON of Docker', (line) => `{"log":"${line}\\n","stream":"stdout"}`],
    ['quoted', (line) => `> ${line}`],
    ['of the journal', (line) => `{"MESSAGE":"${line}","PRIORITY":"6"}`],
  ])('%s: is masked line by line', (_, form) => {
    const masked = text(
      ['before pin-1', BEGIN, BODY, BODY, `${BODY.slice(0, 40)}==`, END, 'after pin-2'].map(form).join('\n'),
    );
    expect(masked).not.toContain(BODY.slice(0, 12));
    expect(masked).not.toContain('KEY');
    expect(masked.split('\n')).toHaveLength(7);
    expect(masked).toMatch(/before <:PIN:>[\s\S]*after <:PIN:>/);
  });

  it('without anything between its lines is one value', () => {
    expect(text(`a ${BEGIN}\n${BODY}\n${END} b`)).toBe(`a ${M} b`);
  });
});

describe('blocks in fields', () => {
  const starts = (from: number, to: number) =>
    Object.fromEntries(Array.from({ length: to - from }, (_, i) => [`k${from + i}`, BEGIN]));

  it('are followed however many are open', () => {
    const { fields } = masks();
    fields(starts(0, 100));
    for (const key of ['k99', 'k0', 'k50', 'k0']) expect(fields({ [key]: BODY })).toEqual({ [key]: M });
    expect(fields({ other: 'x' })).toEqual({ other: 'x' });
  });

  it('stand for every field of their source if more are open than can be followed', () => {
    const { fields } = masks({ lines: 3 });
    const one = { message: BODY, k100: BODY, source: 'a.log', tries: 3 };
    fields({ message: BEGIN });
    fields(starts(0, 101));
    for (let event = 0; event < 3; event++) {
      expect(fields(one)).toEqual({ message: M, k100: M, source: 'a.log', tries: 3 });
    }
    expect(fields({ other: 'x' })).toEqual({ other: 'x' });
    expect(fields(one, 'b.log')).not.toEqual({ message: M, k100: M, source: 'a.log', tries: 3 });
  });

  it('stand for every field in lines as well', () => {
    const { fields, lines } = masks({ lines: 3 });
    fields(starts(0, 101));
    expect(lines('a\nb\nc\nd')).toEqual([M, M, M, 'd']);
  });

  it('make room when their fields no longer come', () => {
    const { fields, time } = masks();
    fields(starts(0, 100));
    time.now = 300_001;
    fields(starts(100, 200));
    expect(fields({ k100: BODY, other: 'x' })).toEqual({ k100: M, other: 'x' });
  });

  it('have a limit for all sources, and paths that are long are not kept', () => {
    const { fields } = masks();
    for (let source = 0; source < 100; source++) fields(starts(0, 100), `${source}`);
    fields({ message: BEGIN }, 'last');
    expect(fields({ other: BODY }, 'last')).toEqual({ other: M });
    const long = 'x'.repeat(1000);
    const another = masks();
    another.fields({ [long]: BEGIN });
    expect(another.fields({ [long]: BODY, other: 'x' })).toEqual({ [long]: M, other: M });
  });

  it('can start where another one has ended', () => {
    const { fields } = masks();
    fields({ message: `${BEGIN}\n${BODY}` });
    expect(fields({ message: `${BODY}\n${END}\npin-1 ${BEGIN}\n${BODY}` })).toEqual({
      message: `${M}\n<:PIN:> ${M}`,
    });
    expect(fields({ message: `${BODY}\n` })).toEqual({ message: `${M}\n` });
    expect(fields({ message: `${END} ok` })).toEqual({ message: `${M} ok` });
    expect(fields({ message: 'ok' })).toEqual({ message: 'ok' });
  });

  it('are left in fields whose keys are allowed', () => {
    const { fields } = masks({ allowedKeys: ['certificate'] });
    expect(fields({ certificate: BEGIN })).toEqual({ certificate: BEGIN });
    expect(fields({ certificate: BODY, other: BEGIN })).toEqual({ certificate: BODY, other: M });
  });
});
