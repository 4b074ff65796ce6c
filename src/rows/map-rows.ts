import { ParsedEvents } from '../sdk/parsed-events.ts';
import type { RowMapping, RowOutcomes } from '../sdk/plugin.ts';
import { calledFor, kindOf, wrongReturn } from '../sdk/plugin-returns.ts';

const MAPPING = 'the mapping of mapRows';
const ACCOUNT =
  'each position from `start` to before `end` once: as a row of the result, or told to `dropped` or `failed`';

/** What came of the rows from a start on, up to before `end`. */
interface MappedRows {
  readonly rows: ParsedEvents;
  readonly end: number;
  /** The rows after `end`, up to here, are mapped one by one; undefined if none is postponed. */
  readonly singleUntil: number | undefined;
  readonly dropped: readonly number[];
  readonly failed: readonly (readonly [position: number, error: unknown])[];
}

/**
 * Calls a mapping of `mapRows` for the rows from `start` to before `end`, and accounts for all of them: a row that is lost
 * would never be acknowledged, and one too many would be acknowledged in place of another.
 *
 * @throws MillraceError `MILLRACE_PLUGIN_RETURN` if it does not give each row once. `who` is `processor parse`, say.
 */
export function mapRowsOf(mapping: RowMapping, start: number, end: number, who: string): MappedRows {
  const isTold = new Uint8Array(end - start);
  const dropped: number[] = [];
  const failed: [number, unknown][] = [];
  let left: [position: number, end: number] | undefined;
  let problem: string | undefined;
  const isFirst = (name: string, position: number): boolean => {
    if (!isBetween(position, start, end - 1)) {
      problem ??= `${MAPPING} called \`${name}\` with ${shown(position)} for the rows from ${start} to before ${end}`;
      return false;
    }
    if (isTold[position - start] === 1) problem ??= `${MAPPING} told of the row ${position} twice`;
    else isTold[position - start] = 1;
    return true;
  };
  const outcomes: RowOutcomes = {
    dropped: (position) => {
      if (isFirst('dropped', position)) dropped.push(position);
    },
    failed: (position, error) => {
      if (isFirst('failed', position)) failed.push([position, error]);
    },
    postponed: (position, until) => {
      if (end - start > 1 && isBetween(position, start, end - 1) && isBetween(until, position + 1, end))
        left = [position, until];
      else
        problem ??= `${MAPPING} called \`postponed\` with ${shown(position)} and ${shown(until)} for the rows from ${start} to before ${end}`;
    },
  };
  const rows: unknown = calledFor(who, MAPPING, () => mapping(start, end, outcomes));
  if (problem !== undefined) throw wrongReturn(who, problem, ACCOUNT);
  if (!isParsed(rows)) {
    throw wrongReturn(
      who,
      `${MAPPING} returned ${kindOf(rows)}`,
      '`ParsedEvents` of the rows that are neither dropped nor failed',
    );
  }
  const [reached, singleUntil] = left ?? [end, undefined];
  const told = [...dropped, ...failed.map(([position]) => position)];
  if (told.some((position) => position >= reached)) {
    throw wrongReturn(who, `${MAPPING} told of a row that it postponed`, ACCOUNT);
  }
  const wanted = reached - start - dropped.length - failed.length;
  if (rows.size !== wanted) {
    const did = `${MAPPING} returned ${rows.size} rows for the positions from ${start} to before ${reached}, with ${dropped.length} dropped and ${failed.length} failed`;
    throw wrongReturn(who, did, ACCOUNT);
  }
  const formProblem = problemOf(rows);
  if (formProblem !== undefined)
    throw wrongReturn(who, `${MAPPING} returned ${formProblem[0]}`, formProblem[1]);
  return { rows, end: reached, singleUntil, dropped, failed };
}

function problemOf({ fields, timestamps }: ParsedEvents): [problem: string, expected: string] | undefined {
  if (timestamps !== undefined && timestamps.length !== fields.length) {
    const problem = `${fields.length} rows with ${timestamps.length} timestamps`;
    return [problem, 'as many timestamps as rows, or none'];
  }
  for (const row of fields as readonly unknown[]) {
    if (typeof row !== 'object' || row === null || Array.isArray(row))
      return [`a row whose fields are ${kindOf(row)}`, 'an object'];
  }
  return undefined;
}

function isBetween(value: unknown, least: number, most: number): boolean {
  return Number.isInteger(value) && (value as number) >= least && (value as number) <= most;
}

function shown(position: unknown): string {
  return typeof position === 'number' ? String(position) : kindOf(position);
}

/** Also those of another installed copy of millrace: plugins may bring their own. */
function isParsed(value: unknown): value is ParsedEvents {
  if (value instanceof ParsedEvents) return true;
  if (typeof value !== 'object' || value === null) return false;
  const { fields, envelope, toJsonLines } = value as Partial<ParsedEvents>;
  return Array.isArray(fields) && typeof envelope === 'object' && typeof toJsonLines === 'function';
}
