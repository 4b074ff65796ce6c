import { describe, expect, it } from '@jest/globals';
import { firstValueFrom, of } from 'rxjs';
import { redactJson } from '../../../operators/index.ts';
import { parseExact, stringifyExact } from '../../../operators/masks/redact/exact-json.ts';
import { createRedactor, packRules } from '../../../redact/index.ts';
import { ONE_FOR_EACH, testOperator } from '../operator-matrix.ts';

const rules = { PIN: { match: 'pin"?[:=] ?"?([0-9]{4})', mask: 1, keywords: ['pin'] } };
const throwing = () =>
  redactJson({
    rules,
    onMask: () => {
      throw 'mine';
    },
  });

testOperator<string, string>('redactJson', {
  operator: () => redactJson({ rules }),
  // Masking fails closed: what throws while a value is masked costs the value, and not the stream.
  throwing,
  values: { x: '{"user":"ada"}', y: 'no JSON, pin=1234', z: '{"pin":"1234","n":12345678901234567890}' },
  results: {
    x: '{"user":"ada"}',
    y: 'no JSON, pin=<:PIN:>',
    z: '{"pin":"<:PIN:>","n":12345678901234567890}',
  },
  diagrams: ONE_FOR_EACH,
});

describe('redactJson', () => {
  const packs = { rules: packRules() };
  it.each([
    '{"level":30,"msg":"connected","db":{"user":"ada","password":"Tr0ub4dor&3"}}',
    '{"msg":"password: \\"it\\u0027s S0mmer!24\\"\\nnext"}',
    '{"sql":"INSERT INTO users (name, password) VALUES (?, ?)","params":["ada","Tr0ub4dor&3"]}',
    '["Authorization: Bearer abcdefgh12345678ijkl",1,null,true]',
    '"password=Tr0ub4dor&3"',
    '{"body":{"type":"Buffer","data":[112,97,115,115]}}',
  ])('masks %s as a redactor does, and leaves JSON', async (json) => {
    const masked = await firstValueFrom(of(json).pipe(redactJson(packs)));
    expect(masked).toBe(createRedactor().redactJson(json));
    expect(masked).not.toBe(json);
    expect(() => JSON.parse(masked)).not.toThrow();
  });

  it('keeps the digits of integers beside a long string', () => {
    const json = `{"text":"${'x'.repeat(2 ** 24)}","n":12345678901234567890}`;
    expect(stringifyExact(parseExact(json)) === json).toBe(true);
  });
});
