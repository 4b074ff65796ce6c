import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readEvents } from '../../plugins/lines/read-events.ts';
import { CONTAINER_FORMATS } from '../../plugins/multiline/container-lines.ts';
import { resolvePlain } from '../../src/config/yaml-node.ts';
import { hasExactNumber, jsonTokens, parseJson } from '../../src/sdk/parse-json.ts';
import { WrittenEvents } from '../../src/sdk/rows.ts';

/** Literals, and what they become. */
const LITERALS: readonly (readonly [literal: string, value: unknown])[] = [
  ['9007199254740991', 9007199254740991],
  ['9007199254740992', '9007199254740992'],
  ['9007199254740993', '9007199254740993'],
  ['-9007199254740993', '-9007199254740993'],
  ['18446744073709551615', '18446744073709551615'],
  ['12345678901234567.5', '12345678901234567.5'],
  ['1046.8333333333335', 1046.8333333333335],
  ['0.1234567890123456789', '0.1234567890123456789'],
  ['0.10', 0.1],
  ['1.50000000000000000000', 1.5],
  ['1e400', '1e400'],
  ['-1E+400', '-1E+400'],
  ['1e-400', '1e-400'],
  ['1e21', 1e21],
  ['1.2e-7', 1.2e-7],
  ['0.000000000000000000012', 1.2e-20],
  ['0e999', 0],
  ['-0', -0],
];

describe('parseJson', () => {
  it.each(LITERALS)('of %s', (literal, value) => {
    expect(parseJson(literal)).toBe(value);
    expect(parseJson(`{"a":[${literal} , {"b":${literal}}]}`)).toEqual({ a: [value, { b: value }] });
  });

  it('leaves strings and keys as they are', () => {
    const json = String.raw`{"9007199254740993":"9007199254740993 \" 9007199254740993,","\\":9007199254740993,"x\\\"":"1e400"}`;
    expect(parseJson(json)).toEqual({
      '9007199254740993': '9007199254740993 " 9007199254740993,',
      '\\': '9007199254740993',
      'x\\"': '1e400',
    });
  });

  it.each(['{"a":12345678901234567890.}', '{12345678901234567890:1}', '[012345678901234567]', '[-]'])(
    'accepts nothing that JSON is not: %s',
    (text) => expect(() => parseJson(text)).toThrow(SyntaxError),
  );

  it('takes strings of any length', () => {
    const text = '\\n"'.repeat(3_000_000);
    expect(parseJson(JSON.stringify({ text, id: 1 }).replace('1}', '9007199254740993}'))).toEqual({
      text,
      id: '9007199254740993',
    });
  });

  it('loses no digit of any number', () => {
    const digits = fc.stringMatching(/^[0-9]{1,20}$/);
    const literal = fc
      .tuple(
        fc.boolean(),
        fc.bigInt({ min: 0n, max: 10n ** 22n }),
        fc.option(digits),
        fc.option(fc.integer({ min: -330, max: 330 })),
      )
      .map(
        ([isNegative, whole, fraction, exponent]) =>
          `${isNegative ? '-' : ''}${whole}${fraction === null ? '' : `.${fraction}`}${exponent === null ? '' : `e${exponent}`}`,
      );
    /** Of the value, as a fraction of whole numbers: exact. */
    const exact = (text: string) => {
      const [, sign, whole = '', fraction = '', exponent = '0'] =
        /^(-?)(\d+)\.?(\d*)(?:e([+-]?\d+))?$/.exec(text) ?? [];
      return (
        BigInt(whole + fraction) *
        10n ** BigInt(1000 + Number(exponent) - fraction.length) *
        (sign === '-' ? -1n : 1n)
      );
    };
    fc.assert(
      fc.property(literal, (text) => {
        const value = parseJson(text);
        if (typeof value === 'string') expect(value).toBe(text);
        else expect(exact(String(value))).toBe(exact(text));
      }),
    );
  });

  it('finds the strings and numbers of any JSON', () => {
    const primitives = (value: unknown): unknown[] =>
      typeof value !== 'object' || value === null
        ? [value]
        : Object.entries(value).flatMap(([key, item]) => [
            ...(Array.isArray(value) ? [] : [key]),
            ...primitives(item),
          ]);
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const tokens = Array.from(jsonTokens(JSON.stringify(value, null, 1)), ({ token }) => token);
        const expected = primitives(JSON.parse(JSON.stringify(value))).filter((one) =>
          /string|number/.test(typeof one),
        );
        expect(tokens.filter((token) => /^["\d-]/.test(token)).map((token) => JSON.parse(token))).toEqual(
          expected,
        );
      }),
    );
  });

  it('says which literals JavaScript has', () => {
    expect(LITERALS.map(([literal]) => hasExactNumber(literal))).toEqual(
      LITERALS.map(([, value]) => typeof value === 'number'),
    );
  });
});

describe('numbers with more digits than JavaScript has keep them', () => {
  const ID = '9007199254740993';
  const json = `{"id":${ID},"list":[0.1234567890123456789]}`;
  const data = { id: ID, list: ['0.1234567890123456789'] };
  const event = `{"timestamp":"2026-01-01T00:00:00.000Z","data":${json}}`;

  it('in messages of nats', () => {
    expect(readEvents(Buffer.from(json), 's', 'json')).toMatchObject([{ data }]);
    for (const text of [event, `${event}\n`, event.replace('.000Z', 'Z')]) {
      const events = readEvents(Buffer.from(text), 's', 'events');
      expect('events' in events ? events.events : events).toMatchObject([{ data }]);
    }
  });

  it('in events that are written already', () => {
    expect(new WrittenEvents(Buffer.from(`${event}\n`), 1).events).toMatchObject([{ data }]);
  });

  it('in lines of Docker, which stay as they are but for `log`', () => {
    const line = (log: string) =>
      `{"a":{"log":"x"}, "log" : ${JSON.stringify(log)},"stream":"stdout","id":${ID},"n":1.0}`;
    expect(CONTAINER_FORMATS.docker.join([line('one "'), line('two\n')])).toBe(line('one "two\n'));
    const escaped = line('a').replace('"log" :', '"l\\u006fg":');
    expect(CONTAINER_FORMATS.docker.join([escaped, line('b')])).toBe(
      escaped.replace('"a","stream', '"ab","stream'),
    );
  });

  it('in YAML', () => {
    const texts = [ID, `-${ID}`, `+${ID}`, '9007199254740991', '0x1F', '007', '1.5'];
    expect(texts.map(resolvePlain)).toEqual([ID, `-${ID}`, `+${ID}`, 9007199254740991, 31, 7, 1.5]);
  });

  it('wherever events are parsed: JSON.parse is called only where there are none', () => {
    const WITHOUT_EVENTS = [
      'operators/masks/checks/tokens.ts',
      'operators/masks/json-lines.ts',
      'operators/masks/redact/decode.ts',
      // Documents that keep their integers.
      'operators/masks/redact/exact-json.ts',
      // What a policy replaces: all else in the line stays as it is written.
      'operators/masks/redact/json-fields.ts',
      // Strings.
      'operators/masks/redact/list-items.ts',
      'operators/masks/redact/text-masker.ts',
      'plugins/http/answer.ts',
      // Strings.
      'plugins/http/byte-writer.ts',
      // Strings, and arrays of bytes.
      'plugins/journal/read-entry.ts',
      'plugins/multiline/container-lines.ts',
      // Its size in memory.
      'plugins/otlp/records.ts',
      'plugins/packs/built-pack.ts',
      'plugins/packs/find-packs.ts',
      'plugins/packs/packs-from-yaml.ts',
      // What audits and reports hold.
      'src/cli/audit-report.ts',
      'src/cli/report.ts',
      'src/sdk/import-module.ts',
      'src/sdk/parse-json.ts',
      // Values that JavaScript wrote: it has all their numbers.
      'src/sdk/written-fields.ts',
      'src/state/journal.ts',
      'src/testing/conformance/checks/examples.ts',
      'src/testing/conformance/checks/forward.ts',
      'src/testing/conformance/checks/masks.ts',
      'src/testing/conformance/checks/rows.ts',
      'src/testing/conformance/checks/state.ts',
      'src/testing/conformance/sample-events.ts',
      'src/testing/conformance/sample-rows.ts',
      'src/testing/faster-forms.ts',
      'src/testing/record/hide-findings.ts',
      'src/testing/record/mask-events.ts',
      'src/testing/record/recorded-expectation.ts',
      'src/testing/rows-of-events.ts',
      'src/testing/yaml/snapshots.ts',
    ];
    const root = join(import.meta.dirname, '../..');
    const found = ['operators', 'plugins', 'src'].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
        .map((name) => join(folder, name))
        .filter((name) => name.endsWith('.ts') && !/\b(?:dist|node_modules)\b/.test(name))
        .filter((name) =>
          /^(?! *(?:\*|\/\/)).*\bJSON\.parse\(/m.test(readFileSync(join(root, name), 'utf8')),
        ),
    );
    expect(found.sort()).toEqual(WITHOUT_EVENTS);
  });
});
