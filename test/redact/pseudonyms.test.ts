import { inspect } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createPseudonyms, createRedactor, type Pseudonyms } from '../../redact/index.ts';
import { propertyRuns } from '../support/property-runs.ts';

const KEY = 'k'.repeat(32);
const EMAIL = 'pii/contact:email';
const forAll = createRedactor({ packs: ['default', 'pii/contact', 'pii/payment', 'pii/person'] });

function inPieces(pseudonyms: Pseudonyms, pieces: readonly string[], json = false): string {
  const stream = pseudonyms.stream({ json });
  return pieces.map((piece) => stream.write(piece)).join('') + stream.end();
}

/** A text, cut at random places. */
const cutting = (text: string) =>
  fc
    .array(fc.nat(text.length), { maxLength: 20 })
    .map((places) =>
      [...places.sort((a, b) => a - b), text.length].map((place, i, all) =>
        text.slice(all[i - 1] ?? 0, place),
      ),
    );

describe('pseudonyms', () => {
  it('are the same for the same value, and others for other values', () => {
    const redactor = forAll.withPseudonyms(createPseudonyms());
    expect(redactor.redact('From ada@example.org to bob@example.net, copy to ada@example.org')).toBe(
      'From <:EMAIL_1:> to <:EMAIL_2:>, copy to <:EMAIL_1:>',
    );
    expect(redactor.redact({ to: ['bob@example.net'] })).toEqual({ to: ['<:EMAIL_2:>'] });
  });

  it('are turned back, and nothing else is', () => {
    const pseudonyms = createPseudonyms();
    forAll.withPseudonyms(pseudonyms).redact('ada@example.org');
    expect(
      pseudonyms.restore('<:EMAIL_1:><:EMAIL_1:> <:EMAIL_2:> <:email_1:> EMAIL_1 <EMAIL_1> <::> <:'),
    ).toBe('ada@example.orgada@example.org <:EMAIL_2:> <:email_1:> EMAIL_1 <EMAIL_1> <::> <:');
    expect(pseudonyms.restore('Markdown: <:EMAIL\\_1:>')).toBe('Markdown: ada@example.org');
  });

  it('stay when a text with them is masked again', () => {
    const redactor = forAll.withPseudonyms(createPseudonyms());
    const masked = redactor.redact('card 4111 1111 1111 1111, mail ada@example.org');
    expect(masked).toBe('card <:CARD_1:>, mail <:EMAIL_1:>');
    expect(redactor.redact(masked)).toBe(masked);
    expect(redactor.redact({ email: '<:EMAIL_1:>', password: '<:EMAIL_1:>' })).toEqual({
      email: '<:EMAIL_1:>',
      password: '<:EMAIL_1:>',
    });
  });

  it('hide a password that only looks like a pseudonym', () => {
    const redactor = forAll.withPseudonyms(createPseudonyms());
    expect(redactor.redact('password=<:hunter2X9:>')).not.toContain('hunter2X9');
  });

  it('are never given to secrets', () => {
    const redactor = forAll.withPseudonyms(createPseudonyms());
    const token = `ghp_${'a1B2c3D4'.repeat(4)}e5F6`;
    expect(redactor.redact(`password=Tr0ub4dor&3 and ${token}`)).toBe(
      'password=<:password:> and <:github-token:>',
    );
    expect(redactor.pseudonyms?.counts.entries).toBe(0);
  });

  it('are for the rules that are listed', () => {
    const pseudonyms = createPseudonyms({ rules: ['CUSTOMER', 'pii/contact:*'] });
    const redactor = createRedactor({
      packs: 'pii/contact',
      rules: { CUSTOMER: 'C-\\d{6}', PIN: 'pin \\d{4}' },
      pseudonyms,
    });
    expect(redactor.redact('C-123456 ada@example.org pin 1234')).toBe('<:CUSTOMER_1:> <:EMAIL_1:> <:PIN:>');
  });

  it('hide a known value where no rule finds it, as a whole word', () => {
    const redactor = forAll.withPseudonyms(createPseudonyms());
    const { last_name: name } = redactor.redact({ first_name: 'Augusta', last_name: 'Lovelace' });
    expect(name).toMatch(/^<:NAME_[12]:>$/);
    expect(redactor.redact('Lovelace wrote. Lovelaces, McLovelace, <:Lovelace:>')).toBe(
      `${name} wrote. Lovelaces, McLovelace, <:${name}:>`,
    );
    expect(redactor.redact([{ Lovelace: ['so Lovelace'] }])).toEqual([{ [name]: [`so ${name}`] }]);
  });

  it('hide the longest known value, if it is a whole word', () => {
    const pseudonyms = createPseudonyms({ rules: '*' });
    for (const value of ['Ada', 'Ada Lovelace', 'Ada Lovelace King', 'Ada Byron'])
      pseudonyms.pseudonymOf(value, 'name');
    expect(pseudonyms.hide('Ada Lovelace Kings, Ada Byron, Ada Lovelace King, Ada')).toBe(
      '<:NAME_2:> Kings, <:NAME_4:>, <:NAME_3:>, <:NAME_1:>',
    );
  });

  it('turn back a value that was found around another one', () => {
    const pseudonyms = createPseudonyms({ rules: '*' });
    const inner = pseudonyms.pseudonymOf('ada@example.org', EMAIL);
    const outer = pseudonyms.pseudonymOf(`Ada ${inner}`, 'pii/person:name');
    expect(pseudonyms.restore(`${outer}`)).toBe('Ada ada@example.org');
  });
});

describe('a full table', () => {
  it.each([
    ['entries', { maxEntries: 2 }],
    ['bytes', { maxBytes: 140 }],
    ['entries, with a key', { maxEntries: 2, key: KEY }],
  ])('keeps what it has, and masks what is new without a way back: %s', (_, options) => {
    const redactor = forAll.withPseudonyms(createPseudonyms(options));
    const [first, second, third, again] = [
      'a@example.org',
      'b@example.org',
      'c@example.org',
      'a@example.org',
    ].map((text) => redactor.redact(text));
    expect(again).toBe(first);
    expect(third).toBe('<:email:>');
    expect(redactor.pseudonyms?.restore(`${first} ${second} ${third}`)).toBe(
      'a@example.org b@example.org <:email:>',
    );
    expect(redactor.pseudonyms?.counts).toMatchObject({ entries: 2, refused: 1 });
  });

  it('does not turn back a pseudonym of another process that it cannot remember', () => {
    const sealed = createPseudonyms({ key: KEY }).pseudonymOf('a@example.org', EMAIL) ?? '';
    const full = createPseudonyms({ key: KEY, maxEntries: 1 });
    full.pseudonymOf('b@example.org', EMAIL);
    expect(full.restore(sealed)).toBe(sealed);
  });

  it('is empty after `clear`, and gives no number again', () => {
    const pseudonyms = createPseudonyms();
    const first = pseudonyms.pseudonymOf('a@example.org', EMAIL) ?? '';
    pseudonyms.clear();
    expect(pseudonyms.counts).toEqual({ entries: 0, bytes: 0, refused: 0 });
    expect(pseudonyms.restore(first)).toBe(first);
    expect(pseudonyms.hide('a@example.org')).toBe('a@example.org');
    expect(pseudonyms.pseudonymOf('b@example.org', EMAIL)).toBe('<:EMAIL_2:>');
  });
});

describe('many values', () => {
  it('that start with the same characters are found in a time that their number does not change', () => {
    const table = createPseudonyms();
    const values = Array.from({ length: 10_000 }, (_, i) => `+49170${1_000_000 + i}`);
    const start = performance.now();
    for (const value of values) table.pseudonymOf(value, 'pii/contact:phone');
    expect(table.hide(values.join(' '))).toMatch(/^<:PHONE_1:> .* <:PHONE_10000:>$/);
    expect(table.hide('+49 '.repeat(25_000))).toBe('+49 '.repeat(25_000));
    expect(performance.now() - start).toBeLessThan(3000);
  });
});

describe('with a key', () => {
  it('are the same in each process with the key, which can turn them back', () => {
    const [one, two] = [
      createPseudonyms({ key: KEY }),
      createPseudonyms({ key: new TextEncoder().encode(KEY) }),
    ];
    const sealed = one.pseudonymOf('ada@example.org', EMAIL) ?? '';
    expect(sealed).toMatch(/^<:EMAIL_[a-z2-7]{50}:>$/);
    expect(two.restore(`to ${sealed}`)).toBe('to ada@example.org');
    expect(two.pseudonymOf('ada@example.org', EMAIL)).toBe(sealed);
    expect(forAll.withPseudonyms(two).redact(`again ${sealed}`)).toBe(`again ${sealed}`);
  });

  it('are left as they are by another key, and if anything in them was changed', () => {
    const sealed = createPseudonyms({ key: KEY }).pseudonymOf('ada@example.org', EMAIL) ?? '';
    expect(createPseudonyms({ key: `${KEY}2` }).restore(sealed)).toBe(sealed);
    const pseudonyms = createPseudonyms({ key: KEY });
    for (let i = 2; i < sealed.length - 2; i++) {
      for (const other of ['a', 'q', '7', 'B', '_']) {
        const changed = sealed.slice(0, i) + other + sealed.slice(i + 1);
        if (changed !== sealed) expect(pseudonyms.restore(changed)).toBe(changed);
      }
    }
    expect(pseudonyms.restore(`${sealed.slice(0, -2)}a:>`)).toContain('<:EMAIL_');
    expect(pseudonyms.counts.entries).toBe(0);
  });

  it('turn back any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 300 }), (value) => {
        const sealed = createPseudonyms({ key: KEY }).pseudonymOf(value, EMAIL);
        expect(createPseudonyms({ key: KEY }).restore(sealed ?? '')).toBe(value);
      }),
      { numRuns: propertyRuns(50) },
    );
  });

  it('are none for what is too long, or no Unicode', () => {
    const pseudonyms = createPseudonyms({ key: KEY });
    expect(pseudonyms.pseudonymOf('a'.repeat(1025), EMAIL)).toBeUndefined();
    expect(pseudonyms.pseudonymOf('\ud800', EMAIL)).toBeUndefined();
  });

  it.each([['short'], [new Uint8Array(31)], [7], [{ length: 40 }]])(
    'refuse the key %j, without naming it',
    (key) => {
      const make = () => createPseudonyms({ key: key as string });
      expect(make).toThrow('createPseudonyms: key must be a string or a Uint8Array of at least 32 bytes');
    },
  );
});

describe('the table', () => {
  it('shows counts only, however it is logged', () => {
    for (const key of [undefined, KEY]) {
      const pseudonyms = createPseudonyms({ key });
      const redactor = forAll.withPseudonyms(pseudonyms);
      redactor.redact('ada@example.org');
      const shown = [
        inspect(pseudonyms, { depth: 9, showHidden: true }),
        inspect({ pseudonyms, redactor }, { depth: 9, showHidden: true }),
        JSON.stringify({ pseudonyms, redactor }),
        String(pseudonyms),
        JSON.stringify(structuredClone({ ...pseudonyms })),
        Object.getOwnPropertyNames(pseudonyms).join(),
      ].join('\n');
      expect(shown).toContain('entries: 1');
      expect(shown).not.toContain('ada@');
      expect(shown).not.toContain(KEY);
    }
  });
});

describe('a text in pieces', () => {
  const value = 'ada "the first" <x>\\ @example.org';
  const pseudonyms = createPseudonyms();
  pseudonyms.pseudonymOf(value, EMAIL);

  it('is restored as the whole text, wherever it is cut', () => {
    const text = 'Dear <:EMAIL_1:>, <<:EMAIL_1:>> <:EMAIL\\_1:> <:EMAIL_12:> <:EMAIL_ 1:> a <: b <:EMAIL_1';
    const whole = pseudonyms.restore(text);
    expect(whole.split(value)).toHaveLength(4);
    fc.assert(
      fc.property(cutting(text), (pieces) => expect(inPieces(pseudonyms, pieces)).toBe(whole)),
      { numRuns: propertyRuns(200) },
    );
    expect(inPieces(pseudonyms, [...text])).toBe(whole);
  });

  it('is JSON after it, wherever it is cut, also with brackets that are escaped', () => {
    const json = String.raw`{"to":"<:EMAIL_1:>","a":"\u003c:EMAIL_1:\u003E","b":"\\u003c:EMAIL_1:>","c":"\\\u003c:EMAIL_1:>","d":"<:EMAIL\\_1:>","e":"\\`;
    const text = `${json}"}`;
    const whole = JSON.parse(pseudonyms.restoreJson(text));
    expect(whole).toEqual({
      to: value,
      a: value,
      b: '\\u003c:EMAIL_1:>',
      c: `\\${value}`,
      d: value,
      e: '\\',
    });
    fc.assert(
      fc.property(cutting(text), (pieces) =>
        expect(JSON.parse(inPieces(pseudonyms, pieces, true))).toEqual(whole),
      ),
      { numRuns: propertyRuns(200) },
    );
  });

  it('is held back only where it may become a pseudonym', () => {
    const held = (text: string, json = false) => {
      const stream = pseudonyms.stream({ json });
      stream.write(text);
      return stream.held;
    };
    expect(['a', 'a <b', '<:E1:', '<:PHONE', '<:EMAIL_2', '<: E'].map((text) => held(text))).toEqual([
      0, 0, 0, 0, 0, 0,
    ]);
    expect(['a <', '<:', '<:EMA', '<:EMAIL_1', '<:EMAIL_1:'].map((text) => held(text))).toEqual([
      1, 2, 5, 9, 10,
    ]);
    expect(['a\\', 'a\\u', '\\u003c', '\\u003d', '\\n'].map((text) => held(text, true))).toEqual([
      1, 2, 6, 0, 0,
    ]);
    expect(createPseudonyms().stream().write('a <')).toBe('a <');
  });

  it('may have many backslashes', () => {
    const table = createPseudonyms();
    table.pseudonymOf('ada', 'pii/person:name');
    const many = '\\\\'.repeat(50_000);
    const start = performance.now();
    expect(table.restoreJson(`${many}\\u003c:NAME_1:>`)).toBe(`${many}ada`);
    const stream = table.stream({ json: true });
    for (let i = 0; i < 100; i++) stream.write(`${many}x`);
    expect(performance.now() - start).toBeLessThan(3000);
  });

  it('never holds more than a pseudonym can be long', () => {
    const stream = createPseudonyms({ key: KEY }).stream({ json: true });
    for (const piece of ['<:A', '\\']) {
      stream.write(piece.repeat(1));
      for (let i = 0; i < 5000; i++) stream.write(piece.slice(-1));
      expect(stream.held).toBeLessThanOrEqual(2000);
    }
  });
});
