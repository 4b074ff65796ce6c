import { counted } from '../../../operators/internal.ts';
import { forwardersOf, type PipelineConfig } from '../../sdk/config.ts';
import { printable } from '../../sdk/printable.ts';
import type { PipelineStats } from '../../sdk/status.ts';
import { timeOf } from '../yaml/yaml-text.ts';
import { allEvents, type MaskedRecording } from './mask-recording.ts';
import type { RecordingFacts } from './recording-facts.ts';
import type { Replay } from './replay-recording.ts';

/** A line of the table that compares a run with its replay. */
interface Row {
  readonly label: string;
  readonly inRun: number | string | undefined;
  readonly inReplay: number | string | undefined;
}

/** What happened in the run, and what happens in its replay. */
export function comparison({ config, pipeline, outcome }: RecordingFacts, { run }: Replay): Row[] {
  const settings = config.pipelines[pipeline] as PipelineConfig;
  const [inRun, inReplay] = [outcome?.stats, run?.stats];
  const row = (label: string, of: (stats: PipelineStats) => number): Row => ({
    label,
    inRun: inRun && of(inRun),
    inReplay: inReplay && of(inReplay),
  });
  const reasons = new Set(
    [inRun, inReplay].flatMap(
      (stats) => Object.keys(stats?.dropped ?? {}) as (keyof PipelineStats['dropped'])[],
    ),
  );
  return [
    row('collected', ({ collected }) => collected),
    ...forwardersOf(settings).map((name) =>
      row(`delivered by ${printable(name)}`, ({ forwarded }) => forwarded[name] ?? 0),
    ),
    ...[...reasons].map((reason) => row(`dropped: ${reason}`, ({ dropped }) => dropped[reason] ?? 0)),
    ...(settings.delivery.dead_letter === undefined
      ? []
      : [row('dead letters', ({ dead_lettered }) => dead_lettered)]),
    row('retries', ({ retries }) => retries),
    ...((inRun?.given_up ?? 0) + (inReplay?.given_up ?? 0) > 0
      ? [row('given up', ({ given_up }) => given_up)]
      : []),
    { label: 'state at the end', inRun: outcome?.state, inReplay: run?.state },
  ];
}

/** What the comments at the top of a recording say. */
export function headLines(
  recording: MaskedRecording,
  { pipeline, startedAt, endedBy, inFlightBefore, outcome }: RecordingFacts,
  table: readonly Row[],
  { problem }: Replay,
): string[] {
  const { leftOut, endedAt, reasons } = recording;
  const hidden = allEvents(recording).filter(({ isHidden }) => isHidden).length;
  const open = [...recording.calls].flatMap(([name, calls]) =>
    calls.some((call) => call.endedAt === undefined) ? [name] : [],
  );
  const failures = Array.from(reasons, ([name, counts]) =>
    Array.from(counts, ([reason, count]) => `${name} failed ${times(count)}: ${reason}`),
  ).flat();
  const notes = [
    ...failures,
    ...open.map(
      (name) => `A call of ${name} had not ended when the recording ended; in the test it takes a day.`,
    ),
    ...(hidden > 0
      ? [`${events(hidden)} could not be shown with its secrets masked: \`recorded: not shown\`.`]
      : []),
    ...(leftOut.events > 0
      ? [
          `${events(leftOut.events)} more exceeded the limit and ${leftOut.events === 1 ? 'was' : 'were'} left out.`,
        ]
      : []),
    ...(leftOut.refused > 0
      ? [`Collectors rejected ${counted(leftOut.refused, 'input')}; the test does not have them.`]
      : []),
    ...(leftOut.calls > 0
      ? [
          `${counted(leftOut.calls, 'more call')} of forwarders ${leftOut.calls === 1 ? 'was' : 'were'} left out.`,
        ]
      : []),
    ...(inFlightBefore > 0
      ? [
          `${events(inFlightBefore)} in flight at the start had been collected before; the test starts without.`,
        ]
      : []),
  ];
  return [
    `Recording of the pipeline ${printable(pipeline)} by millrace. It started at ${startedAt} and took ${timeOf(endedAt)} (${endedBy ?? 'the pipeline ended by itself'}).`,
    'Events are shown as the masks of the pipeline and `redact` leave them. Review them before you share this file.',
    '',
    ...tableLines(table, outcome !== undefined),
    ...(problem === undefined ? [] : ['', `It cannot be replayed: ${problem}`]),
    ...(notes.length === 0 ? [] : ['', ...notes.map((note) => printable(note))]),
  ];
}

const events = (count: number) => counted(count, 'event');
const times = (count: number) => (count === 1 ? 'once' : `${count} times`);

function tableLines(table: readonly Row[], hasRun: boolean): string[] {
  const columns = hasRun ? (['inRun', 'inReplay'] as const) : (['inReplay'] as const);
  const titles = { inRun: 'in the run', inReplay: 'in the replay' };
  const width = Math.max(...table.map(({ label }) => label.length)) + 2;
  const line = (label: string, cells: readonly string[]) =>
    `  ${label.padEnd(width)}${cells.map((cell) => cell.padStart(16)).join('')}`.trimEnd();
  return [
    line(
      '',
      columns.map((column) => titles[column]),
    ),
    ...table.map((row) =>
      line(
        row.label,
        columns.map((column) => String(row[column] ?? '?')),
      ),
    ),
  ];
}
