import { writeFileSync } from 'node:fs';
import { inspect, isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  concat,
  defer,
  EMPTY,
  firstValueFrom,
  from,
  map,
  mergeMap,
  Observable,
  of,
  throwError,
  timer,
} from 'rxjs';
import * as z from 'zod';
import { parseConfig } from '../../src/config/parse-config.ts';
import { registerPlugin, unregisterPlugin } from '../../src/config/registry.ts';
import { Manager } from '../../src/engine/manager.ts';
import {
  batching,
  CollectConfigBase,
  type CollectedEvent,
  collectedEvent,
  defineCollector,
  defineForwarder,
  ForwardConfigBase,
  type Host,
} from '../../src/sdk/index.ts';
import type { PipelineStats } from '../../src/sdk/status.ts';
import { type ForwarderCall, seededRandom, testPipeline } from '../../src/testing/index.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { byForm, SEED } from './support/form.ts';

/**
 * Random pipelines in virtual time, with stand-ins, and the same ones run by the Manager, with real collectors and
 * forwarders and small real durations. Both have to agree. Durations that a busy machine stretches change no outcome: events
 * that could overflow a buffer come in one burst, forwarders fail by content or for a number of calls, and the order is
 * compared only where the pipeline promises one.
 */
const PIPELINES = Number(process.env.FAULTS_PIPELINES ?? byForm({ short: 200, long: 2000 }));
const AT_A_TIME = 20;
/** In [0, 1): makes waits of retries and restarts short, and the same in both. */
const RANDOM = 0.04;

const ALPHABET = [...'abcdefghijklmnopqrstuvwxyz'];
const KINDS = ['file', 'push', 'rows'] as const;
type Kind = (typeof KINDS)[number];

/** One pipeline, and what happens to it. */
interface Scenario {
  readonly seed: number;
  /** How many events each collector has; those of `push` come in one burst. */
  readonly events: Readonly<Partial<Record<Kind, number>>>;
  /** The burst of `push` ends with a failure, and comes a second time after the restart. */
  readonly restarts: boolean;
  readonly processors: readonly object[];
  readonly pipeline: Readonly<Record<string, unknown>>;
  readonly takes: number;
  /** So many calls fail first, or all calls with an event that ends with 3. */
  readonly fails: number | 'by content';
  readonly permanent: boolean;
  readonly sink: 'single' | 'batches' | 'limits';
  readonly isOrdered: boolean;
}

function scenario(seedOfOne: number): Scenario {
  const random = seededRandom(seedOfOne);
  const below = (n: number) => Math.floor(random() * n);
  const pick = <T>(...items: readonly T[]) => items[below(items.length)] as T;
  const maybe = (chance: number) => random() < chance;
  const kinds = KINDS.filter(() => maybe(0.45));
  if (kinds.length === 0) kinds.push(pick(...KINDS));
  // How far a collector without checkpoints has come at a failure depends on the machine.
  const restarts = kinds.includes('push') && !kinds.includes('rows') && maybe(0.4);
  const processors = [
    ...(maybe(0.4) ? [{ plugin: 'regex_mask', rules: { ONE: '[fpr]1$' } }] : []),
    ...(maybe(0.3) ? [{ plugin: 'filter', drop: 'data.n.endsWith("2")' }] : []),
    ...(maybe(0.3) ? [{ plugin: 'test', delay: pick(0.01, 0.03) }] : []),
    ...(maybe(0.25) ? [{ plugin: 'test', delay: 0.01, child_events_count: 2 }] : []),
    ...(maybe(0.2) ? [{ plugin: 'filter', keep: 'data.n.endsWith("4") ? data.missing == 1 : true' }] : []),
  ];
  const fails = pick<Scenario['fails']>(0, 0, 1, 2, 'by content');
  const isOrdered = maybe(0.75);
  const sink = pick<Scenario['sink']>('single', 'batches', 'limits');
  // A permanent error and a last attempt fail a whole batch, and what is in a batch depends on what arrives together.
  const isOfOneEvent = sink === 'single';
  const delivery = {
    ...(fails === 'by content' ? { attempts: isOfOneEvent ? pick(1, 2, 3) : pick(2, 3) } : {}),
    ...(maybe(0.5) ? { dead_letter: 'letters' } : {}),
  };
  return {
    seed: seedOfOne,
    events: Object.fromEntries(kinds.map((kind) => [kind, 1 + below(12)])),
    restarts,
    processors,
    pipeline: {
      max_in_flight: pick(1, 2, 3, 5, 1000),
      // Which of several collectors comes first depends on the disk.
      buffer: {
        max_events: kinds.length === 1 ? pick(1, 2, 4, 1000) : 1000,
        when_full: pick('drop_newest', 'drop_oldest'),
      },
      ordered: isOrdered,
      delivery,
    },
    takes: pick(0, 20, 40),
    fails,
    permanent: isOfOneEvent && fails === 'by content' && maybe(0.3),
    sink,
    isOrdered,
  };
}

const schema = ForwardConfigBase.extend({
  run: z.string(),
  takes: z.number(),
  fails: z.union([z.number(), z.literal('by content')]),
  permanent: z.boolean(),
});

/** Names an event, and what was made of it. */
function nameOf({ data }: CollectedEvent): string {
  const source = (data.event as CollectedEvent | undefined)?.data ?? data;
  const child = Object.entries(source).find(([key]) => key.endsWith('-child-count'));
  return `${source.n}${child === undefined ? '' : `:${child[1]}`}`;
}

const isBad = (event: CollectedEvent) => nameOf(event).endsWith('3');

/** What real sinks got, by run and entry, and their calls. */
const delivered = new Map<string, string[]>();
const calls = new Map<string, number>();

function sinkOf(takesBatches: boolean) {
  return (limits: object) => {
    const take = (
      ctx: { config: z.output<typeof schema> & { name: string } },
      events: readonly CollectedEvent[],
    ) => {
      const { run, takes, fails, permanent, name } = ctx.config;
      const key = `${run} ${name}`;
      const end$ = defer(() => {
        const call = (calls.get(key) ?? 0) + 1;
        calls.set(key, call);
        if (fails === 'by content' ? events.some(isBad) : call <= fails) {
          return throwError(() => Object.assign(new Error('fails'), { permanent }));
        }
        delivered.set(key, [...(delivered.get(key) ?? []), ...events.map(nameOf)]);
        return EMPTY;
      });
      return takes === 0 ? end$ : timer(takes).pipe(mergeMap(() => end$));
    };
    return defineForwarder({
      schema: schema.extend(limits),
      forward: ({ ctx, event }) => take(ctx as never, [event]),
      ...(takesBatches
        ? {
            forwardBatch: ({ ctx, events }: { ctx: unknown; events: readonly CollectedEvent[] }) =>
              take(ctx as never, events),
          }
        : {}),
    });
  };
}

const rows = defineCollector({
  schema: CollectConfigBase.extend({ count: z.number() }),
  traits: { usesState: false },
  *collect({ ctx }) {
    for (let i = 0; i < ctx.config.count; i++) yield collectedEvent({ n: `r${i}` });
  },
});

beforeAll(() => {
  registerPlugin('collect', 'rows', rows as never);
  registerPlugin('forward', 'sink-single', sinkOf(false)({}));
  registerPlugin('forward', 'sink-batches', sinkOf(true)({}));
  registerPlugin(
    'forward',
    'sink-limits',
    sinkOf(true)(batching({ events: 4, seconds: 0.03, concurrency: 1 })),
  );
});
afterAll(() => {
  unregisterPlugin('collect', 'rows');
  for (const name of ['single', 'batches', 'limits']) unregisterPlugin('forward', `sink-${name}`);
});

/** What both runs have to agree on. */
interface Outcome {
  readonly states: readonly string[];
  readonly delivered: Readonly<Record<string, readonly string[]>>;
  readonly dropped: PipelineStats['dropped'];
  readonly deadLettered: number;
  readonly collected: number;
  readonly retries: number | undefined;
}

const valuesOf = (letter: string, count: number) => Array.from({ length: count }, (_, i) => `${letter}${i}`);

function configOf(
  { seed: run, events, processors, pipeline, takes, fails, permanent, sink }: Scenario,
  file: string,
) {
  const names = processors.map((_, index) => `p${index}`);
  return {
    collectors: {
      file: { plugin: 'file', paths: [file], backfill: true },
      push: { plugin: 'beacons', beacons: ['*'] },
      rows: { plugin: 'rows', count: events.rows ?? 0 },
    },
    processors: {
      // Lines of files have the same field as the other events.
      named: { plugin: 'map', set: { n: 'has(data.line) ? data.line : data.n' } },
      ...Object.fromEntries(processors.map((processor, index) => [names[index], processor])),
    },
    forwarders: {
      main: { plugin: `sink-${sink}`, run: String(run), takes, fails, permanent },
      letters: { plugin: 'sink-single', run: String(run), takes: 0, fails: 0, permanent: false },
    },
    pipelines: {
      main: { ...pipeline, collect: Object.keys(events), process: ['named', ...names], forward: 'main' },
    },
    host_config: {},
  };
}

/** In the order of delivery where the pipeline promises one, which is that of each collector. */
function inOrder(names: readonly string[], { isOrdered }: Scenario): string[] {
  if (!isOrdered) return [...names].sort();
  const byKind = KINDS.flatMap((kind) => names.filter((name) => name.startsWith(kind[0] as string)));
  return [...byKind, ...names.filter((name) => !byKind.includes(name))];
}

/** Which calls fail first, and which batches are divided, depends on what arrives together. */
const retriesOf = ({ retries }: PipelineStats, { fails }: Scenario) =>
  fails === 'by content' ? undefined : retries;

async function predicted(one: Scenario, file: string): Promise<Outcome> {
  const { events, restarts, takes, fails, permanent } = one;
  const input = (letter: string, count: number) => {
    const letters = ALPHABET.slice(0, count);
    const items = valuesOf(letter, count).map((n, i) => [letters[i], letter === 'f' ? n : { n }]);
    return { text: letters.join(''), values: Object.fromEntries(items) };
  };
  const collect = Object.fromEntries(
    Object.entries(events).map(([kind, count]) => {
      const { text, values } = input(kind[0] as string, count);
      const whole = `(${text}|)`;
      return [kind, { marbles: kind === 'push' && restarts ? [`(${text}#)`, whole] : whole, values }];
    }),
  );
  const run = await testPipeline(configOf(one, file), {
    collect,
    forward: {
      main: {
        takes,
        fails: fails === 'by content' ? ({ events }: ForwarderCall) => events.some(isBad) : fails,
        permanent,
      },
    } as never,
    random: () => RANDOM,
  });
  const named = (name: string) => {
    const row = run.trace.rows.find(({ place }) => place.name === name);
    return (row?.marks ?? []).flatMap((mark) => (mark.kind === 'event' ? [nameOf(mark.event)] : []));
  };
  const { stats } = run;
  return {
    states: run.states.map(({ state }) => state),
    delivered: { main: inOrder(named('main'), one), letters: named('letters').sort() },
    dropped: stats.dropped,
    deadLettered: stats.dead_lettered,
    collected: stats.collected,
    retries: retriesOf(stats, one),
  };
}

async function real(one: Scenario, file: string): Promise<Outcome> {
  const { seed: run, events, restarts } = one;
  const config = await parseConfig(configOf(one, file));
  let runs = 0;
  const host: Host = {
    id: 'x',
    role: 'test',
    functions: () => [],
    call: () => of(),
    events: () =>
      new Observable((subscriber) => {
        const isFailing = runs++ === 0 && restarts;
        const burst$ = from(valuesOf('p', events.push ?? 0)).pipe(
          map((n) => ({ tag: 'host/beacon/x/y/', stamp: '', data: { n }, raw_data: {} })),
        );
        return concat(burst$, isFailing ? throwError(() => new Error('gone')) : EMPTY).subscribe(subscriber);
      }),
  };
  const manager = new Manager(config, {
    host,
    once: true,
    random: () => RANDOM,
    giveUpAfter: Number.POSITIVE_INFINITY,
  });
  const states: string[] = [];
  manager.states$.subscribe(({ state }) => states.push(state));
  manager.start();
  await firstValueFrom(manager.finished$);
  const stats = manager.stats().main as PipelineStats;
  const named = (name: string) => delivered.get(`${run} ${name}`) ?? [];
  return {
    states,
    delivered: { main: inOrder(named('main'), one), letters: [...named('letters')].sort() },
    dropped: stats.dropped,
    deadLettered: stats.dead_lettered,
    collected: stats.collected,
    retries: retriesOf(stats, one),
  };
}

const path = tempFolder();

describe('31 · virtual time predicts what happens', () => {
  it(
    `to ${PIPELINES} random pipelines`,
    async () => {
      const left = Array.from({ length: PIPELINES }, (_, index) => SEED + index);
      const disagreements: string[] = [];
      const work = async () => {
        for (let next = left.pop(); next !== undefined; next = left.pop()) {
          const one = scenario(next);
          const file = path(`${next}.log`);
          const lines = valuesOf('f', one.events.file ?? 0).map((line) => `${line}\n`);
          writeFileSync(file, lines.join(''));
          const outcomes = { virtual: await predicted(one, file), real: await real(one, file) };
          if (isDeepStrictEqual(outcomes.virtual, outcomes.real)) continue;
          disagreements.push(`seed ${next}`);
          process.stderr.write(
            `\nFAULTS_SEED=${next} FAULTS_PIPELINES=1 repeats this pipeline\n${inspect({ one, ...outcomes }, { depth: 6 })}\n`,
          );
        }
      };
      await Promise.all(Array.from({ length: AT_A_TIME }, work));
      expect(disagreements).toEqual([]);
    },
    60_000 + PIPELINES * 300,
  );
});
