import { describe, expect, it } from '@jest/globals';
import { load } from 'js-yaml';
import type { Observable } from 'rxjs';
import * as plugin from '../../../plugins/process/test.ts';
import type { PluginConfig } from '../../../src/sdk/config.ts';
import { deepFreeze } from '../../support/deep-freeze.ts';
import { marbles } from '../../support/marbles.ts';
import { processContext } from './context.ts';

const schema = plugin.get_config_schema();
const issues = (fields: object) =>
  schema
    .safeParse({ plugin: 'test', ...fields })
    .error?.issues.map(({ path, message }) => ({ path, message }));

const event = deepFreeze({ timestamp: 't', data: { a: 1 } });
const child = (n: number) => ({ timestamp: 't', data: { a: 1, 'slow-child-count': n } });

function run(fields: object, random?: () => number) {
  const config = { ...schema.parse({ plugin: 'test', ...fields }), name: 'slow' };
  return plugin.process({ ctx: processContext(config as typeof config & PluginConfig, random).ctx, event });
}

describe('test processor: configuration', () => {
  it('has the defaults of the specification', () => {
    expect(schema.parse({ plugin: 'test' })).toEqual({ plugin: 'test', delay_range: null });
  });

  it.each<[object]>([
    [{ delay: 0.001 }],
    [{ delay_range: null }],
    [{ delay_range: { minimum: 0, maximum: 0 } }],
    [{ child_events_count: 1 }],
    [{ child_events_count: 2 ** 62 }],
    [{ delay: 1, delay_range: { minimum: 1, maximum: 2 } }],
  ])('takes %j', (fields) => expect(issues(fields)).toBeUndefined());

  it.each<[object]>([
    [{ delay: 0 }],
    [{ delay: -1 }],
    [{ child_events_count: 0 }],
    [{ child_events_count: 1.5 }],
    [{ child_events_count: 2 ** 63 }],
    [{ delay_range: { minimum: 1 } }],
    [{ delay_range: { minimum: 1, maximum: 2, other: 3 } }],
  ])('refuses %j', (fields) => expect(issues(fields)).toHaveLength(1));

  it('says what it expects of a range', () => {
    expect(issues({ delay_range: { minimum: 2, maximum: 1 } })).toEqual([
      { path: ['delay_range', 'minimum'], message: 'a number that is not above maximum' },
    ]);
    expect(issues({ delay_range: { minimum: -2, maximum: -1 } })).toEqual([
      { path: ['delay_range', 'minimum'], message: 'a number of at least 0' },
      { path: ['delay_range', 'maximum'], message: 'a number of at least 0' },
    ]);
  });

  it('has an example that is valid', () => {
    for (const entry of Object.values(load(plugin.example) as object))
      expect(schema.safeParse(entry).success).toBe(true);
  });
});

describe('test processor: process', () => {
  it('returns its results synchronously where nothing waits', () => {
    expect(run({})).toEqual([event]);
    expect(run({ child_events_count: 2 })).toEqual([event, child(1), child(2)]);
    expect(run({ delay_range: { minimum: 0, maximum: 0 } })).toEqual([event]);
  });

  it('waits, then emits the event, then each child after delay × (count ÷ n)', () => {
    marbles(({ expectObservable }) => {
      const values = { e: event, '1': child(1), '2': child(2) };
      expectObservable(run({ delay: 0.5 }) as Observable<unknown>).toBe('500ms (e|)', values);
      expectObservable(run({ delay: 2, child_events_count: 2 }) as Observable<unknown>).toBe(
        '2s e 3999ms 1 1999ms (2|)',
        values,
      );
    });
  });

  it('draws one delay for an event and its children, and prefers the range to the delay', () => {
    marbles(({ expectObservable }) => {
      const fields = { delay: 100, delay_range: { minimum: 1, maximum: 3 }, child_events_count: 1 };
      const draws = [0.25, 0.75];
      const result = run(fields, () => draws.shift() as number) as Observable<unknown>;
      expectObservable(result).toBe('1500ms e 1499ms (1|)', { e: event, '1': child(1) });
    });
  });

  it('waits for days', () => {
    marbles(({ expectObservable }) => {
      expectObservable(run({ delay: 60 * 86400 }) as Observable<unknown>).toBe(`${60 * 86400}s (e|)`, {
        e: event,
      });
    });
  });
});
