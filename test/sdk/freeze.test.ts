import { describe, expect, it } from '@jest/globals';
import { frozenCopy } from '../../src/sdk/freeze.ts';

describe('frozenCopy', () => {
  it('freezes a copy with everything in it, and leaves the value as it is', () => {
    const value = { list: [{ n: 1 }], none: null };
    const copy = frozenCopy(value);
    expect(copy).toEqual(value);
    expect([copy, copy.list, copy.list[0]].every(Object.isFrozen)).toBe(true);
    expect([value, value.list, value.list[0]].some(Object.isFrozen)).toBe(false);
  });

  it('copies a value that contains itself, and one that occurs twice, once', () => {
    const shared = { n: 1 };
    const value = { shared, again: [shared], self: undefined as unknown };
    value.self = value;
    const copy = frozenCopy(value);
    expect(copy.self).toBe(copy);
    expect(copy.again[0]).toBe(copy.shared);
    expect(copy.shared).not.toBe(shared);
  });

  it('takes functions and objects of classes as they are', () => {
    const value = { call: () => 1, at: new Date(0) };
    const copy = frozenCopy(value);
    expect(copy.call).toBe(value.call);
    expect(copy.at).toBe(value.at);
    expect(Object.isFrozen(value.at)).toBe(false);
  });

  it('keeps a key `__proto__` as a key', () => {
    const copy = frozenCopy(JSON.parse('{ "__proto__": { "admin": true } }'));
    expect(Object.keys(copy)).toEqual(['__proto__']);
    expect(copy.admin).toBeUndefined();
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
  });
});
