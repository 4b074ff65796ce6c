import { describe, expect, it } from '@jest/globals';
import { type ByteMask, ByteMasks } from '../../../../operators/masks/bytes/byte-masks.ts';
import { compileMaskRules } from '../../../../operators/masks/compile-mask-rules.ts';
import { type RegexMaskOptions, regexMaskRules } from '../../../../operators/masks/regex-mask-rules.ts';
import { searchOfLines } from '../../../../operators/masks/search/plan.ts';

function ruleOf(expression: RegExp, replacement = '<:KEY:>'): ByteMask {
  const bytes = searchOfLines(expression)?.bytes();
  if (bytes === undefined) throw new Error(`${expression} cannot be searched for in bytes`);
  return { replacement, ...bytes };
}

function masksOf(...rules: readonly (ByteMask | undefined)[]): ByteMasks {
  const masks = ByteMasks.of(rules);
  if (masks === undefined) throw new Error('none of the rules can be had in bytes');
  return masks;
}

describe('ByteMasks', () => {
  it('leaves a text to others that is not all of ASCII, or longer than its memory', () => {
    const masks = masksOf(ruleOf(/KEY[0-9]+/g));
    expect([masks.hold('KEY1').mask(0), masks.text]).toEqual([1, '<:KEY:>']);
    for (const text of ['KEY1 é', 'KEY1 \ud83d', 'KEY1 😀', 'KEY1 \u2028', 'KEY1'.repeat(60_000)])
      expect([masks.hold(text).mask(0), masks.text]).toEqual([-1, text]);
  });

  it('leaves a rule to others that would make a text longer than its memory', () => {
    const masks = masksOf(ruleOf(/a1/g, 'b'), ruleOf(/@k/g, 'x'.repeat(1000)), ruleOf(/b/g, 'c'));
    const counts = [0, 1, 2].map((rule) => masks.hold('a1 @k'.repeat(1000)) && masks.mask(rule));
    expect(counts).toEqual([1000, -1, 0]);
    masks.hold('a1 @k'.repeat(1000));
    expect([masks.mask(0), masks.mask(1), masks.mask(2)]).toEqual([1000, -1, 1000]);
    expect(masks.text).toBe('c @k'.repeat(1000));
    masks.hold('a1 @k');
    expect([masks.mask(0), masks.mask(1), masks.text]).toEqual([1, 1, `b ${'x'.repeat(1000)}`]);
  });

  it('goes on with what others made of the text', () => {
    const masks = masksOf(ruleOf(/KEY[0-9]+/g, '<1>'), undefined, ruleOf(/@[a-z]+/g, '<2>'));
    masks.hold('KEY1 @abc');
    expect([masks.mask(0), masks.mask(1), masks.text]).toEqual([1, -1, '<1> @abc']);
    masks.text = '@de @abc';
    expect([masks.mask(2), masks.text]).toEqual([2, '<2> <2>']);
    masks.text = 'é @abc';
    expect([masks.mask(2), masks.text]).toEqual([-1, 'é @abc']);
  });

  it('takes turns with others', () => {
    const masks = [/KEY[0-9]+/g, /@[a-z]+/g, /KEY/g].map((expression, i) =>
      masksOf(ruleOf(expression, `<${i}>`)),
    );
    const all = () => masks.map((mask) => mask.hold('KEY1 @abc').mask(0) === 1 && mask.text);
    expect([all(), all()]).toEqual([
      ['<0> @abc', 'KEY1 <1>', '<2>1 @abc'],
      ['<0> @abc', 'KEY1 <1>', '<2>1 @abc'],
    ]);
  });

  it('has as many rules as there is room for, and none with too many states', () => {
    const many = Array.from({ length: 400 }, (_, i) => ruleOf(new RegExp(`key${i}=`, 'g')));
    const masks = masksOf(...many);
    const found = many.map((_, i) => masks.hold(`key${i}=`).mask(i));
    expect(found).toEqual([...found.filter((one) => one === 1), ...found.filter((one) => one === -1)]);
    expect([found.includes(1), found.includes(-1)]).toEqual([true, true]);
    // After each character, which of the last twelve were an `a` is a state of its own.
    expect(
      masksOf(ruleOf(/@[ab]*a[ab]{11}/g))
        .hold('@abbbbbbbbbbbb')
        .mask(0),
    ).toBe(-1);
  });

  it.each(['(a)\\1@', '@(?=b)', '(?<!a)@', '@(?:a?)*b', '@a{0,301}b', '@(?:a{1,99}){99}'])(
    'is not what masks with %s, which needs the engine',
    (source) => {
      expect(searchOfLines(new RegExp(source, 'g'))?.bytes()).toBeUndefined();
    },
  );
});

describe('regexMasks, of many lines', () => {
  const rules = { KEY: 'KEY::[0-9]+', MAIL: '[a-z]+@[a-z]+' };
  const lines = ['KEY::12 a@b', 'nothing', 'é a@b KEY::3', 'a@b'];
  /** As long a text as is masked as bytes, if it can be. */
  const often = (some: readonly string[]) => Array.from({ length: 1000 }, () => some.join('\n')).join('\n');

  /** Past the first few, which are left to the engine. */
  const masksOfMany = (options: RegexMaskOptions) => {
    const many = compileMaskRules(regexMaskRules(options), options).many();
    for (let i = 0; i < 20; i++) many?.map('');
    return (text: string) => many?.map(text);
  };

  it.each([
    ['fixed', {}, '<:KEY:> <:MAIL:>|nothing|é <:MAIL:> <:KEY:>|<:MAIL:>'],
    ['made to length', { mask_char: '*' }, '******* ***|nothing|é *** ******|***'],
    ['beyond ASCII', { mask_prefix: 'é' }, 'éKEY:> éMAIL:>|nothing|é éMAIL:> éKEY:>|éMAIL:>'],
  ])('masks with replacements that are %s what is of ASCII and what is not', (_, options, wanted) => {
    const mask = masksOfMany({ rules, ...options });
    expect(lines.map(mask).join('|')).toBe(wanted);
    const masked = wanted.split('|');
    expect(mask(often(lines))).toBe(often(masked));
    expect(mask(often(lines.toSpliced(2, 1)))).toBe(often(masked.toSpliced(2, 1)));
  });

  it('masks by rules that can be had in bytes and others, in turn', () => {
    const mask = masksOfMany({
      rules: {
        KEY: 'KEY::[0-9]+',
        AHEAD: 'a(?=@)',
        MAIL: '[a-z:<>A-Z]+@[a-z]+',
        NAME: '(?<=<:)MAIL',
        LAST: '<:<:',
      },
    });
    expect(mask(often(['KEY::1 a@b', 'c']))).toBe(often(['<:KEY:> <:LAST:>NAME:>:>', 'c']));
  });

  it('masks by rules that share a search what an earlier one has made in bytes', () => {
    const mask = masksOfMany({
      rules: {
        AWS: 'AKIA[0-9]+',
        'KEY::1': '[a-z]+@[a-z]+',
        KEY: 'KEY::[0-9]',
        TOKEN: 'TOKEN=[a-z]+',
        PIN: 'PIN:[0-9]',
      },
    });
    expect(mask('a@b\nc')).toBe('<:<:KEY:>:>\nc');
    expect(mask(often(['a@b', 'nothing']))).toBe(often(['<:<:KEY:>:>', 'nothing']));
  });

  it('gives what it made of a text, and its counts, whatever masks another one while it tells of them', () => {
    const counts: string[] = [];
    let another: string | undefined = '';
    const mask = masksOfMany({
      rules,
      onMask: (rule, count) => {
        counts.push(`${rule} ${count}`);
        if (another !== '') return;
        another = undefined;
        another = mask(often(['KEY::4 KEY::5']));
      },
    });
    expect(mask(often(['a@b KEY::1']))).toBe(often(['<:MAIL:> <:KEY:>']));
    expect(another).toBe(often(['<:KEY:> <:KEY:>']));
    expect(counts).toEqual(['KEY 1000', 'KEY 2000', 'MAIL 1000']);
  });
});
