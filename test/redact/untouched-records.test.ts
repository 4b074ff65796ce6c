import fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fill, Random } from '../../plugins/pack-tests/templates.ts';
import { loadPack, packNames } from '../../plugins/packs/load-packs.ts';
import { leavesJson } from '../../redact/check-redactor.ts';
import { createPseudonyms, createRedactor, type Redactor, type RedactorOptions } from '../../redact/index.ts';
import { redactedStreamWrite } from '../../redact/pino.ts';
import { ROOT } from '../support/build.ts';
import { propertyRuns } from '../support/property-runs.ts';

/*
 * Lines of pino are searched as they are written, and only those that may have something to mask are parsed. A redactor of one's own
 * cannot be asked, so each of its lines is parsed.
 */
const asking = (redactor: Redactor): Redactor => ({
  redact: (value: never) => redactor.redact(value) as never,
  redactJson: (json) => redactor.redactJson(json),
  stream: (options) => redactor.stream(options),
  report: () => redactor.report(),
  withPseudonyms: (pseudonyms) => redactor.withPseudonyms(pseudonyms),
  pseudonyms: redactor.pseudonyms,
});

const bothWays = (options?: RedactorOptions) => {
  const redactor = createRedactor(options);
  return {
    leaves: (line: string) => leavesJson(redactor, line),
    fast: redactedStreamWrite(redactor),
    slow: redactedStreamWrite(asking(redactor)),
  };
};

/** What rules find, and what looks like it. */
const random = new Random(7);
const examples = packNames().flatMap((name) =>
  Object.values(loadPack(name).rules).flatMap(({ tests }) =>
    [...tests.matches, ...(tests.misses ?? [])].map((template) => fill(template, random).text),
  ),
);
const folder = join(ROOT, 'test/redaction/realistic');
const lines = [folder, join(folder, 'ordinary')].flatMap((path) =>
  fs
    .readdirSync(path)
    .filter((name) => name.endsWith('.txt'))
    .flatMap((name) => fs.readFileSync(join(path, name), 'utf8').split('\n'))
    .map((line) => line.replace(/⟦([^⟧]*)⟧/g, 'Zebr4-Lamp9kQ').replace(/^[-=] /, ''))
    .filter((line) => line.length > 10 && line.length < 500),
);

/** A text, and its words as keys and values of each other. */
function recordsOf(text: string): readonly object[] {
  const words = text.split(/[\s"'=:,;{}[\]()]+/).filter((word) => word !== '');
  const at = random.below(Math.max(1, words.length - 1));
  const [key = 'a', word = 'b'] = words.slice(at);
  const value = /^\d{1,15}$/.test(word) ? Number(word) : word;
  return [
    { msg: text, path: '/orders' },
    { [key]: value, [text]: 1 },
    { [key]: { value, id: 7 }, list: words },
    { within: { name: key, value }, [key]: [word, 3] },
  ];
}

describe('a line of pino', () => {
  it('is the same whether it is parsed or not, with all that rules find', () => {
    const { leaves, fast, slow } = bothWays();
    let left = 0;
    let masked = 0;
    const some = [...examples, ...lines].filter(() => random.below(20) < propertyRuns(1));
    for (const record of some.flatMap(recordsOf)) {
      const line = `${JSON.stringify({ level: 30, time: 1767225600000, ...record })}\n`;
      if (leaves(line.trimEnd())) left++;
      const expected = slow(line);
      if (expected !== line) masked++;
      expect(fast(line)).toBe(expected);
    }
    expect(left).toBeGreaterThan(100);
    expect(masked).toBeGreaterThan(100);
  });

  it.each<[string, RedactorOptions]>([
    ['default packs', {}],
    ['entropy', { entropy: {}, confidence: 'low' }],
    ['fields', { fields: { 'user.name': 'mask', id: 'drop' }, keys: ['ssn'], allow: { keys: ['path'] } }],
    ['personal data, which has rules without literals', { packs: 'all' }],
    ['persons', { packs: ['pii/person'] }],
    ['no decoding', { decode: false }],
    [
      'rules of its own',
      {
        packs: ['secrets/keys'],
        rules: {
          '': { match: 'b(?:ob|it)', keywords: ['bo', 'bi'] },
          PATH: { match: 'path/(\\w+)', mask: 1, keywords: ['path/'] },
          ORDER: { match: 'ord-?er_(\\d{3})', mask: 1, keywords: ['ORD'] },
        },
      },
    ],
    [
      'a rule for keys in spaced JSON',
      { packs: [], rules: { SPACED: { match: '"id": ?(\\w+)', mask: 1, keywords: ['id": '] } } },
    ],
  ])('is the same whether it is parsed or not: %s', (name, options) => {
    const { leaves, fast, slow } = bothWays(options);
    const key = fc.constantFrom(
      'a',
      'id',
      'name',
      'user',
      'value',
      'path',
      'ssn',
      'token',
      'type',
      'data',
      '0',
      '1',
      'kty',
      'd',
      'é',
    );
    const text = fc.oneof(
      fc.constantFrom(
        'a',
        'b',
        'bob',
        'path/secret',
        'ada',
        'é, ü',
        'x"y',
        'line\n',
        ' a',
        'order_123',
        '%2Fa%20bcdefgh',
        'Buffer',
        'password',
        'RSA',
      ),
      fc.constantFrom(...examples, ...lines),
      fc.string({ maxLength: 8 }),
      fc.string({ minLength: 15, maxLength: 30 }).map((value) => Buffer.from(value).toString('base64')),
    );
    const { json } = fc.letrec((tie) => ({
      json: fc.oneof(
        { depthSize: 'small' },
        text,
        fc.oneof(fc.nat(300), fc.constantFrom<unknown>(-0.5, 1e21, 4111111111111111, true, null)),
        fc.array(tie('json'), { maxLength: 3 }),
        fc.dictionary(key, tie('json'), { maxKeys: 3 }),
      ),
    }));
    const record = fc.dictionary(key, json, { maxKeys: 4 });
    let left = 0;
    fc.assert(
      fc.property(record, fc.constantFrom(0, 0, 0, 1), (fields, indent) => {
        const line = JSON.stringify({ level: 30, ...fields }, null, indent).replaceAll('\n', '');
        const expected = slow(`${line}\n`);
        if (leaves(line)) {
          left++;
          // White space and numbers stay as they are written.
          expect(expected).toBe(`${JSON.stringify(JSON.parse(line))}\n`);
        } else expect(fast(`${line}\n`)).toBe(expected);
      }),
      { numRuns: propertyRuns(400) },
    );
    const parsesAll = /entropy|fields|spaced|without/.test(name);
    expect(left > 0).toBe(!parsesAll);
  });

  it.each([
    '{"level":30,"body":{"type":"Buffer","data":[112,97,115]}}',
    '{"level":30,"body":{"0":112,"1":97,"2":115}}',
  ])('is parsed if it has bytes: %s', (line) => {
    const { fast, leaves } = bothWays();
    expect([leaves(line), fast(line)]).toEqual([false, '{"level":30,"body":"<:unmaskable:>"}']);
  });

  it.each<[string, RedactorOptions['rules'], string]>([
    [
      'a name',
      { z: { match: '"zqux":\\s*"(\\w+)"', mask: 1, keywords: ['zqux":'] } },
      '{"name":"zqux","value":"ghxyz"}',
    ],
    [
      'a first key',
      { z: { match: '\\{"zqux":\\s*"(\\w+)"', mask: 1, keywords: ['{"zqux'] } },
      '{"o":{"x":1,"zqux":"ghxyz"}}',
    ],
    [
      'an item',
      { z: { match: '\\["zqux",\\s*"(\\w+)"', mask: 1, keywords: ['["zqux'] } },
      '{"a":["q","zqux","ghxyz"]}',
    ],
    [
      'an exponent',
      { z: { match: '\\b\\d{16}\\b', check: 'card', keywords: ['4111'] } },
      '{"a":[ 4.111111111111111e15]}',
    ],
  ])('is parsed where a rule of one’s own may see %s only in its field', (_, rules, line) => {
    const { fast, slow } = bothWays({ packs: [], rules });
    expect(fast(line)).toBe(slow(line));
    expect(fast(line)).toContain('<:z:>');
  });

  it('is parsed if it nests too deeply to be masked', () => {
    const { fast } = bothWays();
    expect(fast(`{"q":${'['.repeat(1200)}1${']'.repeat(1200)}}`)).toContain('<:unmaskable:>');
  });

  it('is parsed if it is too long, or if pseudonyms stand for values that no rule finds', () => {
    const line = '{"level":30,"msg":"hello"}';
    const redactor = createRedactor({ maxLength: 30 });
    expect(leavesJson(redactor, line)).toBe(true);
    expect(leavesJson(redactor, `${line}     `)).toBe(false);
    expect(leavesJson(redactor.withPseudonyms(createPseudonyms()), line)).toBe(false);
  });
});
