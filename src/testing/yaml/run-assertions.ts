import type { DropExpectation } from '../../config/tests/expectations.ts';
import type { TestDefinition } from '../../config/tests/test-definition.ts';
import { expressionIn } from '../../config/tests/values.ts';
import { formatPath, isMapping, type Path } from '../../sdk/checks/problem.ts';
import type { RouteCondition } from '../../sdk/config.ts';
import type { CollectedEvent } from '../../sdk/events.ts';
import { toJson } from '../../sdk/serialise.ts';
import { timeText } from '../draw/value-text.ts';
import { toMilliseconds } from '../duration.ts';
import type { DroppedEntry, PipelineRun } from '../pipeline-run.ts';
import { assign } from './assignment.ts';
import { mismatch, valueText, written } from './matcher.ts';
import { countedEvents, type Finding, listOf, type ReceivedEvent } from './received.ts';
import { itemPath } from './row-events.ts';

type Expect = TestDefinition['expect'];

/** What a test asserts of the run as a whole. */
export function checkRun(expect: Expect, run: PipelineRun): Finding[] {
  const { dropped, dead_letters, retries, state, states, ended_at, ended_within } = expect;
  return [
    ...(dropped === undefined ? [] : checkDropped(dropped, run)),
    ...numberFinding('dead_letters', dead_letters, run.stats.dead_lettered, ['dead letter', 'dead letters']),
    ...numberFinding('retries', retries, run.stats.retries, ['retry', 'retries']),
    ...(typeof state === 'string' && state !== run.state
      ? [{ path: ['state'], message: `expected ${state}, ${lastState(run)}`, ...lastTrouble(run) }]
      : []),
    ...(Array.isArray(states) ? checkStates(states, run) : []),
    ...(typeof ended_at === 'string' ? checkEnd('ended_at', ended_at, run) : []),
    ...(typeof ended_within === 'string' ? checkEnd('ended_within', ended_within, run) : []),
  ];
}

function numberFinding(
  name: string,
  wanted: unknown,
  found: number,
  [one, many]: readonly [string, string],
): Finding[] {
  if (typeof wanted !== 'number' || wanted === found) return [];
  const were = found === 1 ? 'was 1' : `were ${found === 0 ? 'none' : found}`;
  return [{ path: [name], message: `expected ${wanted} ${wanted === 1 ? one : many}, there ${were}` }];
}

function checkDropped(wanted: NonNullable<Expect['dropped']>, { dropped }: PipelineRun): Finding[] {
  if (wanted === 'none') {
    if (dropped.length === 0) return [];
    const message = `expected no drops, ${countedEvents(dropped.length)} ${dropped.length === 1 ? 'was' : 'were'} dropped`;
    return [{ path: ['dropped'], message, details: dropLines(dropped) }];
  }
  if (!Array.isArray(wanted)) return [];
  const single = wanted.flatMap((drop: DropExpectation, index) =>
    Array.from({ length: drop.count }, () => ({ drop, index })),
  );
  const assigned = assign(single, dropped, ({ drop }, entry) => isLikeDrop(drop, entry));
  const details = dropped.length === 0 ? 'Nothing was dropped.' : `What was dropped:\n${dropLines(dropped)}`;
  const missing = single.filter((_, position) => assigned[position] === undefined);
  const [first] = missing;
  if (first !== undefined) {
    const count = missing.filter(({ index }) => index === first.index).length;
    const { count: all, ...kind } = first.drop;
    const found = all - count;
    const message = `expected ${all} dropped like ${valueText(kind)}, there ${found === 1 ? 'was' : 'were'} ${found === 0 ? 'none' : found}`;
    return [{ path: ['dropped', first.index], message, details }];
  }
  const taken = new Set(assigned);
  const spare = dropped.filter((_, index) => !taken.has(index));
  if (spare.length === 0) return [];
  const message = `${countedEvents(spare.length)} ${spare.length === 1 ? 'was' : 'were'} dropped that the list does not have`;
  return [{ path: ['dropped'], message, details: dropLines(spare) }];
}

function isLikeDrop({ by, reason, event }: DropExpectation, entry: DroppedEntry): boolean {
  if (by !== undefined && by !== entry.by) return false;
  if (reason !== undefined && reason !== entry.reason) return false;
  return event === undefined || mismatch(written(event), { timestamp: '', data: entry.data }) === undefined;
}

function dropLines(dropped: readonly DroppedEntry[]): string {
  return listOf(
    dropped,
    ({ at, by, reason, data }) => `${timeText(at)}  by ${by}, ${reason}: ${valueText(data)}`,
  );
}

function checkStates(wanted: readonly string[], run: PipelineRun): Finding[] {
  const found = run.states.filter(({ state }) => state !== 'idle');
  if (wanted.length === found.length && wanted.every((state, index) => state === found[index]?.state))
    return [];
  const message = `expected ${wanted.join(', ')}; found ${found.map(({ state }) => state).join(', ')}`;
  const lines = found.map(({ at, state }) => `  ${timeText(at)}  ${state}`);
  return [{ path: ['states'], message, details: lines.join('\n') }];
}

function checkEnd(name: 'ended_at' | 'ended_within', wanted: string, run: PipelineRun): Finding[] {
  const limit = toMilliseconds(wanted);
  const end = run.endedAt === undefined ? undefined : Math.round(run.endedAt);
  if (end !== undefined && (name === 'ended_at' ? end === limit : end <= limit)) return [];
  const relation = name === 'ended_at' ? 'an end at' : 'an end within';
  return [
    { path: [name], message: `expected ${relation} ${wanted}, ${lastState(run)}`, ...lastTrouble(run) },
  ];
}

function lastState(run: PipelineRun): string {
  const end = run.endedAt;
  if (end !== undefined) return `the run was ${run.state} at ${timeText(end)}`;
  return `the run had not ended: it was ${run.state} a day after the last marble, when the test gave up`;
}

/** What the engine said last of what went wrong. */
function lastTrouble({ log, state }: PipelineRun): Pick<Finding, 'details'> {
  if (state === 'completed') return {};
  // A test that gives up stops the pipeline, which is not what went wrong.
  const trouble = log.filter((line) => /^(?:error|warn) (?!.* were given up$)/.test(line)).at(-1);
  return trouble === undefined ? {} : { details: `The log said last: ${trouble}` };
}

const CONTEXT = 24;

/** A timestamp of this form tells nothing but the time. */
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?$/;

/**
 * No event contains the texts, in any value or key at any depth. Only a timestamp that is a date and time is not
 * looked at. Without any event there is nothing that it could hold for, unless none is wanted.
 */
export function checkContainsNo(
  items: readonly (string | { readonly when: string })[],
  looked: LookedAt,
): Finding[] {
  const { received } = looked;
  if (isVacuous(looked)) return [nothingToLookAt('contains_no')];
  return items.flatMap((text, index) => {
    const path = itemPath('contains_no', items, index);
    if (typeof text !== 'string') return checkCondition(text.when, false, looked, path);
    const found = received.flatMap((event) => {
      const place = findText(text, event.event);
      return place === undefined ? [] : [{ ...event, ...place }];
    });
    if (found.length === 0) return [];
    const contain = found.length === 1 ? 'contains' : 'contain';
    return [
      {
        path,
        message: `${found.length} of ${countedEvents(received.length)} ${contain} ${valueText(text)}`,
        details: listOf(found, (one) => `${whereOf(one)}${one.place}: ${one.excerpt}`),
      },
    ];
  });
}

/** An event, and which of several forwarders got it. */
type ReceivedBy = ReceivedEvent & { readonly by?: string };

const whereOf = ({ at, by }: ReceivedBy) => `${timeText(at)}  ${by === undefined ? '' : `${by}  `}`;

/** What assertions about single events look at. */
interface LookedAt {
  readonly received: readonly ReceivedBy[];
  /** Whether the test says that no event is to come. */
  readonly isNoneWanted: boolean;
  /** Compiled conditions, by their source. */
  readonly conditions: ReadonlyMap<string, RouteCondition>;
}

const isVacuous = ({ received, isNoneWanted }: LookedAt) => received.length === 0 && !isNoneWanted;

function nothingToLookAt(assertion: string): Finding {
  const message = 'there was no event to look at; if that is right, say so with `count: 0` or an empty list';
  return { path: [assertion], message, isVacuous: true };
}

/** Each condition is true for every event. */
export function checkAlways(sources: readonly string[], looked: LookedAt): Finding[] {
  if (isVacuous(looked)) return [nothingToLookAt('always')];
  return sources.flatMap((source, index) =>
    checkCondition(source, true, looked, itemPath('always', sources, index)),
  );
}

/** The events for which a condition has a wrong result, or none. */
function checkCondition(
  source: string,
  expected: boolean,
  { received, conditions }: LookedAt,
  path: Path,
): Finding[] {
  const results = received.map((item) => ({ ...item, result: resultOf(conditions.get(source), item) }));
  const wrong = results.filter(({ result }) => result !== expected);
  if (wrong.length === 0) return [];
  const lines = listOf(wrong, (one) => {
    const reason = typeof one.result === 'string' ? `  (${one.result})` : '';
    return `${whereOf(one)}${valueText(one.event.data)}${reason}`;
  });
  const what = wrong.every(({ result }) => result === !expected)
    ? String(!expected)
    : 'not what it should be';
  const message = `\`${source}\` is ${what} for ${wrong.length} of ${countedEvents(received.length)}`;
  return [{ path, message, details: lines }];
}

/** What a condition is for an event, or in words why it is nothing. */
function resultOf(condition: RouteCondition | undefined, { event }: ReceivedEvent): boolean | string {
  try {
    return condition?.holds(event) ?? 'it was not compiled';
  } catch (error) {
    return (error as Error).message;
  }
}

interface FoundText {
  readonly place: string;
  readonly excerpt: string;
}

function findText(text: string, whole: CollectedEvent): FoundText | undefined {
  const { timestamp, ...others } = whole;
  const event = DATE_TIME.test(String(timestamp)) ? others : whole;
  const expression = expressionIn(text);
  for (const { path, content, isKey } of textsIn(event, [])) {
    const excerpt = excerptAround(text, expression, content);
    if (excerpt !== undefined) return { place: `${isKey ? 'the key ' : ''}${formatPath(path)}`, excerpt };
  }
  // What reaches from one value into another, such as `"user":"ada"`.
  const excerpt = excerptAround(text, expression, toJson(event));
  return excerpt === undefined ? undefined : { place: 'as JSON', excerpt };
}

function excerptAround(text: string, expression: RegExp | undefined, content: string): string | undefined {
  const match = expression?.exec(content);
  const start = expression === undefined ? content.indexOf(text) : (match?.index ?? -1);
  return start === -1 ? undefined : excerptOf(content, start, match?.[0].length ?? text.length);
}

function* textsIn(value: unknown, path: Path): Generator<{ path: Path; content: string; isKey: boolean }> {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* textsIn(item, [...path, index]);
  } else if (isMapping(value)) {
    for (const [key, item] of Object.entries(value)) {
      yield { path: [...path, key], content: key, isKey: true };
      yield* textsIn(item, [...path, key]);
    }
  } else if (value !== null && value !== undefined) {
    yield { path, content: String(value), isKey: false };
  }
}

function excerptOf(content: string, start: number, length: number): string {
  const from = Math.max(0, start - CONTEXT);
  const to = Math.min(content.length, start + length + CONTEXT);
  return `${from > 0 ? '…' : ''}${content.slice(from, to)}${to < content.length ? '…' : ''}`;
}
