import type { Redactor } from '../../operators/internal-masks.ts';
import { createRedactor } from '../../plugins/masks/redact-masking.ts';
import { RedactProcessConfig } from '../../plugins/process/redact.ts';
import { type Entry, entriesOf, type Half, type RealisticSample, sampleOf } from './realistic.ts';

/*
 * What `redact` does to the lines of realistic/: how many of the marked values it replaces, whole or in part, and whether
 * it leaves the rest as it is.
 */

/** What became of a value. */
export type Fate = 'masked' | 'in part' | 'missed';

export interface Unit {
  readonly fate: Fate;
  /** No six characters of it are left, or fewer if it is shorter. */
  readonly isFound: boolean;
}

export interface Result {
  readonly entry: Entry;
  readonly text: string;
  readonly masked: string;
  readonly units: readonly Unit[];
  /** Whether something other than the marked values was replaced. */
  readonly altersRest: boolean;
}

const MASK = /<:[\w-]*:>/;
/** A number or literal of JSON becomes a string when it is masked. */
const MASK_WITH_QUOTES = /"?<:[\w-]*:>"?/;

const redactorOf = (packs: string[]) =>
  createRedactor(RedactProcessConfig.parse({ plugin: 'redact', packs }), { now: () => 0, onMask: () => {} });

/** Masks lines as those of a file that has others before them. */
function maskLines(redactor: Redactor, source: string, lines: readonly string[]): string[] {
  redactor.startSource(source, 'started\n');
  redactor.maskLine(source, 'started');
  return lines.map((line) => redactor.maskLine(source, line));
}

/** 0 for a character that has to stay, 1 for one that may, 2 for one that may not. */
type Weight = 0 | 1 | 2;

/**
 * Which characters of a line are left. What is masked is not visible in a masked line, so of all ways in which it can have
 * come from the line, this is the one that leaves least of the values.
 *
 * @returns undefined if the line was not only masked
 */
export function charactersLeft(
  line: string,
  masked: string,
  weights: readonly Weight[],
): boolean[] | undefined {
  return aligned(line, masked.split(MASK), weights) ?? aligned(line, masked.split(MASK_WITH_QUOTES), weights);
}

function aligned(line: string, pieces: readonly string[], weights: readonly Weight[]): boolean[] | undefined {
  const { length } = line;
  const sums = [0];
  for (let i = 0; i < length; i++) sums.push((sums[i] as number) + (weights[i] ?? 0));
  const last = pieces.length - 1;
  // For each piece and each place, the least weight of the pieces so far if this one starts there.
  const costs = pieces.map(() => new Array<number>(length + 1).fill(Number.POSITIVE_INFINITY));
  const before = pieces.map(() => new Array<number>(length + 1).fill(-1));
  for (const [k, piece] of pieces.entries()) {
    let best = k === 0 ? 0 : Number.POSITIVE_INFINITY;
    let from = -1;
    for (let at = 0; at + piece.length <= length; at++) {
      // A mask replaces at least one character.
      const end = at - 1 - (pieces[k - 1]?.length ?? 0);
      const cost = k > 0 && end >= 0 ? (costs[k - 1]?.[end] as number) : Number.POSITIVE_INFINITY;
      if (cost < best) [best, from] = [cost, end];
      const isPlaced =
        (k > 0 || at === 0) && (k < last || at + piece.length === length) && line.startsWith(piece, at);
      if (!isPlaced || best === Number.POSITIVE_INFINITY) continue;
      (costs[k] as number[])[at] = best + (sums[at + piece.length] as number) - (sums[at] as number);
      (before[k] as number[])[at] = from;
    }
  }
  let at = costs[last]?.reduce((least, cost, i, all) => (cost < (all[least] as number) ? i : least), 0) ?? 0;
  if (costs[last]?.[at] === Number.POSITIVE_INFINITY) return undefined;
  const left = new Array<boolean>(length).fill(false);
  for (let k = last; k >= 0; k--) {
    left.fill(true, at, at + (pieces[k] as string).length);
    at = before[k]?.[at] as number;
  }
  return left;
}

/** What masking did to a sample. `masked` has as many lines as it. */
export function resultOf(
  entry: Entry,
  { text, spans, free }: RealisticSample,
  masked: readonly string[],
): Result {
  const weights = new Array<Weight>(text.length).fill(0);
  for (const [start, end] of free) weights.fill(1, start, end);
  for (const [start, end] of spans) weights.fill(2, start, end);
  let start = 0;
  const left: (boolean | undefined)[] = text.split('\n').flatMap((line, i) => {
    const ofLine = weights.slice(start, start + line.length);
    start += line.length + 1;
    const known = charactersLeft(line, masked[i] as string, ofLine);
    // What else became of a line cannot be told.
    return [...(known ?? new Array<undefined>(line.length).fill(undefined)), true];
  });
  const all = masked.join('\n');
  const units = spans.map(([from, to]): Unit => {
    const value = text.slice(from, to);
    const ofValue = left.slice(from, to);
    if (ofValue.includes(undefined)) return { fate: 'in part', isFound: !all.includes(value.slice(0, 6)) };
    const kept = ofValue.filter((isLeft) => isLeft === true).length;
    const longest = Math.max(
      ...ofValue
        .map((isLeft) => (isLeft ? '1' : '0'))
        .join('')
        .split('0')
        .map((run) => run.length),
    );
    const fate = kept === 0 ? 'masked' : kept === value.length ? 'missed' : 'in part';
    return { fate, isFound: longest < Math.min(6, value.length) };
  });
  const altersRest = left.some((isLeft, i) => isLeft !== true && weights[i] === 0);
  return { entry, text, masked: all, units, altersRest };
}

/** The results of entries with secrets, each filled so many times. Those of people need the packs for them. */
export function measureRealistic(samples: number): Result[] {
  const redactors = { secrets: redactorOf(['default']), people: redactorOf(['all']) };
  return entriesOf().flatMap((entry) =>
    Array.from({ length: samples }, (_, number) => {
      const sample = sampleOf(entry, number);
      const redactor = entry.kind === 'people' ? redactors.people : redactors.secrets;
      return resultOf(entry, sample, maskLines(redactor, `${entry.id}-${number}`, sample.text.split('\n')));
    }),
  );
}

/** The results of ordinary entries, each filled so many times. */
export function measureOrdinary(packs: string[], samples: number): Result[] {
  const redactor = redactorOf(packs);
  return entriesOf('ordinary').flatMap((entry) =>
    Array.from({ length: samples }, (_, number) => {
      const { text } = sampleOf(entry, number);
      const masked = maskLines(redactor, `${entry.id}-${number}`, text.split('\n'));
      return { entry, text, masked: masked.join('\n'), units: [], altersRest: masked.join('\n') !== text };
    }),
  );
}

function groupBy<T, K>(values: readonly T[], keyOf: (value: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const value of values) {
    const key = keyOf(value);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [value]);
    else group.push(value);
  }
  return groups;
}

const percent = (part: number, whole: number) =>
  whole === 0 ? '–' : `${((part / whole) * 100).toFixed(1)} %`;
const row = (...cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |`;

export interface Figures {
  readonly entries: number;
  readonly units: number;
  readonly found: number;
  readonly masked: number;
  readonly inPart: number;
  /** Samples that were altered, and those of them in which nothing but values was. */
  readonly altered: number;
  readonly precise: number;
}

export function figuresOf(results: readonly Result[]): Figures {
  const units = results.flatMap((result) => result.units);
  const altered = results.filter(({ text, masked }) => text !== masked);
  return {
    entries: new Set(results.map(({ entry }) => entry.id)).size,
    units: units.length,
    found: units.filter(({ isFound }) => isFound).length,
    masked: units.filter(({ fate }) => fate === 'masked').length,
    inPart: units.filter(({ fate }) => fate === 'in part').length,
    altered: altered.length,
    precise: altered.filter(({ altersRest }) => !altersRest).length,
  };
}

const cells = ({ entries, units, found, masked, inPart, altered, precise }: Figures) =>
  [entries, units, percent(found, units), percent(masked, units), inPart, percent(precise, altered)] as const;

const HEADINGS = ['Entries', 'Values', 'Recall', 'Masked whole', 'In part', 'Precision'] as const;

/** The figures for each value of a property of entries, for both halves. */
export function tableBy(
  results: readonly Result[],
  title: string,
  property: (entry: Entry) => string,
): string {
  const groups = groupBy(results, ({ entry }) => property(entry));
  const half = (of: readonly Result[], name: Half) => {
    const { found, units } = figuresOf(of.filter(({ entry }) => entry.half === name));
    return percent(found, units);
  };
  const line = (name: string, of: readonly Result[]) =>
    row(name, ...cells(figuresOf(of)), half(of, 'tuning'), half(of, 'held back'));
  return [
    row(title, ...HEADINGS, 'Recall, tuning', 'held back'),
    row('---', ...[...HEADINGS, '', ''].map(() => '---:')),
    ...[...groups].map(([name, of]) => line(name, of)),
    line('all', results),
  ].join('\n');
}

/** How many of ten thousand ordinary lines were altered. */
export function alteredPerTenThousand(results: readonly Result[]): number {
  let lines = 0;
  let altered = 0;
  for (const { text, masked } of results) {
    const after = masked.split('\n');
    for (const [i, line] of text.split('\n').entries()) {
      lines++;
      if (line !== after[i]) altered++;
    }
  }
  return (altered / lines) * 10_000;
}

/** The ordinary lines that were altered, by kind. The halves are those of the first packs. */
export function ordinaryTable(byPacks: Readonly<Record<string, readonly Result[]>>): string {
  const names = Object.keys(byPacks);
  const measured = Object.values(byPacks);
  const [first = []] = measured;
  const kinds = [...new Set(first.map(({ entry }) => entry.kind)), 'all'];
  const figure = (of: readonly Result[], kind: string, half?: Half) => {
    const isMeant = ({ entry }: Result) =>
      (kind === 'all' || entry.kind === kind) && (half === undefined || entry.half === half);
    const meant = of.filter(isMeant);
    return meant.length === 0 ? '–' : alteredPerTenThousand(meant).toFixed(1);
  };
  const entries = (kind: string) =>
    new Set(first.flatMap(({ entry }) => (kind === 'all' || entry.kind === kind ? [entry.id] : []))).size;
  return [
    row('Kind', 'Entries', ...names.map((name) => `Altered of 10,000, ${name}`), 'Tuning', 'Held back'),
    row('---', '---:', ...names.map(() => '---:'), '---:', '---:'),
    ...kinds.map((kind) =>
      row(
        kind,
        entries(kind),
        ...measured.map((of) => figure(of, kind)),
        figure(first, kind, 'tuning'),
        figure(first, kind, 'held back'),
      ),
    ),
  ].join('\n');
}

/** What is wrong with results, to read: an entry with its template, then what masking made of its samples. */
export function missesOf(results: readonly Result[]): string {
  const isWrong = ({ units, altersRest }: Result) =>
    altersRest || units.some(({ fate }) => fate !== 'masked');
  const byEntry = groupBy(results, ({ entry }) => entry);
  const byKind = groupBy(
    [...byEntry].filter(([, of]) => of.some(isWrong)),
    ([{ kind }]) => kind,
  );
  return [...byKind]
    .map(([kind, entries]) => {
      const blocks = entries.map(([entry, of]) => {
        const wrong = of.filter(isWrong);
        const what = [
          wrong.some(({ units }) => units.some(({ fate }) => fate === 'missed')) ? 'missed' : '',
          wrong.some(({ units }) => units.some(({ fate }) => fate === 'in part')) ? 'in part' : '',
          wrong.some(({ altersRest }) => altersRest) ? 'alters the rest' : '',
        ].filter((word) => word !== '');
        const head = `${entry.file}:${entry.line} ${entry.id} (${entry.notation}; ${entry.half}): ${what.join(', ')} in ${wrong.length} of ${of.length}`;
        const samples = wrong
          .slice(0, 2)
          .flatMap(({ text, masked }) => [
            `    ${text.replaceAll('\n', '\n    ')}`,
            `  > ${masked.replaceAll('\n', '\n    ')}`,
          ]);
        return [head, ...samples].join('\n');
      });
      return `== ${kind}: ${entries.length} entries\n\n${blocks.join('\n\n')}`;
    })
    .join('\n\n');
}
