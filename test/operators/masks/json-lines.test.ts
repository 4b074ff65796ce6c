import { isAscii } from 'node:buffer';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { entropyMasker } from '../../../operators/masks/entropy-mask.ts';
import { loadPlannedSearch, regexMasker } from '../../../operators/masks/regex-mask.ts';
import { entropyMasking } from '../../../plugins/masks/entropy-masking.ts';
import { regexMasking } from '../../../plugins/masks/regex-masking.ts';
import { EntropyMaskProcessConfig } from '../../../plugins/process/entropy_mask.ts';
import { RegexMaskProcessConfig } from '../../../plugins/process/regex_mask.ts';
import { testContext } from '../../support/context.ts';

/** Every way in which a line is masked: a string, an event, lines as one string, and as bytes. */
function everyWay(settings: object, lines: readonly string[]): string[] {
  const config = RegexMaskProcessConfig.parse({ plugin: 'regex_mask', ...settings });
  return everyWayOf(regexMasking, config, lines);
}

function everyWayOf(
  masking: typeof regexMasking | typeof entropyMasking,
  config: object,
  lines: readonly string[],
): string[] {
  const results = new Set<string>();
  const newMapping = () => {
    const ctx = testContext(config as { plugin: string });
    const envelope = { timestamp: '2026-01-01T00:00:00Z', source: '-', backfill: false, isTruncated: false };
    const mapping = masking.mapLines({ ctx: ctx as never, envelope });
    if (mapping === undefined) throw new Error('it maps no lines');
    return { ctx, mapping };
  };
  const { ctx, mapping } = newMapping();
  results.add(lines.map((line) => mapping.map(line)).join('\n'));
  const events = lines.map((line) =>
    masking.process({ ctx: ctx as never, event: { data: { line } } as never }),
  );
  results.add(events.map(([event]) => event?.data.line as string).join('\n'));
  const { many } = newMapping().mapping;
  const text = lines.join('\n');
  // The first texts are searched without a plan.
  for (let i = 0; i < 20; i++) results.add(many?.map(text) as string);
  const into = Buffer.alloc(4 * text.length + 1000);
  const length = isAscii(Buffer.from(text)) ? (many?.mapBytes?.(Buffer.from(text), into) ?? -1) : -1;
  if (length !== -1) results.add(into.toString('utf8', 0, length));
  return [...results];
}

const CASES: readonly (readonly [string, object, string, string])[] = [
  ['a number', { code: '\\b\\d{3}\\b' }, '{"cvv":123}', '{"cvv":"<:code:>"}'],
  [
    'a number with spaces around it',
    { code: '\\b\\d{3}\\b' },
    '{"cvv": 123 , "x" : 1}',
    '{"cvv": "<:code:>" , "x" : 1}',
  ],
  ['the last of a list', { code: '\\b\\d{3}\\b' }, '[1,2,123]', '[1,2,"<:code:>"]'],
  ['a list behind a list', { code: '\\b\\d{3}\\b' }, '[[1],[123]]', '[[1],["<:code:>"]]'],
  ['a part of a number', { code: '\\d{4}' }, '{"n":-12345.67e+8}', '{"n":"-<:code:>5.67e+8"}'],
  ['a boolean', { flag: 'true' }, '{"a":true,"b":"true"}', '{"a":"<:flag:>","b":"<:flag:>"}'],
  ['null', { none: 'null' }, '{"a":null}', '{"a":"<:none:>"}'],
  ['a string', { pin: '\\d{4}' }, '{"a":"pin 1234"}', '{"a":"pin <:pin:>"}'],
  ['a key', { pin: '\\d{4}' }, '{"1234":1}', '{"<:pin:>":1}'],
  ['a key and its number', { pin: '"pin":\\d+' }, '{"pin":1234,"b":1}', '{"<:pin:>":"<:pin:>","b":1}'],
  ['quotes at both ends', { pin: '"\\d+"' }, '{"a":"1234","b":1}', '{"a":"<:pin:>","b":1}'],
  ['two strings', { x: 'a","b' }, '{"k":["xa","bx"]}', '{"k":["x<:x:>","<:x:>x"]}'],
  ['two numbers', { x: '1,2' }, '{"k":[1,2,3]}', '{"k":["<:x:>","<:x:>",3]}'],
  ['a number and a bracket', { x: '\\d+\\}' }, '{"k":{"a":12}}', '{"k":{"a":"<:x:>"}}'],
  ['all of it', { x: '.{2,}' }, '{"k":{"a":12,"b":"c"}}', '{"<:x:>":{"<:x:>":"<:x:>","<:x:>":"<:x:>"}}'],
  ['separators only', { x: '":' }, '{"k":"a:b"}', '{"k":"a:b"}'],
  ['a half of an escape', { x: 'n' }, '{"a":"1\\n2","b":"n"}', '{"a":"1<:x:>2","b":"<:x:>"}'],
  ['digits of an escape', { x: '\\d\\d' }, '{"a":"\\u00e9 12"}', '{"a":"<:x:> <:x:>"}'],
  ['a backslash', { x: '\\\\' }, '{"a":"c:\\\\d \\" e"}', '{"a":"c:<:x:>d <:x:> e"}'],
  ['JSON in JSON', { x: '\\d{3}' }, '{"log":"{\\"cvv\\":123}"}', '{"log":"{\\"cvv\\":\\"<:x:>\\"}"}'],
  ['JSON behind a prefix', { x: '\\d{3}' }, 'a 123: {"cvv":123}', 'a <:x:>: {"cvv":"<:x:>"}'],
  ['other text', { x: '\\d{3}' }, 'cvv=123, {x: 123}', 'cvv=<:x:>, {x: <:x:>}'],
  ['JSON that is cut off', { x: '\\d{3}' }, '{"cvv":123', '{"cvv":<:x:>'],
  ['a number that is not of an object', { x: '\\d{3}' }, '123', '<:x:>'],
  ['an earlier name', { a: '\\d{3}', b: 'a' }, '{"cvv":123,"x":"a"}', '{"cvv":"<:<:b:>:>","x":"<:b:>"}'],
];

describe.each(CASES)('regex_mask in JSON: %s', (_, rules, line, expected) => {
  it('keeps it, in every way', async () => {
    expect(everyWay({ rules }, [line])).toEqual([expected]);
    const filler = Array.from(
      { length: 300 },
      (_, i) => `{"time":"2026-01-01","message":"line ${'x'.repeat(i % 40)}"}`,
    );
    const masked = everyWay({ rules }, [...filler, line]).map((text) => text.split('\n').at(-1));
    expect(masked.filter((text) => text !== expected)).toEqual([]);
    const options = { rules: rules as Record<string, string> };
    expect(regexMasker(options)(line)).toBe(expected);
    await loadPlannedSearch();
    expect(regexMasker(options)(line)).toBe(expected);
  });
});

describe('what stands in place of a value', () => {
  const line = '{"a":4111,"b":"4111"}';
  it.each<[string, object, string]>([
    ['a character', { mask_char: '*' }, '{"a":"****","b":"****"}'],
    ['a digit', { mask_char: '0' }, '{"a":"0000","b":"0000"}'],
    ['a quote', { mask_char: '"' }, '{"a":"\\"\\"\\"\\"","b":"\\"\\"\\"\\""}'],
    [
      'quotes and backslashes',
      { mask_prefix: '"\\', mask_suffix: '"' },
      '{"a":"\\"\\\\x\\"","b":"\\"\\\\x\\""}',
    ],
  ])('is written as in JSON: %s', (_, settings, expected) => {
    expect(everyWay({ rules: { x: '\\d{4}' }, ...settings }, [line])).toEqual([expected]);
  });

  it('is no number where a key or a string only looks like one', () => {
    const looksLikeNumber = '{"a":{":0]":false,"x":":0]"},"b":[12,"c"]}';
    expect(everyWay({ rules: { x: '\\d+' } }, [looksLikeNumber])).toEqual([
      '{"a":{":<:x:>]":false,"x":":<:x:>]"},"b":["<:x:>","c"]}',
    ]);
  });

  it('stays as it is where it is written for JSON', () => {
    const settings = { rules: { x: '\\d{4}' }, mask_prefix: '"<', mask_suffix: '>"' };
    expect(everyWay(settings, ['{"a":4111}'])).toEqual(['{"a":"<x>"}']);
  });
});

describe('entropy_mask in JSON', () => {
  const secret = 'qGr4Kd0xT9bLw2Zp5v';
  const ways = (line: string, settings: object = {}) =>
    everyWayOf(entropyMasking, EntropyMaskProcessConfig.parse({ plugin: 'entropy_mask', ...settings }), [
      line,
    ]);

  it.each<[string, string, object, string]>([
    ['a string', `{"k": "a ${secret} b"}`, {}, '{"k": "a <:HIGH-ENTROPY:> b"}'],
    [
      'a token with quotes and a comma',
      `{"k": "${secret}", "x": 1}`,
      { h_threshold: 0.8 },
      '{"k": "<:HIGH-ENTROPY:>", "x": 1}',
    ],
    [
      'all of a line',
      `{"k":"${secret}","x":1}`,
      { h_threshold: 0.6 },
      '{"<:HIGH-ENTROPY:>":"<:HIGH-ENTROPY:>","<:HIGH-ENTROPY:>":"<:HIGH-ENTROPY:>"}',
    ],
    ['a number', '{"k": 9876501234567890123 }', { alphabet: '0123456789' }, '{"k": "<:HIGH-ENTROPY:>" }'],
    ['other text', `k=1 ${secret}}`, { h_threshold: 0.8 }, 'k=1 <:HIGH-ENTROPY:>'],
  ])('keeps it: %s', (_, line, settings, expected) => {
    expect(ways(line, settings)).toEqual([expected]);
    expect(entropyMasker(settings)(line)).toBe(expected);
  });
});

describe('any JSON', () => {
  const RULES = [
    '\\d+',
    '[a-f]+',
    '"[^"]*"',
    '\\w+',
    '[":,]+\\d?',
    '\\\\.',
    'true|null',
    '.{3}',
    '\\s*\\S{2,5}',
  ];
  const json = fc.json({ depthSize: 'small' }).map((text) => text.replaceAll('\n', ' '));
  const settings = fc.constantFrom(
    {},
    { mask_char: '*' },
    { mask_char: '7' },
    { mask_prefix: '', mask_suffix: '' },
  );

  it('stays JSON, whatever is masked, and is the same in every way', () => {
    fc.assert(
      fc.property(fc.constantFrom(...RULES), settings, json, (rule, more, value) => {
        const line = `{"a":${value},"b":[12,"c"]}`;
        const [masked, ...others] = everyWay({ rules: { x: rule }, ...more }, [line]);
        expect(others).toEqual([]);
        expect(Object.keys(JSON.parse(masked as string) as object).length).toBeGreaterThan(0);
      }),
    );
  });
});
