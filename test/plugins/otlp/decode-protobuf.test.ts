import { isUtf8 } from 'node:buffer';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { decodeJson } from '../../../plugins/otlp/decode-json.ts';
import { decodeProtobuf } from '../../../plugins/otlp/decode-protobuf.ts';
import { type Field, LOGS, type Message, RESOURCE, SCOPE, TRACES } from '../../../plugins/otlp/messages.ts';
import { propertyRuns } from '../../support/property-runs.ts';
import { all, bytes, double, fixed32, fixed64, int, keyValue, string } from '../../support/protobuf-bytes.ts';

const anySize = () => {};

/** The same in protobuf and in OTLP's JSON. */
interface Both {
  readonly wire: Buffer;
  readonly json: unknown;
}

const special = fc.constantFrom(
  '"',
  '\\',
  '/',
  '\n',
  '\u0001',
  '\u001f',
  ' ',
  '\u007f',
  '\u2028',
  'é',
  '€',
  '😀',
);
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.oneof(special, fc.constant('a')) }),
);
const name = fc.oneof(text, fc.constantFrom('', 'a', 'b', '__proto__', '1'));
const wordWith = (signed: boolean) =>
  fc.oneof(
    fc.bigInt(signed ? { min: -(2n ** 63n), max: 2n ** 63n - 1n } : { min: 0n, max: 2n ** 64n - 1n }),
    fc.bigInt({ min: signed ? -300n : 0n, max: 300n }),
  );
const uint32 = fc.oneof(fc.nat(300), fc.integer({ min: 0, max: 2 ** 32 - 1 }));
const binary = fc.uint8Array({ maxLength: 20 }).map((each) => Buffer.from(each));

const base64 = (value: Buffer) => value.toString('base64');
const doubleJson = (value: number) => (Number.isFinite(value) ? value : String(value));

const { any, attribute } = fc.letrec<{ any: Both; attribute: Both }>((tie) => {
  const list = (item: fc.Arbitrary<Both>) => fc.array(item, { maxLength: 4 });
  const items = (values: readonly Both[]) => ({ values: values.map(({ json }) => json) });
  const wires = (values: readonly Both[]) => all(...values.map(({ wire }) => bytes(1, wire)));
  return {
    any: fc.oneof(
      { maxDepth: 4 },
      text.map((value): Both => ({ wire: string(value), json: { stringValue: value } })),
      fc
        .oneof(
          fc.constant(0n),
          fc.constant(1n),
          fc.bigInt({ min: 1n, max: 2n ** 64n - 1n }),
          fc.constant(2n ** 32n),
        )
        .map((value): Both => ({ wire: int(2, value), json: { boolValue: value !== 0n } })),
      wordWith(true).map((value): Both => ({ wire: int(3, value), json: { intValue: String(value) } })),
      fc
        .double()
        .map((value): Both => ({ wire: double(4, value), json: { doubleValue: doubleJson(value) } })),
      binary.map((value): Both => ({ wire: bytes(7, value), json: { bytesValue: base64(value) } })),
      fc.constant<Both>({ wire: Buffer.alloc(0), json: {} }),
      list(tie('any')).map((of): Both => ({ wire: bytes(5, wires(of)), json: { arrayValue: items(of) } })),
      list(tie('attribute')).map(
        (of): Both => ({ wire: bytes(6, wires(of)), json: { kvlistValue: items(of) } }),
      ),
    ),
    attribute: fc
      .record({ key: name, value: tie('any'), isValueFirst: fc.boolean(), before: fc.option(tie('any')) })
      .map(({ key, value, isValueFirst, before }) => {
        const [first, second] = [bytes(1, key), bytes(2, value.wire)];
        const earlier = before === null ? [] : [bytes(2, before.wire)];
        return {
          wire: all(...earlier, ...(isValueFirst ? [second, first] : [first, second])),
          json: { key, value: value.json },
        };
      }),
  };
});

/** A value of a field, with its tag. */
function fieldValue({ number, type }: Field): fc.Arbitrary<Both> {
  if (typeof type === 'object') return inField(number, messageOf(type));
  switch (type) {
    case 'string':
      return text.map((json) => ({ wire: bytes(number, json), json }));
    case 'id':
      return binary.map((id) => ({ wire: bytes(number, id), json: id.toString('hex') }));
    case 'uint32':
      return uint32.map((json) => ({ wire: int(number, BigInt(json)), json }));
    case 'fixed32':
      return uint32.map((json) => ({ wire: fixed32(number, json), json }));
    case 'time':
      return wordWith(false).map((time) => ({ wire: fixed64(number, time), json: String(time) }));
    default:
      return inField(number, type === 'any' ? any : attribute);
  }
}

const inField = (number: number, value: fc.Arbitrary<Both>) =>
  value.map(({ wire, json }) => ({ wire: bytes(number, wire), json }));

const unknown = fc.constantFrom(
  ...[int(99, 7n), fixed64(2000, 7n), fixed32(99, 7), bytes(99, 'later')].map((wire) => ({ wire })),
);

/** Fields in any order, some of them several times, and fields that nobody knows. */
function messageOf(message: Message): fc.Arbitrary<Both> {
  const known = message.fields.map((field) => fieldValue(field).map((value) => ({ ...value, field })));
  return fc.array(fc.oneof(...known, unknown), { maxLength: 20 }).map((parts) => {
    const json: Record<string, unknown> = {};
    for (const part of parts) {
      if (!('field' in part)) continue;
      const { isList, type, json: key } = part.field;
      if (isList || type === 'attributes') json[key] = [...((json[key] ?? []) as unknown[]), part.json];
      else json[key] = part.json;
    }
    return { wire: all(...parts.map(({ wire }) => wire)), json };
  });
}

/** JavaScript has names that are numbers first. */
const inItsOrder = (lines: string) => lines.replaceAll(/[^\n]+/g, (line) => JSON.stringify(JSON.parse(line)));
const withoutTimestamp = (lines: Buffer) => lines.toString().replaceAll(/^\{"timestamp":"[^"]*",/gm, '{');
const logs = (...records: readonly Buffer[]) =>
  bytes(1, bytes(2, all(...records.map((record) => bytes(2, record)))));
const linesOf = (body: Buffer) => decodeProtobuf(body, LOGS, anySize).rows().toJsonLines().toString();

describe('protobuf is written as JSON', () => {
  it.each([
    ['logs', LOGS],
    ['traces', TRACES],
  ])('as the JSON of the same request is: %s', (_, signal) => {
    const group = fc.record({
      resource: messageOf(RESOURCE),
      scope: messageOf(SCOPE),
      records: fc.array(messageOf(signal.record), { maxLength: 5 }),
      url: text,
    });
    fc.assert(
      fc.property(fc.array(group, { minLength: 1, maxLength: 3 }), (groups) => {
        const body = groups.map(({ resource, scope, records, url }) => {
          const parts = [bytes(1, scope.wire), ...records.map(({ wire }) => bytes(2, wire)), bytes(3, url)];
          return bytes(1, all(bytes(1, resource.wire), bytes(2, all(...parts))));
        });
        const { resources, scopes, records: name } = signal.json;
        const request = {
          [resources]: groups.map(({ resource, scope, records, url }) => ({
            resource: resource.json,
            [scopes]: [{ scope: scope.json, schemaUrl: url, [name]: records.map(({ json }) => json) }],
          })),
        };
        const decoded = decodeProtobuf(all(...body), signal, anySize);
        const expected = decodeJson(request, signal, anySize);
        expect([decoded.problem, expected.problem]).toEqual([undefined, undefined]);
        const lines = withoutTimestamp(decoded.rows().toJsonLines());
        const expectedLines = withoutTimestamp(expected.rows().toJsonLines());
        expect(inItsOrder(lines)).toBe(expectedLines);
        // It has no name twice.
        expect(lines).toHaveLength(expectedLines.length);
        expect(decoded.rows().size).toBe(expected.rows().size);
      }),
      { numRuns: propertyRuns(200) },
    );
  });

  it('with the first time that is known as the timestamp', () => {
    const [known, other] = [fixed64(1, 1_700_000_000_123_456_789n), fixed64(11, 1_700_000_001_000_000_000n)];
    const lines = linesOf(logs(all(other, known), all(other, fixed64(1, 0n)), all(known, known, other)));
    expect(lines.match(/"timestamp":"[^"]*"/g)).toEqual(
      ['20.123Z', '21.000Z', '20.123Z'].map((end) => `"timestamp":"2023-11-14T22:13:${end}"`),
    );
  });

  it('also if it has many attributes, of which some have the same name', () => {
    const keys = Array.from({ length: 500 }, (_, n) => `key${n % 300}`);
    const record = all(...keys.map((key, n) => all(keyValue(6, key, int(3, BigInt(n))), int(7, 1n))));
    const expected = Object.fromEntries(keys.map((key, n) => [key, n]));
    expect(JSON.parse(linesOf(logs(record))).data.attributes).toEqual(expected);
  });

  it('with each character in each place', () => {
    for (let length = 0; length < 12; length++) {
      for (let at = 0; at <= length; at++) {
        for (const character of ['"', '\\', '\u0000', '\u001f', '\u007f', '\u0080', 'é', '\uffff', '😀']) {
          const value = `${'a'.repeat(at)}${character}${'a'.repeat(length - at)}`;
          expect(linesOf(logs(bytes(5, string(value))))).toContain(`"body":${JSON.stringify(value)}}`);
        }
      }
    }
  });

  it('never with bytes that are not UTF-8, wherever they are', () => {
    const invalid = [[0xff], [0xc3], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0x80]];
    for (let length = 0; length < 12; length++) {
      for (let at = 0; at <= length; at++) {
        for (const sequence of invalid) {
          const content = Buffer.concat([
            Buffer.from('a'.repeat(at)),
            Buffer.from(sequence),
            Buffer.from('a'.repeat(length - at)),
          ]);
          const record = [bytes(5, bytes(1, content)), all(keyValue(6, 'k', bytes(1, content)))];
          const decoded = decodeProtobuf(logs(...record, bytes(6, bytes(1, content))), LOGS, anySize);
          expect([decoded.rejected, decoded.rows().size]).toEqual([3, 0]);
        }
      }
    }
  });

  it('whole, or not at all, if bytes are changed', () => {
    const request = fc.array(messageOf(LOGS.record), { minLength: 1, maxLength: 4 });
    const change = fc.record({ at: fc.nat(), value: fc.nat(255) });
    fc.assert(
      fc.property(request, fc.array(change, { maxLength: 4 }), (records, changes) => {
        const changed = records.map(({ wire }) => {
          const copy = Buffer.from(wire);
          for (const { at, value } of changes) if (copy.length > 0) copy[at % copy.length] = value;
          return copy;
        });
        const decoded = decodeProtobuf(logs(...changed), LOGS, anySize);
        const rows = decoded.rows();
        const lines = rows.toJsonLines().toString().split('\n').slice(0, -1);
        expect(lines.length + decoded.rejected).toBe(records.length);
        expect(rows.size).toBe(lines.length);
        for (const line of lines)
          expect(Object.keys(JSON.parse(line))).toEqual(['timestamp', 'data', 'backfill']);
        expect(isUtf8(rows.toJsonLines())).toBe(true);
      }),
      { numRuns: propertyRuns(200) },
    );
  });
});
