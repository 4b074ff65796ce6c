import { isDeepStrictEqual } from 'node:util';
import { InFlightWindow } from '../../../../operators/index.ts';
import type { CollectorState, PipelineRunContext, StateValue } from '../../../sdk/context.ts';
import { isEventBatch } from '../../../sdk/event-batch.ts';
import type { CollectedEvent } from '../../../sdk/events.ts';
import type { CollectPlugin, Plugin } from '../../../sdk/plugin.ts';
import { toJson } from '../../../sdk/serialise.ts';
import { type Check, demand } from '../check.ts';
import { collected, observe } from '../observe.ts';
import type { Subject } from '../subject.ts';

const WIDE_WINDOW = 1000;
const HOW = 'set ctx.state in the `acknowledge` of an EventBatch, and only there';

/** What a collector that uses `ctx.state` does after a restart. */
export const STATE_CHECKS: readonly Check[] = [
  {
    name: 'state: after a restart, it does not emit again what was acknowledged',
    kinds: ['collect'],
    applies: mayUseState,
    async run(subject) {
      const { first, second, note } = await restart(subject, { window: 1, acknowledged: 1, limit: 2 });
      if (note !== undefined) return note;
      const [done = [], open = []] = first;
      const repeated = done.filter((event) => second.includes(event)).length;
      demand(
        repeated === 0,
        `after a restart it emitted ${repeated} of ${done.length} acknowledged events again; ${HOW}, and continue there`,
      );
      demandEmittedAgain(open, second);
      return undefined;
    },
  },
  {
    name: 'acknowledgement: after a restart, it emits again what was not acknowledged',
    kinds: ['collect'],
    applies: mayUseState,
    async run(subject) {
      const { first, second, note } = await restart(subject, { window: WIDE_WINDOW, acknowledged: 0 });
      if (note === undefined) demandEmittedAgain(first.flat(), second);
      return note;
    },
  },
];

function mayUseState(plugin: Plugin): boolean {
  return (plugin as CollectPlugin | undefined)?.traits?.usesState !== false;
}

function demandEmittedAgain(open: readonly string[], second: readonly string[]): void {
  const lost = open.filter((event) => !second.includes(event)).length;
  demand(
    lost === 0,
    `after a restart it did not emit ${lost} of ${open.length} events again that were not acknowledged, so a crash would lose them; ${HOW}`,
  );
}

interface Run {
  /** Room for this many events at a time. */
  readonly window: number;
  /** This many batches, or single events, are acknowledged. */
  readonly acknowledged: number;
  /** The run ends after this many batches or single events. */
  readonly limit?: number;
}

/** Runs a collector, as if the process then crashed, and once more with the state that it has left. */
async function restart(subject: Subject, run: Run) {
  const ctx = subject.context({ once: true });
  const state = new RecordedState();
  const first = await emittedWith(subject, ctx, state, run);
  const events = first.flat();
  let note: string | undefined;
  demand(
    state.isUsed || (subject.plugin as CollectPlugin).traits?.usesState !== undefined,
    'it does not use ctx.state and does not say so, so tests in virtual time would predict that it goes on after a restart; export const traits = { usesState: false }',
  );
  if (!state.isUsed) note = 'it does not use ctx.state; say so: export const traits = { usesState: false }';
  else if (events.length === 0) note = 'it emitted nothing; give `config` with which it emits something';
  else if (new Set(events).size < events.length)
    note = 'some of its events have equal data, so a repetition cannot be told; give `config` without those';
  if (note !== undefined) return { first, second: [], note };
  const again = await emittedWith(subject, ctx, state.copy(), { window: WIDE_WINDOW, acknowledged: 0 });
  return { first, second: again.flat(), note };
}

/** The data of what a collector emits, as JSON: batch by batch. */
async function emittedWith(
  subject: Subject,
  ctx: PipelineRunContext,
  state: CollectorState,
  { window: size, acknowledged, limit = 5 }: Run,
): Promise<string[][]> {
  const window = new InFlightWindow(size);
  const stop = new AbortController();
  const own = { cache: {}, shared_cache: {}, state, demand: window, signal: stop.signal };
  const batches: string[][] = [];
  const onValue = (value: unknown) => {
    const batch = isEventBatch(value) ? value : undefined;
    const events = batch?.events ?? [value as CollectedEvent];
    batches.push(events.map(({ data }) => toJson(data)));
    window.take(events.length);
    if (batches.length > acknowledged) return;
    batch?.acknowledge?.('forwarded');
    window.release(events.length);
  };
  await observe(subject, () => collected(subject, Object.freeze({ ...ctx, ...own })), { limit, onValue });
  stop.abort();
  return batches;
}

/** A state in memory that notes whether it is used, and whose copy has been through JSON, as on disk. */
class RecordedState implements CollectorState {
  readonly isPending = false;
  isUsed = false;
  readonly #values: Map<string, StateValue>;

  constructor(values = new Map<string, StateValue>()) {
    this.#values = values;
  }

  get(key: string): StateValue | undefined {
    this.isUsed = true;
    return this.#values.get(key);
  }

  set(key: string, value: StateValue): void {
    this.isUsed = true;
    this.#values.set(key, value);
  }

  delete(key: string): void {
    this.#values.delete(key);
  }

  entries(): IterableIterator<[string, StateValue]> {
    this.isUsed = true;
    return this.#values.entries();
  }

  commit(): void {}

  copy(): RecordedState {
    const entries = [...this.#values].map(([key, value]): [string, StateValue] => {
      const written = JSON.stringify(value) as string | undefined;
      const copy = written === undefined ? undefined : JSON.parse(written);
      demand(
        isDeepStrictEqual(copy, value),
        `it sets ctx.state.${key} to a value that JSON cannot represent; state is kept as JSON`,
      );
      return [key, copy];
    });
    return new RecordedState(new Map(entries));
  }
}
