import { describe, expect, it } from '@jest/globals';
import { type ByteMask, byteMasks } from '../../../operators/bytes/byte-masks.ts';
import { planSearchOfLines } from '../../../operators/regex/plan.ts';
import { regexMasks } from '../../../operators/regex-mask.ts';

function ruleOf(expression: RegExp, replacement = '<:KEY:>'): ByteMask {
  const bytes = planSearchOfLines(expression)?.bytes;
  if (bytes === undefined) throw new Error(`${expression} cannot be searched for in bytes`);
  return { name: String(expression), replacement, ...bytes };
}

describe('byteMasks', () => {
  it('leaves a text to others that is not all of ASCII, or longer than its memory', () => {
    const mask = byteMasks([ruleOf(/KEY[0-9]+/g)]);
    expect(mask?.('KEY1', undefined)).toBe('<:KEY:>');
    for (const other of ['é', '\ud83d', '😀', '\u2028'])
      expect(mask?.(`KEY1 ${other}`, undefined)).toBeUndefined();
    expect(mask?.('KEY1'.repeat(60_000), undefined)).toBeUndefined();
  });

  it('leaves a text to others that would become longer than its memory, and counts nothing of it', () => {
    const counts: unknown[] = [];
    const mask = byteMasks([ruleOf(/a1/g, 'b'), ruleOf(/@k/g, 'x'.repeat(1000))]);
    const onMask = (...count: [string, number]) => counts.push(count);
    expect(mask?.('a1 @k'.repeat(1000), onMask)).toBeUndefined();
    expect(counts).toEqual([]);
    expect(mask?.('a1 @k', onMask)).toBe(`b ${'x'.repeat(1000)}`);
  });

  it('takes turns with others', () => {
    const masks = [/KEY[0-9]+/g, /@[a-z]+/g, /KEY/g].map((expression, i) =>
      byteMasks([ruleOf(expression, `<${i}>`)]),
    );
    const all = () => masks.map((mask) => mask?.('KEY1 @abc', undefined));
    expect([all(), all()]).toEqual([
      ['<0> @abc', 'KEY1 <1>', '<2>1 @abc'],
      ['<0> @abc', 'KEY1 <1>', '<2>1 @abc'],
    ]);
  });

  it('gives what it made of a text, and its counts, whatever masks another one while it tells of them', () => {
    const counts: unknown[] = [];
    const mask = byteMasks([ruleOf(/KEY[0-9]+/g), ruleOf(/@[a-z]+/g, '<@>')]);
    const maskAnother = (...count: [string, number]) => {
      counts.push(count);
      expect(mask?.('another KEY4 and KEY5', undefined)).toBe('another <:KEY:> and <:KEY:>');
    };
    expect(mask?.('@abc KEY1', maskAnother)).toBe('<@> <:KEY:>');
    expect(counts).toEqual([
      ['/KEY[0-9]+/g', 1],
      ['/@[a-z]+/g', 1],
    ]);
  });

  it('cannot be had for rules that are too many or have too many states', () => {
    expect(
      byteMasks(Array.from({ length: 400 }, (_, i) => ruleOf(new RegExp(`key${i}=`, 'g')))),
    ).toBeUndefined();
    // After each character, which of the last twelve were an `a` is a state of its own.
    expect(byteMasks([ruleOf(/@[ab]*a[ab]{11}/g)])).toBeUndefined();
  });

  it.each(['(a)\\1@', '@(?=b)', '(?<!a)@', '@(?:a?)*b', '@a{0,301}b', '@(?:a{1,99}){99}'])(
    'is not what masks with %s, which needs the engine',
    (source) => {
      expect(planSearchOfLines(new RegExp(source, 'g'))?.bytes).toBeUndefined();
    },
  );
});

describe('regexMasks, of many lines', () => {
  const rules = { KEY: 'KEY::[0-9]+', MAIL: '[a-z]+@[a-z]+' };
  const lines = ['KEY::12 a@b', 'nothing', 'é a@b KEY::3', 'a@b'];
  /** As long a text as is masked as bytes, if it can be. */
  const often = (some: readonly string[]) => Array.from({ length: 1000 }, () => some.join('\n')).join('\n');

  it.each([
    ['fixed', {}, '<:KEY:> <:MAIL:>|nothing|é <:MAIL:> <:KEY:>|<:MAIL:>'],
    ['made to length', { mask_char: '*' }, '******* ***|nothing|é *** ******|***'],
    ['beyond ASCII', { mask_prefix: 'é' }, 'éKEY:> éMAIL:>|nothing|é éMAIL:> éKEY:>|éMAIL:>'],
  ])('masks with replacements that are %s what is of ASCII and what is not', (_, options, wanted) => {
    const many = regexMasks({ rules, ...options }).many();
    // The first few are left to the engine.
    for (let i = 0; i < 20; i++) many?.map('');
    expect(lines.map((line) => many?.map(line)).join('|')).toBe(wanted);
    const masked = wanted.split('|');
    expect(many?.map(often(lines))).toBe(often(masked));
    expect(many?.map(often(lines.toSpliced(2, 1)))).toBe(often(masked.toSpliced(2, 1)));
  });
});
