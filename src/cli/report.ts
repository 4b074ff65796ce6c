import { readFile, writeFile } from 'node:fs/promises';
import { safeReason } from '../sdk/errors.ts';
import { printable } from '../sdk/printable.ts';
import {
  AuditReader,
  type ComparedReport,
  comparedWith,
  type Report,
  rowsBy,
  summaryOf,
} from './audit-report.ts';
import type { ReportOptions } from './commands.ts';
import { ExitCode, UsageError } from './errors.ts';
import { count, table } from './format.ts';
import { reportPage } from './report-page.ts';
import { coloursFor } from './terminal.ts';

/** The name of the format in which reports are saved. */
const FORMAT = 'millrace-report-1';
/** Rows of each table in a terminal. */
const MOST_SHOWN = 20;

/** `millrace report FILE…`: what audits say. 1 if something is new, 2 if a file cannot be read. */
export async function report(files: readonly string[], options: ReportOptions): Promise<number> {
  if (files.length === 0) {
    throw new UsageError(
      'report needs at least one FILE that `audit` of a `redact` processor wrote; - is standard input\nTry: millrace report --help',
    );
  }
  const earlier = options.since === undefined ? undefined : await savedReport(options.since);
  const reader = new AuditReader();
  for (const file of files) {
    try {
      await reader.read(file);
    } catch (error) {
      throw new UsageError(`${nameOf(file)} cannot be read: ${safeReason(error)}`);
    }
    if (reader.skipped === 0) continue;
    const lines = reader.skipped === 1 ? '1 line that is' : `${count(reader.skipped)} lines that are`;
    process.stderr.write(`millrace: ${nameOf(file)}: left out ${lines} not of an audit\n`);
  }
  const compared = comparedWith(reader.report(), earlier);
  if (options.json !== undefined) {
    await save(options.json, `${JSON.stringify({ format: FORMAT, ...reader.report() })}\n`);
  }
  if (options.html !== undefined) await save(options.html, reportPage(compared));
  process.stdout.write(terminalText(compared));
  return earlier !== undefined && compared.rows.some(compared.isNew) ? ExitCode.failed : ExitCode.ok;
}

const nameOf = (file: string) => (file === '-' ? 'standard input' : printable(file));

async function save(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text);
  } catch (error) {
    throw new UsageError(`${printable(file)} cannot be written: ${safeReason(error)}`);
  }
}

/** An earlier report, which `--json` saved. */
async function savedReport(file: string): Promise<Report> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    throw new UsageError(`--since ${printable(file)} cannot be read: ${safeReason(error)}`);
  }
  try {
    const saved: unknown = JSON.parse(text);
    if (isReport(saved)) return saved;
  } catch {
    // The next line says it.
  }
  throw new UsageError(
    `--since ${printable(file)} is no report; expected a file that \`millrace report --json\` wrote`,
  );
}

function isReport(saved: unknown): saved is Report {
  const { format, rows, days } = Object(saved) as Record<string, unknown>;
  const isRow = (row: unknown) => typeof Object(row).rule === 'string';
  return format === FORMAT && Array.isArray(rows) && rows.every(isRow) && Object(days) === days;
}

function terminalText(report: ComparedReport): string {
  const colours = coloursFor(process.stdout);
  const section = (head: readonly string[], rows: readonly (readonly string[])[]) => {
    if (rows.length === 0) return '';
    const shown = rows.slice(0, MOST_SHOWN).map((row) => row.map(printable));
    const [first = '', ...lines] = table([head, ...shown]);
    const rest = rows.length - shown.length;
    const more = rest === 0 ? [] : [colours.dim(`and ${count(rest)} more, which --html and --json have`)];
    return `\n${[colours.bold(first), ...lines, ...more].join('\n')}\n`;
  };
  const grouped = (by: 'rule' | 'field' | 'source') =>
    section(
      [by.toUpperCase(), 'FINDINGS', 'FIRST', 'LAST', ''],
      rowsBy(report, by).map((row) => [
        row.name,
        count(row.count),
        row.first,
        row.last,
        row.isNew ? 'new' : '',
      ]),
    );
  const added = report.rows.filter(report.isNew);
  const comparison =
    report.since === undefined
      ? ''
      : `, ${added.length === 0 ? 'nothing' : count(added.length)} new since ${report.since}`;
  return [
    `${summaryOf(report)}${comparison}\n`,
    section(
      ['NEW', 'FIELD', 'SOURCE', 'FINDINGS', 'FIRST'],
      added.map(({ rule, field = '-', source = '-', ...row }) => [
        rule,
        field,
        source,
        count(row.count),
        row.first,
      ]),
    ),
    grouped('rule'),
    grouped('field'),
    grouped('source'),
    section(
      ['DAY', 'FINDINGS'],
      Object.entries(report.days)
        .map(([day, findings]) => [day, count(findings)])
        .reverse(),
    ),
  ].join('');
}
