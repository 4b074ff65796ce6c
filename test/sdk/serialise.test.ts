import { describe, expect, it } from '@jest/globals';
import { isPermanent } from '../../src/sdk/errors.ts';
import { serialise } from '../../src/sdk/serialise.ts';

const timestamp = '2026-01-01T00:00:00.000Z';

describe('serialise', () => {
  it('puts timestamp and data first, and leaves the rest as it stands', () => {
    const event = { backfill: true, data: { b: 1, a: 2 }, tag: 't', timestamp };
    const json = `{"timestamp":"${timestamp}","data":{"b":1,"a":2},"backfill":true,"tag":"t"}`;
    expect(serialise(event)).toBe(json);
    expect(serialise({ timestamp, data: {} }, 2)).toBe(`{\n  "timestamp": "${timestamp}",\n  "data": {}\n}`);
  });

  it('writes bigints as digits, and leaves out what JSON does', () => {
    const data = { big: 2n ** 64n, none: undefined, call() {}, list: [undefined] };
    expect(serialise({ timestamp, data })).toContain('"data":{"big":"18446744073709551616","list":[null]}');
  });

  it('runs each toJSON once where there is no bigint, and takes one that gives a bigint', () => {
    let runs = 0;
    const counted = { toJSON: () => ++runs };
    expect(serialise({ timestamp, data: { counted } })).toContain('"counted":1}');
    expect(runs).toBe(1);
    expect(serialise({ timestamp, data: { big: { toJSON: () => 5n } } }, 1)).toContain('"big": "5"');
  });

  it('fails for good, and without content, where a toJSON fails', () => {
    const toJSON = () => {
      throw new RangeError('secret');
    };
    expect(() => serialise({ timestamp, data: { a: { toJSON } } })).toThrow('its toJSON fails');
    expect(() => serialise({ timestamp, data: { big: 1n, a: { toJSON } } })).toThrow('its toJSON fails');
  });

  it('keeps __proto__ as data', () => {
    const event = JSON.parse(`{"__proto__":{"x":1},"data":{"__proto__":1},"timestamp":"${timestamp}"}`);
    expect(serialise(event)).toBe(`{"timestamp":"${timestamp}","data":{"__proto__":1},"__proto__":{"x":1}}`);
  });

  it('fails for good, and without content, on an event that contains itself', () => {
    const data: Record<string, unknown> = { password: 'secret' };
    data.self = { key_of_secret: data };
    let error: unknown;
    try {
      serialise({ timestamp, data });
    } catch (thrown) {
      error = thrown;
    }
    expect(isPermanent(error)).toBe(true);
    expect(String(error)).toContain('cannot be written as JSON');
    expect(String(error)).not.toMatch(/secret|password/);
    expect((error as Error).cause).toBeUndefined();
  });
});
