import { printable } from '../../sdk/printable.ts';
import type { Trace, TraceRow } from '../trace.ts';
import type { LegendLine } from './legend.ts';

/** What the test did to virtual files, as a row of marbles of its own. */
export interface FilesLane {
  readonly row: TraceRow;
  /** What each marble of it stands for. */
  readonly legend: readonly LegendLine[];
}

const NUMBERS = [...'①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳'];
/** Actions of which the legend does not tell. */
const OTHER = '○';

/** The lane of file actions; equal actions have the same number. Undefined for a run without virtual files. */
export function filesLane({ files = [] }: Trace): FilesLane | undefined {
  if (files.length === 0) return undefined;
  const texts = [...new Set(files.map(({ text }) => text))];
  const letterOf = (text: string) => NUMBERS[texts.indexOf(text)] ?? OTHER;
  const marks = files.map(({ at, text }) => ({
    kind: 'event' as const,
    at,
    letter: letterOf(text),
    event: { timestamp: '', data: { text } },
  }));
  return {
    // The kind `collect` draws it separately from the operators.
    row: { place: { kind: 'collect', name: 'files' }, plugin: 'virtual', settings: {}, marks },
    legend: texts
      .slice(0, NUMBERS.length)
      .map((text) => ({ names: [letterOf(text)], text: printable(text), stage: undefined })),
  };
}
