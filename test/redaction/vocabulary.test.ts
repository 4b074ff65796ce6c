import { describe, expect, it } from '@jest/globals';
import { costOf } from '../../operators/masks/expression/cost.ts';
import { KeyNames, literalsOf } from '../../operators/masks/keyed/key-names.ts';
import { compileNotation } from '../../operators/masks/keyed/keyed-finder.ts';
import { VALUE_READERS } from '../../operators/masks/keyed/value-readers.ts';
import type { KeyName } from '../../operators/masks/keyed/vocabulary.ts';
import { createRedactor } from '../../plugins/masks/redact-masking.ts';
import { loadPack } from '../../plugins/packs/load-packs.ts';
import type { WrittenPack } from '../../plugins/packs/pack-schema.ts';
import { RedactProcessConfig } from '../../plugins/process/redact.ts';

/*
 * What the pack secrets/context is made of: names, notations and guards, each with its own examples. Rules are made of them
 * by code, which is tested here as well.
 */

const vocabulary = loadPack('secrets/context').vocabulary as NonNullable<WrittenPack['vocabulary']>;
const { names, notations, guards, kinds } = vocabulary;

const redactor = createRedactor(
  RedactProcessConfig.parse({ plugin: 'redact', packs: ['secrets/context'], decode: false }),
  {
    now: () => 0,
    onMask: () => {},
  },
);
const masked = (text: string) => redactor.maskText(text).replace(/<:[\w-]+:>/g, '<:>');

/** Whether a key ends with a name, apart from suffixes. */
function isKey(key: string, entries: readonly KeyName[]): boolean {
  const search = new KeyNames(entries, vocabulary);
  return search.in(key).some((name) => search.endsOf(key, name).includes(key.length));
}

describe('names', () => {
  it.each(names)('$kind: $name', (entry) => {
    expect(entry.keys.filter((key) => !isKey(key, [entry]))).toEqual([]);
    expect(entry.not.filter((key) => isKey(key, [entry]))).toEqual([]);
  });

  it.each(names)('$name has one of its literals in each key', (entry) => {
    const literals = literalsOf([entry]);
    const texts = entry.keys.map((key) => key.toLowerCase() + (entry.opens?.[0] ?? ''));
    const without = texts.filter((text) => !literals.some((literal) => text.includes(literal)));
    expect(without).toEqual([]);
  });

  it('have a kind with checks', () => {
    expect(names.filter(({ kind }) => !Object.hasOwn(kinds, kind))).toEqual([]);
  });
});

/** Names of each kind, in several styles, and values that every check accepts. */
const KEYS: Readonly<Record<string, readonly string[]>> = {
  password: ['password', 'DB_PASSWORD', 'dbPassword'],
  secret: ['secret', 'client_secret'],
  token: ['api_key', 'accessToken', 'x-api-key'],
  community: ['snmp_community'],
  phrase: ['mnemonic'],
  command: [''],
  call: [''],
};
const VALUES = ['Zebr4-Lamp9kQ', 'kD83mfLQ09xZpa7Qw', 'zCq9*gh7Qa~K3'];
/** Whatever code or words stand in some notations is no key with any prefix. */
const PLAIN_KEYS = new Set(['bare', 'called', 'changed-from', 'changed-to', 'setter']);

describe('notations', () => {
  it.each(notations)('$notation', (notation) => {
    const allowed = notation.kinds ?? ['password', 'secret', 'token'];
    for (const kind of allowed) {
      for (const key of PLAIN_KEYS.has(notation.notation) ? ['password'] : (KEYS[kind] ?? [])) {
        for (const value of notation.example.includes('VALUE') ? VALUES : ['']) {
          const fill = (template: string) => template.replaceAll('KEY', key).replace(/VALUE\b/, value);
          const whole = notation.example.replaceAll('KEY', key).replace(/VALUE\b/, '<:>');
          if (value === '') expect(masked(fill(notation.example))).toContain('<:>');
          else expect(masked(fill(notation.example))).toBe(whole);
          expect(masked(fill(notation.miss))).toBe(fill(notation.miss));
        }
      }
    }
  });

  it('have kinds and guards that exist', () => {
    const known = new Set(Object.keys(kinds));
    expect(notations.flatMap((notation) => notation.kinds ?? []).filter((kind) => !known.has(kind))).toEqual(
      [],
    );
  });

  it.each(notations)('$notation takes time in proportion to the length of a text', (notation) => {
    const { before, between, after } = compileNotation(notation);
    for (const expression of [before, between, after]) {
      if (expression === undefined) continue;
      const { ambiguity, degree } = costOf(new RegExp(`^(?:${expression.source})`, 'i'));
      expect({ expression, ambiguity, isLinear: degree <= 1 }).toEqual({
        expression,
        ambiguity: undefined,
        isLinear: true,
      });
    }
  });

  it.each([
    [{ notation: 'x', form: 'KEY VALUES'.replace('VALUES', '') }, 'the notation x has a wrong form'],
    [{ notation: 'x', form: 'KEY=VALUE', ends: 'nowhere' }, 'the notation x has a wrong ends'],
  ])('%j is refused', (notation, message) => {
    expect(() => compileNotation(notation)).toThrow(message);
  });
});

describe('guards', () => {
  it.each(guards)('$guard', ({ example, miss }) => {
    expect(masked(example)).toBe(example);
    expect(masked(miss)).not.toBe(miss);
  });

  it('ordinary words are no secrets, in any case', () => {
    for (const word of vocabulary.words) {
      for (const text of [`password=${word}`, `"token":"${word.toUpperCase()}"`])
        expect(masked(text)).toBe(text);
    }
  });
});

describe('the end of a value', () => {
  const READ: readonly (readonly [reader: string, text: string])[] = [
    ['literal', '«abc»'],
    ['literal', '«abc», next'],
    ['literal', '«abc».'],
    ['literal', '«a.b:c»: next'],
    ['literal', '«zCq9*gh#ezFj» next'],
    ['literal', '«C3r%U9#p!Z»'],
    ['literal', '«a(b)c)» next'],
    ['literal', '«a;b2;c3»;user=x'],
    ['literal', '"«a b\\"c»" next'],
    ['literal', "'«it''s»' next"],
    ['literal', '`«a b»` next'],
    ['literal', 'b"«abc»"'],
    ['literal', '&quot;«a b»&quot;'],
    ['literal', '<«abc7»>'],
    ['literal', '«abc»</p>'],
    ['quoted', '"«a b»"'],
    ['query', '«a%20b;c»'.replace(';', ':')],
    ['query', '«abc»&x=1'],
    ['query', '«abc»#top'],
    ['element', '«a b c» </x>'],
    ['tagged', '«abc»</x>'],
    ['cell', '«abc» | x'],
    ['told', '«abc».'],
    ['percent', '«a%2Bb»%26x'],
    ['squared', '«abc(d)»] x'],
    ['round', '«abc[d]») x'],
  ];

  it.each(READ)('%s: %s', (reader, marked) => {
    const text = marked.replace(/[«»]/g, '');
    const [start, end] = [marked.indexOf('«'), marked.indexOf('»') - 1];
    const [place] = (VALUE_READERS[reader] as NonNullable<(typeof VALUE_READERS)[string]>)(text, 0);
    expect(place && text.slice(place.start, place.end)).toBe(text.slice(start, end));
    expect(place?.start).toBe(start);
  });

  it('is the same for all names', () => {
    const values = [
      'zCq9*gh#ezFj',
      'C3r%U9#p!Z',
      'H5l@N8!9p',
      'a9Kq7,bQ7xZ2wM4',
      'Kp(w)d<9>|xQ7',
      'x7=Qa+/9==',
    ];
    for (const value of values) {
      for (const key of ['password', 'secret', 'token'].flatMap((kind) => KEYS[kind] ?? [])) {
        for (const line of [
          `${key}=${value}`,
          `${key}: ${value}`,
          `{"${key}":"${value}"}`,
          `export ${key}='${value}'`,
        ]) {
          expect(masked(line)).toBe(line.replace(value, '<:>'));
        }
      }
    }
  });
});
