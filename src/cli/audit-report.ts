import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { counted } from './format.ts';

/** What a rule has found in a field of a source. */
export interface ReportRow {
  readonly rule: string;
  /** Absent for findings in keys, and in audits of earlier versions. */
  readonly field?: string | undefined;
  readonly source?: string | undefined;
  count: number;
  /** Days, as `2026-11-27`. */
  first: string;
  last: string;
}

/** What audits say, without a value: they have none. */
export interface Report {
  readonly rows: readonly ReportRow[];
  /** Findings by days. */
  readonly days: Readonly<Record<string, number>>;
}

/** A report, and which of its rows an earlier one did not have. */
export interface ComparedReport extends Report {
  /** The last day of the earlier report; undefined if there is none. */
  readonly since: string | undefined;
  readonly isNew: (row: ReportRow) => boolean;
}

/** After this many combinations, new ones are counted without their sources, and after twice as many without their fields too. */
const MOST_ROWS = 100_000;
const OTHER_SOURCES = 'other sources';
const OTHER_FIELDS = 'other fields';

/** Adds up the lines of audits. */
export class AuditReader {
  /** Lines of the last file that are no lines of an audit. */
  skipped = 0;
  readonly #rows = new Map<string, ReportRow>();
  readonly #days = new Map<string, number>();
  readonly #mostRows: number;

  constructor(mostRows = MOST_ROWS) {
    this.#mostRows = mostRows;
  }

  async read(file: string): Promise<void> {
    this.skipped = 0;
    const input = file === '-' ? process.stdin : createReadStream(file);
    for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      if (line.trim() !== '' && !this.#add(line)) this.skipped++;
    }
  }

  report(): Report {
    const rows = [...this.#rows.values()].sort((a, b) => b.count - a.count || compare(keyOf(a), keyOf(b)));
    return { rows, days: Object.fromEntries([...this.#days].sort(([a], [b]) => compare(a, b))) };
  }

  #add(line: string): boolean {
    const finding = findingIn(line);
    if (finding === undefined) return false;
    const { day, ...place } = finding;
    this.#days.set(day, (this.#days.get(day) ?? 0) + 1);
    const counted = this.#countedAs(place);
    const row = this.#rows.get(keyOf(counted)) ?? { ...counted, count: 0, first: day, last: day };
    row.count++;
    if (day < row.first) row.first = day;
    if (day > row.last) row.last = day;
    this.#rows.set(keyOf(row), row);
    return true;
  }

  #countedAs(place: Place): Place {
    const { size } = this.#rows;
    if (size < this.#mostRows || this.#rows.has(keyOf(place))) return place;
    const ofField = { ...place, source: OTHER_SOURCES };
    if (size < 2 * this.#mostRows || this.#rows.has(keyOf(ofField))) return ofField;
    return { ...ofField, field: OTHER_FIELDS };
  }
}

type Place = Pick<ReportRow, 'rule' | 'field' | 'source'>;

const keyOf = ({ rule, field, source }: Place) => JSON.stringify([rule, field, source]);
const compare = (a: string, b: string) => (a < b ? -1 : Number(a > b));

/** The finding of a line of an audit; undefined for other lines. */
function findingIn(line: string): (Place & { readonly day: string }) | undefined {
  let value: Record<string, unknown> | null;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  const { timestamp, rule, field, file, offset, length } = Object(value) as Record<string, unknown>;
  const isText = (text: unknown) => text === undefined || typeof text === 'string';
  if (typeof rule !== 'string' || typeof offset !== 'number' || typeof length !== 'number') return undefined;
  if (typeof timestamp !== 'string' || !/^\d{4}-\d\d-\d\dT/.test(timestamp)) return undefined;
  if (!isText(field) || !isText(file)) return undefined;
  return { rule, field: field as string, source: file as string, day: timestamp.slice(0, 10) };
}

/** @param earlier what is not in it is new; undefined if nothing is compared */
export function comparedWith(report: Report, earlier: Report | undefined): ComparedReport {
  const known = new Set(earlier?.rows.map(keyOf));
  const since = earlier && (Object.keys(earlier.days).at(-1) ?? 'an empty report');
  return { ...report, since, isNew: (row) => earlier !== undefined && !known.has(keyOf(row)) };
}

/** Rows added up by one of their properties, the most findings first. */
export function rowsBy(
  { rows, isNew }: ComparedReport,
  by: 'rule' | 'field' | 'source',
): (Pick<ReportRow, 'count' | 'first' | 'last'> & { readonly name: string; readonly isNew: boolean })[] {
  const groups = new Map<string, ReportRow[]>();
  for (const row of rows) {
    const name = row[by] ?? '-';
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [row]);
    else group.push(row);
  }
  return [...groups]
    .map(([name, group]) => ({
      name,
      count: group.reduce((sum, row) => sum + row.count, 0),
      first: group.map(({ first }) => first).sort()[0] as string,
      last: group
        .map(({ last }) => last)
        .sort()
        .at(-1) as string,
      isNew: group.every(isNew),
    }))
    .sort((a, b) => b.count - a.count || compare(a.name, b.name));
}

/** What stands above the tables. */
export function summaryOf({ days }: Report): string {
  const names = Object.keys(days);
  const sum = Object.values(days).reduce((all, one) => all + one, 0);
  if (names.length === 0) return 'nothing was found';
  const [first, last] = [names[0], names.at(-1)];
  return `${counted(sum, 'finding')}, ${first === last ? first : `${first} to ${last}`}`;
}
