import { describe, expect, it } from '@jest/globals';
import { of, throwError, timer } from 'rxjs';
import { Observers, type PipelineObserver } from '../../src/engine/observer.ts';
import { PluginError } from '../../src/sdk/errors.ts';
import { EventBatch } from '../../src/sdk/event-batch.ts';
import { type CollectedEvent, collectedEvent } from '../../src/sdk/events.ts';
import { marbles } from '../support/marbles.ts';
import { testManager } from '../support/pipelines.ts';

const event = (n: unknown): CollectedEvent => collectedEvent({ n });

/** All that an observer of a pipeline is told, as texts. */
function observed(plugins: Parameters<typeof testManager>[0]): string[] {
  const told: string[] = [];
  const observer = new Proxy({} as PipelineObserver, {
    get: (_, method: string) =>
      method === 'opened' || method === 'travelled'
        ? undefined
        : (place?: { kind: string; name: string }, ...args: unknown[]) => {
            const shown = args.map((arg) =>
              typeof arg === 'function'
                ? (arg as () => CollectedEvent[])()
                    .map(({ data }) => data.n)
                    .join()
                : typeof arg === 'object'
                  ? Object.keys(arg as object).join('+')
                  : String(arg),
            );
            told.push([method, place?.kind, place?.name, ...shown].join(' '));
            return method === 'called' ? () => told.push(`ended ${place?.name}`) : undefined;
          },
  });
  marbles(({ flush }) => {
    testManager({ ...plugins, options: { observer: () => observer, random: () => 0.5 } }).start();
    flush();
  });
  return told;
}

describe('an observer', () => {
  it('is told the life of events in its order, each stage by its place', () => {
    const told = observed({
      collect: { source: () => of(new EventBatch([event(1), event(2)])) },
      process: { odd: ({ event: { data } }) => (data.n === 1 ? [event('one')] : []) },
      forward: { out: () => timer(5) },
    });
    expect(told).toEqual([
      'holds forward out 0',
      'started collect source',
      'collected collect source 2 1,2',
      expect.stringMatching(/^admitted collect source 2 1,2 /),
      'left collect source 2 1,2',
      'received process odd 2',
      'dropped process odd filtered 1 2',
      'left process odd 1 one',
      'received forward out 1',
      'called forward out count+events+startedAt+parts',
      'completed collect source',
      'ended out',
      'left forward out 1 one',
      'acknowledged collect source 2 1,2 dropped 5',
    ]);
  });

  it('is told of failures, retries and dead letters', () => {
    const told = observed({
      collect: { source: () => of(event(1)) },
      forward: {
        out: () => throwError(() => new PluginError('gone')),
        dead: () => {},
      },
      pipeline: { forward: ['out'], delivery: { attempts: 2, dead_letter: 'dead' } },
    });
    expect(
      told.filter((text) => /out|dead/.test(text) && !/^(?:holds|received|called|ended)/.test(text)),
    ).toEqual([
      'retrying forward out true',
      expect.stringMatching(/^retried forward out 1 \d+ \S* 2$/),
      'pluginFailed forward out error+reason+what',
      'deadLettered forward out timestamp+data timestamp+data',
      'left dead_letter dead 1 ',
      'acknowledged collect source 1 1 dead_lettered 250',
      'retrying forward out false',
    ]);
  });
});

describe('several observers', () => {
  it('are told one after the other, and those alone that want to be', () => {
    const told: string[] = [];
    const place = { kind: 'forward', name: 'out' } as const;
    const calls = { count: 1, events: 1, startedAt: 0, parts: () => [] };
    const observers = new Observers([
      { received: () => told.push('first'), called: () => () => told.push('first ended') },
      {},
      { received: () => told.push('third'), called: () => undefined },
      { called: () => () => told.push('fourth ended') },
    ]);
    observers.received(place, 1);
    observers.called(place, calls)();
    expect(told).toEqual(['first', 'third', 'first ended', 'fourth ended']);
  });
});
