import { describe, expect, it } from '@jest/globals';
import map from '../../../plugins/process/map.ts';
import type { CollectedEvent } from '../../../src/sdk/events.ts';
import { deepFreeze } from '../../support/deep-freeze.ts';
import { processContext } from './context.ts';

function parsed(settings: object) {
  return map.get_config_schema().safeParse({ plugin: 'map', ...settings });
}

function mapped(settings: object, data: CollectedEvent['data']): unknown {
  const config = parsed(settings);
  if (!config.success) throw new Error(JSON.stringify(config.error.issues));
  const event = deepFreeze({ timestamp: '2026-01-01T00:00:00.000Z', data, backfill: true });
  const { ctx } = processContext(config.data);
  const [result] = map.process({ ctx: ctx as never, event }) as CollectedEvent[];
  expect(result).toMatchObject({ timestamp: event.timestamp, backfill: true });
  return result?.data;
}

describe('map', () => {
  it.each<[object, CollectedEvent['data'], unknown]>([
    [
      { set: { a: '"x"', n: '1 + 1', f: '1.5', t: 'true', z: 'null' } },
      {},
      { a: 'x', n: 2, f: 1.5, t: true, z: null },
    ],
    [{ set: { a: 'data.b + "!"', b: 'data.a' } }, { a: 'A', b: 'B' }, { a: 'B!', b: 'A' }],
    [
      { set: { at: 'timestamp', list: '[1, data.n]' } },
      { n: 2 },
      { n: 2, at: '2026-01-01T00:00:00.000Z', list: [1, 2] },
    ],
    [
      { set: { 'http.status': 'int(data.s)' } },
      { s: '404', http: { method: 'GET' } },
      { s: '404', http: { method: 'GET', status: 404 } },
    ],
    [{ set: { 'a.b': '1' } }, { a: 'text' }, { a: { b: 1 } }],
    [{ set: { big: '9007199254740993' } }, {}, { big: '9007199254740993' }],
    [{ set: { m: '{"k": data.n, "l": {"x": 1u}}' } }, { n: 1 }, { n: 1, m: { k: 1, l: { x: 1 } } }],
    [{ set: { m: 'data.o' } }, { o: { k: [null] } }, { o: { k: [null] }, m: { k: [null] } }],
    [{ rename: { line: 'message', nothing: 'x' } }, { line: 'a', n: 1 }, { message: 'a', n: 1 }],
    [{ rename: { a: 'b', b: 'a' } }, { a: 1, b: 2 }, { a: 2, b: 1 }],
    [{ rename: { a: 'b', b: 'c', c: 'a' } }, { a: 1, b: 2, c: 3 }, { b: 1, c: 2, a: 3 }],
    [{ rename: { a: 'b', b: 'c' } }, { a: 1 }, { b: 1 }],
    [{ rename: { a: 'b' } }, { a: 1, b: 2 }, { b: 1 }],
    [{ rename: { 'a.x': 'b.y', 'b.y': 'a.x' } }, { a: { x: 1 }, b: { y: 2 } }, { a: { x: 2 }, b: { y: 1 } }],
    [{ rename: { a: 'a.b' } }, { a: 1 }, { a: { b: 1 } }],
    [{ set: { n: 'data.s.replace("x", "$&y")' } }, { s: 'axbx' }, { s: 'axbx', n: 'a$&yb$&y' }],
    [{ set: { n: 'data["in"]' } }, { in: 1 }, { in: 1, n: 1 }],
    [{ rename: { 'a.b': 'c' } }, { a: { b: 1, d: 2 } }, { a: { d: 2 }, c: 1 }],
    [{ remove: ['a', 'b.c', 'x.y'] }, { a: 1, b: { c: 2, d: 3 } }, { b: { d: 3 } }],
    [
      { remove: ['user.password'] },
      { 'user.password': 1, user: { password: 2, id: 3 } },
      { user: { id: 3 } },
    ],
    [{ rename: { 'log.level': 'level' } }, { 'log.level': 'warn' }, { level: 'warn' }],
    [{ set: { 'a.b': '1' } }, { 'a.b': 0, a: {} }, { 'a.b': 1, a: {} }],
    [{ keep: ['a.b', 'c.d.e'] }, { 'a.b': 1, c: { 'd.e': 2, f: 3 } }, { 'a.b': 1, c: { 'd.e': 2 } }],
    [{ keep: ['a', 'b.c', 'x'] }, { a: 1, b: { c: 2, d: 3 }, e: 4 }, { a: 1, b: { c: 2 } }],
    [{ set: { a: '1' }, rename: { a: 'b', l: 'm' }, remove: ['m'], keep: ['b'] }, { l: 1, o: 2 }, { b: 1 }],
  ])('%j of %j', (settings, data, expected) => {
    expect(mapped(settings, data)).toEqual(expected);
  });

  it('fails on an event that an expression cannot be evaluated for, and shows nothing of it', () => {
    expect(() => mapped({ set: { n: 'int(data.s)' } }, { s: 'hunter2' })).toThrow(
      /^(?!.*hunter2).*`int\(data\.s\)`/,
    );
  });

  it.each([
    ['data.a / 0', /`n` gave no finite number/],
    ['data.b / data.b', /`n` gave no finite number/],
    ['[{"x": data.a / data.b}]', /`n` gave no finite number/],
    ['duration("1h")', /`n` gave a value that JSON cannot show; of a duration/],
    ['data.a + 9007199254740993', /beyond 2\^53 is not exact/],
    ['data.s > 5', /convert values of another type, as in int\(…\)/],
  ])('fails rather than give a wrong value: %s', (source, message) => {
    expect(() => mapped({ set: { n: source } }, { a: 1, b: 0, s: 'hunter2' })).toThrow(message);
    expect(() => mapped({ set: { n: source } }, { a: 1, b: 0, s: 'hunter2' })).toThrow(/^(?!.*hunter2)/);
  });

  it.each([
    ['data.in', /data\["in"\]/],
    ['data.a.null == 1', /data\["null"\]/],
    ['data.s.charAt(1)', /the methods of strings are contains, .*replace/],
  ])('says what to write instead of %s', (source, message) => {
    expect(JSON.stringify(parsed({ set: { n: source } })).replaceAll('\\', '')).toMatch(message);
  });

  it.each([
    [{ set: { a: 'data.line +' } }, ['set', 'a']],
    [{ set: { a: 'nope' } }, ['set', 'a']],
    [{ set: { '': '1' } }, ['set', '']],
    [{ remove: ['a..b'] }, ['remove', 0]],
    [{ rename: { a: '__proto__' } }, ['rename', 'a']],
  ])('refuses %j', (settings, path) => {
    expect(parsed(settings)).toMatchObject({ success: false, error: { issues: [{ path }] } });
  });

  it('leaves prototypes alone', () => {
    const data = JSON.parse('{"__proto__": {"polluted": true}, "a": 1}');
    const result = mapped({ set: { b: '2' }, remove: ['a'] }, data) as Record<string, unknown>;
    expect(result.polluted).toBeUndefined();
    expect(Object.getPrototypeOf(result)).toBe(Object.prototype);
  });
});
