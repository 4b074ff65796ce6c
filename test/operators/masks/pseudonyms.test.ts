import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { from, lastValueFrom, of, toArray } from 'rxjs';
import { pseudonyms, restorePseudonyms } from '../../../operators/index.ts';
import { createPseudonyms } from '../../../redact/index.ts';
import { propertyRuns } from '../../support/property-runs.ts';
import { ONE_FOR_EACH, testOperator } from '../operator-matrix.ts';

const rules = {
  'pii/contact:email': { match: '\\b[a-z]{1,40}@[a-z.]{1,40}', keywords: ['@'] },
  PIN: { match: 'pin=([0-9]{4})', mask: 1, keywords: ['pin'] },
};

testOperator<string | object, string | object>('pseudonyms', {
  operator: () => pseudonyms({ rules, table: createPseudonyms() }),
  throwing: () =>
    pseudonyms({
      rules,
      table: createPseudonyms(),
      onMask: () => {
        throw 'mine';
      },
    }),
  values: {
    x: 'none',
    y: 'to ada@example.org, pin=1234',
    z: { data: { to: ['ada@example.org', 'bob@example.org'] } },
  },
  results: {
    x: 'none',
    y: 'to <:EMAIL_1:>, pin=<:PIN:>',
    z: { data: { to: ['<:EMAIL_1:>', '<:EMAIL_2:>'] } },
  },
  diagrams: ONE_FOR_EACH,
});

const known = () => {
  const table = createPseudonyms();
  table.pseudonymOf('ada@example.org', 'pii/contact:email');
  return table;
};

testOperator<string, string>('restorePseudonyms', {
  operator: () => restorePseudonyms(known()),
  throwing: undefined,
  values: { a: 'to <:EMA', b: 'IL_1:>!', c: '<:', x: 'see' },
  results: { a: 'to ', b: 'ada@example.org!', c: '<:', x: 'see', y: '<:EMA' },
  diagrams: {
    one: `
      source  x|
      result  x|
      subs    ^!`,
    many: `
      source  x-a-b-|
      result  x-a-b-|
      subs    ^-----!`,
    error: `
      source  x-c-#
      result  x---(c#)
      subs    ^---!`,
    'never-ending': `
      source  a-b-c-
      result  a-b---
      subs    ^`,
    'early unsubscribe': `
      source  a-b-c-|
      unsub   ---!
      result  a-b
      subs    ^--!`,
  },
});

describe('pseudonyms and restorePseudonyms', () => {
  it('turn a text back, wherever its pieces end', async () => {
    const text = 'From ada@example.org to bob@example.org: ada@example.org <:OTHER_1:> pin=';
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }), async (lengths) => {
        const table = createPseudonyms();
        const hidden = await lastValueFrom(of(text).pipe(pseudonyms({ rules, table })));
        expect(hidden).not.toMatch(/ada|bob/);
        const pieces: string[] = [];
        for (let at = 0, i = 0; at < hidden.length; i++) {
          const length = lengths[i % lengths.length] as number;
          pieces.push(hidden.slice(at, at + length));
          at += length;
        }
        const back = await lastValueFrom(from(pieces).pipe(restorePseudonyms(table), toArray()));
        expect(back.join('')).toBe(text);
        expect(back).not.toContain('');
      }),
      { numRuns: propertyRuns(50) },
    );
  });

  it('write values into JSON with its escapes', async () => {
    const table = createPseudonyms({ rules: '*' });
    table.pseudonymOf('say "hi"', 'pii/x:quote');
    const json$ = from(['{"a":"<:QUO', 'TE_1:>"}']).pipe(restorePseudonyms(table, { json: true }), toArray());
    expect(JSON.parse((await lastValueFrom(json$)).join(''))).toEqual({ a: 'say "hi"' });
  });

  it('use `replace` for what gets no pseudonym', async () => {
    const options = { rules, table: createPseudonyms(), replace: () => '***' };
    expect(await lastValueFrom(of('pin=1234 ada@example.org').pipe(pseudonyms(options)))).toBe(
      'pin=*** <:EMAIL_1:>',
    );
  });

  it.each([
    [{}, 'pseudonyms: rules'],
    [{ rules }, 'pseudonyms: table'],
    [{ rules, table: createPseudonyms(), tables: 1 }, 'tables'],
  ])('%#: refuse wrong options', (options, message) => {
    expect(() => pseudonyms(options as never)).toThrow(message);
    expect(() => restorePseudonyms(known(), { jsno: true } as never)).toThrow('jsno');
  });
});
