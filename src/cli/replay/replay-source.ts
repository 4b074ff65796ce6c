import type { CollectedEvent, CollectPlugin, Logger } from '../../models/index.ts';
import { count } from '../format.ts';
import { readEntry } from './dead-letter-entry.ts';
import { type DeadLetterFile, linesOf } from './dead-letter-file.ts';

/** What became of the lines of a dead-letter file. */
export interface ReplayCounts {
  /** Entries that were sent. */
  sent: number;
  withheld: number;
  unreadable: number;
  /** Entries of other pipelines, by name. */
  readonly others: Map<string, number>;
  /** All lines were read. */
  isComplete: boolean;
}

/** The lines that are named one by one; the summary counts all. */
const NAMED = 10;

/** A collector of the events in a file of dead letters that come from the pipeline `from`. */
export function replaySource(
  file: DeadLetterFile,
  { from, logger }: { readonly from: string; readonly logger: Logger },
): { readonly plugin: CollectPlugin; readonly counts: ReplayCounts } {
  const counts: ReplayCounts = { sent: 0, withheld: 0, unreadable: 0, others: new Map(), isComplete: false };
  const tell = (total: number, line: number, what: string) => {
    if (total <= NAMED) logger.warn(`${file.path}:${line}: ${what}`);
    if (total === NAMED) logger.warn(`${file.path}: more lines like this one are only counted`);
  };

  async function* events(): AsyncGenerator<CollectedEvent> {
    let number = 0;
    for await (const line of linesOf(file)) {
      number++;
      if (line.trim() === '') continue;
      const entry = readEntry(line);
      if (entry.kind === 'unreadable') {
        tell(++counts.unreadable, number, `cannot be sent: ${entry.reason}`);
      } else if (entry.pipeline !== from) {
        counts.others.set(entry.pipeline, (counts.others.get(entry.pipeline) ?? 0) + 1);
      } else if (entry.kind === 'withheld') {
        const why = `${entry.plugin} failed before it was masked; get it from its source, by the entry's time`;
        tell(++counts.withheld, number, `cannot be sent: its event was withheld, because ${why}`);
      } else {
        counts.sent++;
        yield entry.event;
      }
    }
    counts.isComplete = true;
  }

  const schema = { safeParse: (data: unknown) => ({ success: true as const, data }) };
  return { plugin: { get_config_schema: () => schema as never, collect: () => events() }, counts };
}

/** `3 sent, 1 withheld`: what became of the lines. */
export function countsText({ sent, withheld, unreadable, others }: ReplayCounts): string {
  const parts = [`${count(sent)} sent`];
  if (withheld > 0) parts.push(`${count(withheld)} withheld`);
  if (unreadable > 0) parts.push(`${count(unreadable)} unreadable`);
  for (const [pipeline, number] of others) parts.push(`${count(number)} of pipeline ${pipeline} left out`);
  return parts.join(', ');
}
