import { isDeepStrictEqual } from 'node:util';
import { toUtc } from '../../../../operators/internal.ts';
import { isEvent, isEventBatch } from '../../../sdk/event-batch.ts';
import type { CollectedEvent } from '../../../sdk/events.ts';
import { frozenCopy, isFrozenWrite } from '../../../sdk/freeze.ts';
import { type Check, CheckFailure, demand, reasonOf } from '../check.ts';
import { collected, handled, type Observed, observe, processed } from '../observe.ts';
import { openCopy } from '../open-copy.ts';
import type { Subject } from '../subject.ts';

const NEW_EVENT = 'make a new event: { ...event, data: { ...event.data, … } }';

/** What the events that a plugin takes and gives promise. */
export const EVENT_CHECKS: readonly Check[] = [
  {
    name: 'events: what it emits are events',
    kinds: ['collect', 'process'],
    async run(subject) {
      const emitted = (await emissions(subject)).flat();
      if (emitted.length > 0) for (const value of emitted) checkEvent(value);
      else if (subject.kind === 'process') return 'it emitted nothing for any of the events';
      else throw new CheckFailure(nothingCame(subject));
      return undefined;
    },
  },
  {
    name: 'immutability: it does not write to events or to its configuration',
    kinds: ['process', 'forward'],
    async run(subject) {
      for (const event of subject.events) {
        const open = openCopy(event);
        const free = await observe(subject, () => handled(subject, subject.context(), open));
        demand(isDeepStrictEqual(open, event), `it changed the event that it was given; ${NEW_EVENT}`);
        const frozen = await observe(subject, () => handled(subject, subject.context(), frozenCopy(event)));
        const [onFree, onFrozen] = [failureOf(free), failureOf(frozen)];
        demand(
          onFrozen === undefined || onFree !== undefined,
          `it failed on a frozen event, and not on one that can be written to: ${reasonOf(onFrozen?.error)}; ${NEW_EVENT}`,
        );
        demand(
          !isFrozenWrite(onFree?.error),
          `it writes to its configuration, which is frozen: ${reasonOf(onFree?.error)}; keep state in ctx.cache`,
        );
      }
      return undefined;
    },
  },
  {
    name: 'immutability: its events share nothing that can be changed',
    kinds: ['collect', 'process'],
    async run(subject) {
      const known = new Map<object, number>();
      (await emissions(subject)).forEach((events, source) => {
        for (const value of events.filter(isEvent)) {
          for (const part of [value, value.data]) {
            if (Object.isFrozen(part)) continue;
            const first = known.get(part) ?? source;
            const what = part === value ? 'the same object' : 'the same `data`';
            demand(
              first === source,
              `it emits ${what} for several events, so that a change to one is a change to all; make a new one for each`,
            );
            known.set(part, source);
          }
        }
      });
      return undefined;
    },
  },
];

/** What was emitted, by what it was emitted for. */
async function emissions(subject: Subject): Promise<unknown[][]> {
  if (subject.kind === 'collect') {
    const ctx = subject.context();
    const observed = await observe(subject, () => collected(subject, ctx));
    demandSuccess(observed, 'collect');
    const values = observed.values.flatMap((value) => (isEventBatch(value) ? value.events : [value]));
    return values.map((value) => [value]);
  }
  const ctx = subject.context();
  const all: unknown[][] = [];
  for (const event of subject.events) {
    const observed = await observe(subject, () => processed(subject, ctx, openCopy(event)));
    demandSuccess(observed, 'process');
    all.push(observed.values);
  }
  return all;
}

function demandSuccess(observed: Observed<unknown>, name: string): void {
  const failure = failureOf(observed);
  const where = observed.crash === undefined ? 'failed' : 'threw where nobody can catch it';
  demand(
    failure === undefined,
    `${name} ${where}: ${reasonOf(failure?.error)}; give \`config\`, \`host\` or \`events\` with which it works`,
  );
}

function failureOf({ end, error, crash }: Observed<unknown>): { readonly error: unknown } | undefined {
  return crash ?? (end === 'failed' ? { error } : undefined);
}

function checkEvent(value: unknown): asserts value is CollectedEvent {
  demand(isEvent(value), `it emitted ${shapeOf(value)}; an event is { timestamp, data: { … } }`);
  const stamp: unknown = value.timestamp;
  demand(
    typeof stamp === 'string' && toUtc(stamp) !== undefined,
    `an event has the timestamp ${String(stamp)}; expected ISO 8601: use collectedEvent(data), or isoNow()`,
  );
}

function shapeOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : `a ${typeof value}`;
  if (Array.isArray(value)) return 'an array';
  return `an object with the keys ${Object.keys(value).join(', ') || '(none)'}`;
}

function nothingCame({ isVirtual, patience }: Subject): string {
  const time = isVirtual ? 'an hour of virtual time' : `${patience} ms`;
  return `it emitted nothing in ${time}; give \`config\` or \`host\` with which it emits something`;
}
