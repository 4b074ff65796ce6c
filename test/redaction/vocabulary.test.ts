import { describe, expect, it } from '@jest/globals';
import { CHECKS } from '../../operators/masks/checks/index.ts';
import { costOf } from '../../operators/masks/expression/cost.ts';
import { type FoundName, KeyNames, literalsOf } from '../../operators/masks/keyed/key-names.ts';
import { compileNotation } from '../../operators/masks/keyed/keyed-finder.ts';
import { VALUE_READERS } from '../../operators/masks/keyed/value-readers.ts';
import type { KeyName } from '../../operators/masks/keyed/vocabulary.ts';
import { hasKeyword } from '../../operators/masks/search/keyword.ts';
import { LiteralIndex } from '../../operators/masks/search/literal-index.ts';
import { createRedactor } from '../../plugins/masks/redact-masking.ts';
import { loadPack } from '../../plugins/packs/load-packs.ts';
import { VocabularySchema, type WrittenPack } from '../../plugins/packs/pack-schema.ts';
import { RedactProcessConfig } from '../../plugins/process/redact.ts';

/*
 * What the packs secrets/context and pii/person are made of: names, notations and guards, each with its own examples. Rules
 * are made of them by code, which is tested here as well.
 */

const maskedBy = (pack: string) => {
  const redactor = createRedactor(
    RedactProcessConfig.parse({ plugin: 'redact', packs: [pack], decode: false }),
    { now: () => 0, onMask: () => {} },
  );
  return (text: string) => redactor.maskText(text).replace(/<:[\w-]+:>/g, '<:>');
};

/** Names of each kind, in several styles. */
const KEYS: Readonly<Record<string, readonly string[]>> = {
  password: ['password', 'DB_PASSWORD', 'dbPassword'],
  secret: ['secret', 'client_secret'],
  token: ['api_key', 'accessToken', 'x-api-key'],
  community: ['snmp_community'],
  phrase: ['mnemonic'],
  chosen: ['community'],
  command: [''],
  call: [''],
  directive: [''],
  request: [''],
  name: ['first_name', 'lastName', 'CUSTOMER_NAME'],
  party: ['cardholder'],
  object: ['customer'],
  name_object: ['name'],
  street: ['street', 'address_line1'],
  birth: ['dob', 'dateOfBirth'],
  document: ['passport_no', 'driverLicense'],
  number: ['ssn', 'tax-id'],
  account: ['account_number'],
  card: ['card_number'],
  phone: ['mobile', 'home_phone'],
};
/** Values that every check of a kind accepts. */
const SECRETS = ['Zebr4-Lamp9kQ', 'kD83mfLQ09xZpa7Qw', 'zCq9*gh7Qa~K3'];
const VALUES: Readonly<Record<string, readonly string[]>> = {
  name: ['Anna', 'Zofia'],
  party: ['Anna Lindqvist', 'Jean-Luc de la Tour'],
  object: ['Anna Lindqvist'],
  name_object: ['Anna'],
  street: ['Lindenweg 17'],
  birth: ['1984-03-12', '12.03.1984'],
  document: ['C01X00T47', 'AB1234567'],
  number: ['123456789'],
  account: ['1234567890'],
  card: ['4556 7375 8689 9851'],
  phone: ['0171 1234567', '+33612345678'],
};
/** Kinds of names that are written in every notation which names no kinds, and notations that some of them are not written in. */
const PACKS: readonly (readonly [pack: string, kinds: readonly string[]])[] = [
  ['secrets/context', ['password', 'secret', 'token']],
  ['pii/person', ['name', 'street', 'birth', 'document', 'account', 'phone']],
];
/** Whatever code or words stand in some notations is no key with any prefix. */
const PLAIN_KEYS: Readonly<Record<string, string>> = {
  bare: 'password',
  near: 'password',
  called: 'password',
  'changed-from': 'password',
  'changed-to': 'password',
  setter: 'password',
  'wrapped-alone': 'password',
  structure: 'password',
  'date-in-sentence': 'born',
};

describe.each(PACKS)('%s', (pack, usualKinds) => {
  const masked = maskedBy(pack);
  const vocabulary = loadPack(pack).vocabulary as NonNullable<WrittenPack['vocabulary']>;
  const { names, notations, guards, kinds, readers = {} } = vocabulary;

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

    it.each(names.filter(({ next }) => next === undefined))(
      '$name has one of its literals in each key',
      (entry) => {
        const literals = literalsOf([entry]);
        const texts = entry.keys.map((key) => key + (entry.opens?.[0] ?? ''));
        const without = texts.filter(
          (text) => !literals.some((literal) => hasKeyword(text, text.toLowerCase(), literal)),
        );
        expect(without).toEqual([]);
      },
    );

    it('are found where their literals say that they may start', () => {
      const search = new KeyNames(names, vocabulary);
      const index = new LiteralIndex([literalsOf(names)]);
      const texts = names.flatMap(({ keys, opens = [''] }) =>
        keys.flatMap((key) => [
          `my_${key}${opens[0]} `,
          `  x ${key.toUpperCase()}${opens[0]} `,
          `${key} = 7, ${key}: `,
        ]),
      );
      for (const text of texts) {
        const found = search.in(text, index.candidatesIn(text).places).map(({ start, end }) => [start, end]);
        // Others have no literal of theirs after them, as the name of a function without a bracket.
        const isOpened = ({ entry }: FoundName) => entry.opens === undefined && entry.next === undefined;
        const all = search.in(`${text} `).filter(isOpened);
        expect({ text, found }).toEqual({
          text,
          found: expect.arrayContaining(all.map(({ start, end }) => [start, end])),
        });
      }
    });

    it('have a kind with checks and readers that exist', () => {
      expect(names.filter(({ kind }) => !Object.hasOwn(kinds, kind))).toEqual([]);
      const checks = Object.values(kinds).flatMap((of) => Object.values(of));
      expect(checks.filter((check) => !Object.hasOwn(CHECKS, check))).toEqual([]);
      const ends = Object.values(readers).flatMap((of) => [...Object.keys(of), ...Object.values(of)]);
      expect(ends.filter((reader) => !Object.hasOwn(VALUE_READERS, reader))).toEqual([]);
    });
  });

  describe('notations', () => {
    it.each(notations)('$notation', (notation) => {
      const samples = (notation.kinds ?? usualKinds).flatMap((kind) => {
        const plain = PLAIN_KEYS[notation.notation];
        const keys = (plain === undefined ? KEYS[kind] : [plain]) ?? [];
        const isExcept = (key: string) =>
          names.some((name) => name.except?.includes(notation.notation) && isKey(key, [name]));
        return keys.flatMap((key) =>
          isExcept(key) ? [] : (VALUES[kind] ?? SECRETS).map((value) => [key, value] as const),
        );
      });
      for (const [key, value] of samples) {
        const isEncoded = notation.ends === 'query' || notation.ends === 'percent';
        const fill = (template: string, by: string) =>
          template.replaceAll('KEY', key).replace(/VALUE\b/g, isEncoded ? by.replaceAll(' ', '%20') : by);
        const { example, miss } = notation;
        if (example.includes('VALUE')) expect(masked(fill(example, value))).toBe(fill(example, '<:>'));
        else expect(masked(fill(example, value))).toContain('<:>');
        expect(masked(fill(miss, value))).toBe(fill(miss, value));
      }
    });

    it('have kinds that exist', () => {
      const known = new Set(Object.keys(kinds));
      const named = notations.flatMap((notation) => notation.kinds ?? []);
      expect(named.filter((kind) => !known.has(kind))).toEqual([]);
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
  });

  describe('guards', () => {
    it.each(guards)('$guard', ({ example, miss }) => {
      expect(masked(example)).toBe(example);
      expect(masked(miss)).not.toBe(miss);
    });

    it('ordinary words are no values, in any case', () => {
      const [first = '', second = ''] =
        pack === 'pii/person' ? ['first_name', 'city'] : ['password', 'token'];
      for (const word of vocabulary.words) {
        for (const text of [`${first}=${word}`, `"${second}":"${word.toUpperCase()}"`])
          expect(masked(text)).toBe(text);
      }
    });
  });
});

describe('a notation', () => {
  it.each([
    [{ notation: 'x', form: 'KEY VALUES'.replace('VALUES', '') }, 'the notation x has a wrong form'],
    [{ notation: 'x', form: 'KEY=VALUE', ends: 'nowhere' }, 'the notation x has a wrong ends'],
  ])('%j is refused', (notation, message) => {
    expect(() => compileNotation(notation)).toThrow(message);
  });
});

it.each([
  ['an e-mail', /spaces or hyphens/],
  ['e mail', /at least two characters/],
])('the name %j is refused', (name, message) => {
  const vocabulary = loadPack('secrets/context').vocabulary as NonNullable<WrittenPack['vocabulary']>;
  const entry = { ...vocabulary.names[0], name, kind: 'password', keys: ['x'], not: ['y'] };
  const { error } = VocabularySchema.safeParse({ ...vocabulary, names: [entry] });
  expect(error?.message).toMatch(message);
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
    ['person', '«Anna» Nachname: Weber'],
    ['person', '«Anna Weber», seat 12C'],
    ['person', '«Jean-Luc de la Tour» logged in'],
    ['person', '«Weber, Anna»'],
    ['person', '«Weber/Anna» MR'],
    ['person', '«Anna»&lastName=Weber'],
    ['person', '«Anna»\\nLast name: Weber'],
    ['postal', '«12 rue des Tilleuls, 75001 Paris»'],
    ['postal', '«Lindenweg 5, 8010 Graz» Ort: Graz'],
    ['postal', '«12 Elm Street», city=Graz'],
    ['postal', '«12 Elm Street» was removed'],
    ['date', '«12 March 1984», sex'],
    ['date', '«1984-03-12T00:00:00Z» x'],
    ['number', '«123 456 7890» x'],
    ['number', '«AB1234567», expires 2031'],
    ['cells', '«Anna Weber» | x'],
    ['words_of_line', '«Anna Weber»'],
  ];

  it.each(READ)('%s: %s', (reader, marked) => {
    const text = marked.replace(/[«»]/g, '');
    const [start, end] = [marked.indexOf('«'), marked.indexOf('»') - 1];
    const [place] = (VALUE_READERS[reader] as NonNullable<(typeof VALUE_READERS)[string]>)(text, 0);
    expect(place && text.slice(place.start, place.end)).toBe(text.slice(start, end));
    expect(place?.start).toBe(start);
  });

  it('is the same for all names of secrets', () => {
    const masked = maskedBy('secrets/context');
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
