import type { CollectorInput, TestDefinition } from '../../config/tests/test-definition.ts';
import { isMapping } from '../../sdk/checks/problem.ts';
import { durationText } from '../duration.ts';
import { marbleText } from '../marbles.ts';
import { flowText } from './yaml-text.ts';

/** What a collector emits in one run. */
export interface GeneratedRun {
  readonly events: readonly { readonly at: number; readonly value: unknown }[];
  /** With the last event. */
  readonly end: 'completed' | 'failed';
}

/** Digits are left out: beside a letter they could be a time. */
const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';

/** Gives equal values the same letter. */
class LetterPool {
  readonly #letters = new Map<string, string>();

  /** Undefined if there are more values than letters. */
  of(value: unknown): string | undefined {
    const key = JSON.stringify(value);
    const letter = this.#letters.get(key) ?? LETTERS[this.#letters.size];
    if (letter !== undefined) this.#letters.set(key, letter);
    return letter;
  }
}

/**
 * What collectors emit, as a test writes it: a list of what comes all at once, or else marbles. Where marbles cannot say it,
 * because events come too close or are too many for letters, as events with times.
 */
export function writeCollected(
  collected: Readonly<Record<string, readonly GeneratedRun[]>>,
): TestDefinition['collect'] {
  const letters = new LetterPool();
  const inputs = Object.entries(collected).map(([name, runs]) => [name, writeRuns(runs, letters)]);
  return Object.fromEntries(inputs) as TestDefinition['collect'];
}

function writeRuns(runs: readonly GeneratedRun[], letters: LetterPool): CollectorInput {
  const [only] = runs;
  if (runs.length === 1 && only !== undefined && only.events.every(({ at }) => at === 0)) {
    return only.events.map(({ value }) => eventValue(value));
  }
  const texts = runs.map((run) => marblesOf(run, letters));
  if (texts.every((text) => text !== undefined)) {
    const entries = runs
      .flatMap(({ events }) => events)
      .map(({ value }) => [letters.of(value), eventValue(value)]);
    return {
      marbles: texts.length === 1 ? (texts[0] as string) : texts,
      values: Object.fromEntries(entries),
    };
  }
  const timed = runs.map(({ events, end }) => ({
    events: events.map(({ at, value }) => ({ at: durationText(at), value: eventValue(value) })),
    [end === 'failed' ? 'fails_at' : 'completes_at']: durationText(events.at(-1)?.at ?? 0),
  }));
  return timed.length === 1 ? (timed[0] as (typeof timed)[number]) : { runs: timed };
}

/** Undefined if marbles cannot say it. */
function marblesOf({ events, end }: GeneratedRun, letters: LetterPool): string | undefined {
  const groups = new Map<number, string>();
  for (const { at, value } of events) {
    const letter = letters.of(value);
    if (letter === undefined) return undefined;
    groups.set(at, (groups.get(at) ?? '') + letter);
  }
  // The end comes with the last event.
  const last = events.at(-1)?.at ?? 0;
  groups.set(last, `${groups.get(last) ?? ''}${end === 'failed' ? '#' : '|'}`);
  return marbleText(groups);
}

type EventValue = string | number | boolean | Record<string, unknown>;

/** The value of an event as a test may write it. */
function eventValue(value: unknown): EventValue {
  const isWritable = isMapping(value) || ['string', 'number', 'boolean'].includes(typeof value);
  return isWritable ? (value as EventValue) : { value };
}

/** A test as YAML, ready to be pasted into a file of tests. */
export function testYaml(name: string, definition: TestDefinition): string {
  const lines = Object.entries(definition).flatMap(([key, value]) => {
    const isBlock = ['collect', 'forward', 'expect'].includes(key) && isMapping(value);
    if (!isBlock) return [`    ${key}: ${flowText(value)}`];
    const own = Object.entries(value).map(([inner, item]) => `      ${flowText(inner)}: ${flowText(item)}`);
    return own.length === 0 ? [`    ${key}: {}`] : [`    ${key}:`, ...own];
  });
  return ['tests:', `  ${flowText(name)}:`, ...lines].join('\n');
}
