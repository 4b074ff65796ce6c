import { isDeepStrictEqual } from 'node:util';
import { counted } from '../../operators/internal.ts';
import { processLines } from '../rows/process-lines.ts';
import { describeValue } from '../sdk/checks/describe.ts';
import { isMapping } from '../sdk/checks/problem.ts';
import type { PipelineRunContext } from '../sdk/context.ts';
import { MillraceError, safeReason } from '../sdk/errors.ts';
import type { CollectedEvent } from '../sdk/events.ts';
import type { LineEvents } from '../sdk/line-events.ts';
import { ParsedEvents } from '../sdk/parsed-events.ts';
import type { LineMapping, ProcessPlugin, RowMapping } from '../sdk/plugin.ts';
import { truncate } from '../sdk/printable.ts';
import type { Rows } from '../sdk/rows.ts';
import { serialise } from '../sdk/serialise.ts';
import { lineEnvelopeOf } from './rows-of-events.ts';

/** What a processor makes of one event: events, or a failure in the words of the log. */
export type RowOutcome = { readonly events: readonly CollectedEvent[] } | { readonly failure: string };

/** What a faster form of a processor makes of rows: an outcome for each of them. */
interface MappedRows {
  readonly by: 'mapLines' | 'mapRows';
  readonly outcomes: readonly RowOutcome[];
}

/** How a faster form breaks the contract, in the words of a message. */
export class FormProblem extends MillraceError {
  constructor(message: string) {
    super('MILLRACE_CONFORMANCE', message);
    this.name = 'FormProblem';
  }
}

/**
 * What the faster forms of a processor make of rows, in the order in which the engine asks for them. Undefined if they
 * leave the rows to `process`.
 *
 * @param ends where the calls of a row mapping end. Default: one call for all rows.
 * @throws FormProblem if a form does not account for each row
 */
export function mapByFasterForm(
  plugin: Pick<ProcessPlugin, 'mapLines' | 'mapRows'>,
  ctx: PipelineRunContext<never>,
  rows: Rows,
  ends: readonly number[] = [rows.size],
): MappedRows | undefined {
  const { lines } = rows;
  const mapping = lines && called('mapLines', () => plugin.mapLines?.({ ctx, envelope: lines.envelope }));
  if (lines !== undefined && mapping !== undefined) return mapLines(lines, mapping);
  const rowMapping = called('mapRows', () => plugin.mapRows?.({ ctx, rows }));
  return rowMapping === undefined ? undefined : mapRows(rows, rowMapping, ends);
}

function mapLines(lines: LineEvents, mapping: LineMapping): MappedRows {
  demandForm(
    typeof (mapping as Partial<LineMapping> | null)?.map === 'function',
    `mapLines returned ${describeValue(mapping)}; expected { map }, or undefined if process has to do it`,
  );
  const outcomes = new Outcomes(lines.size);
  const mapped = called('what mapLines returned', () =>
    processLines(lines, mapping, {
      failed: (index, error) => outcomes.failed(index, error),
      dropped: (_, indexes) => {
        for (const index of indexes()) outcomes.dropped(index);
      },
    }),
  );
  outcomes.give(0, lines.size, mapped.events);
  return { by: 'mapLines', outcomes: outcomes.all };
}

function mapRows(rows: Rows, mapping: RowMapping, ends: readonly number[]): MappedRows {
  demandForm(
    typeof mapping === 'function',
    `mapRows returned ${describeValue(mapping)}; expected a function, or undefined if process has to do it`,
  );
  const outcomes = new Outcomes(rows.size);
  let start = 0;
  /** Up to here rows are mapped one by one. */
  let singleUntil = 0;
  for (const end of ends) {
    do {
      const upTo = start < singleUntil ? start + 1 : end;
      let reached = upTo;
      const postponed = (position: number, until: number) => {
        demandForm(
          upTo - start > 1 && position >= start && position < until && until <= upTo,
          `mapRows called postponed with ${position} and ${until} for the rows ${start} to ${upTo - 1}; expected some of several rows`,
        );
        reached = position;
        singleUntil = until;
      };
      const told = { ...outcomes.between(start, upTo), postponed };
      const given = called('the mapping of mapRows', () => mapping(start, upTo, told));
      demandForm(
        given instanceof ParsedEvents,
        `the mapping of mapRows returned ${describeValue(given)}; expected ParsedEvents, as \`mapFields\` makes them`,
      );
      outcomes.give(start, reached, given.events);
      start = reached;
    } while (start < end);
  }
  return { by: 'mapRows', outcomes: outcomes.all };
}

/** What became of each row; each of them has to come out, to be dropped, or to fail. */
class Outcomes {
  readonly #all: (RowOutcome | undefined)[];

  constructor(size: number) {
    this.#all = new Array(size).fill(undefined);
  }

  get all(): readonly RowOutcome[] {
    return this.#all as RowOutcome[];
  }

  dropped(position: number): void {
    this.#all[position] = { events: [] };
  }

  failed(position: number, error: unknown): void {
    this.#all[position] = { failure: failureText(error) };
  }

  /** What a mapping is told for the rows from `start` to before `end`. */
  between(start: number, end: number): Pick<Outcomes, 'dropped' | 'failed'> {
    const expectPosition = (name: string, position: number) => {
      const isOne = Number.isInteger(position) && position >= start && position < end;
      demandForm(
        isOne && this.#all[position] === undefined,
        isOne
          ? `mapRows told of row ${position} twice; call \`dropped\` or \`failed\` once for a row that does not come out`
          : `mapRows called ${name} with ${describeValue(position)} for the rows ${start} to ${end - 1}; positions count in \`rows\``,
      );
    };
    return {
      dropped: (position) => {
        expectPosition('dropped', position);
        this.dropped(position);
      },
      failed: (position, error) => {
        expectPosition('failed', position);
        this.failed(position, error);
      },
    };
  }

  /** The events that came of all rows from `start` to before `end` that were neither dropped nor failed. */
  give(start: number, end: number, events: readonly CollectedEvent[]): void {
    const open = Array.from({ length: end - start }, (_, index) => start + index).filter(
      (position) => this.#all[position] === undefined,
    );
    demandForm(
      open.length === events.length,
      `mapRows gave ${counted(events.length, 'row')} for the rows ${start} to ${end - 1}, where ${open.length} were neither dropped nor failed; call \`dropped\` or \`failed\` for each row that does not come out`,
    );
    open.forEach((position, index) => {
      this.#all[position] = { events: [events[index] as CollectedEvent] };
    });
  }
}

function called<T>(what: string, call: () => T): T {
  try {
    return call();
  } catch (error) {
    if (error instanceof FormProblem) throw error;
    const hint = what.includes('mapRows') ? '; call `failed` for a row that it cannot map' : '';
    throw new FormProblem(`${what} threw "${failureText(error)}", which loses all of its rows${hint}`);
  }
}

function demandForm(isMet: boolean, message: string): asserts isMet {
  if (!isMet) throw new FormProblem(message);
}

/** The logged reason without its place in the code, which differs between the forms. */
export function failureText(error: unknown): string {
  return safeReason(error).replace(/ at \S+:\d+:\d+(?= \()/, '');
}

export const OR_LEAVE_IT = 'let it do the same, or return undefined where it cannot';

/** In one sentence, how a form differs from `process` on an event. Undefined if it does not. */
export function differenceOf(
  event: CollectedEvent,
  by: string,
  mapped: RowOutcome,
  processed: RowOutcome,
): string | undefined {
  if (isSameOutcome(mapped, processed)) return undefined;
  const line = isMapping(event.data) && lineEnvelopeOf(event) !== undefined ? event.data.line : undefined;
  const input =
    line === undefined ? `event ${truncate(shownEvent(event), LONGEST)}` : `line ${describeValue(line)}`;
  return `for the ${input} ${by} ${shownOutcome(mapped)}, where process ${shownOutcome(processed)}; ${OR_LEAVE_IT}`;
}

const LONGEST = 300;

function isSameOutcome(one: RowOutcome, other: RowOutcome): boolean {
  if (isDeepStrictEqual(one, other)) return true;
  if ('failure' in one || 'failure' in other) return false;
  return isDeepStrictEqual(one.events.map(asWritten), other.events.map(asWritten));
}

/** An event as a forwarder would write it. */
function asWritten(event: CollectedEvent): unknown {
  try {
    return JSON.parse(serialise(event));
  } catch {
    return event;
  }
}

function shownOutcome(outcome: RowOutcome): string {
  if ('failure' in outcome) return `failed with "${outcome.failure}"`;
  if (outcome.events.length === 0) return 'gave no event';
  return `gave ${outcome.events.map((event) => truncate(shownEvent(event), LONGEST)).join(' and ')}`;
}

function shownEvent(event: CollectedEvent): string {
  try {
    return serialise(event);
  } catch {
    return 'an event that JSON cannot hold';
  }
}
