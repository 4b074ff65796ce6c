import type { Logger } from '../../sdk/context.ts';
import { count } from '../format.ts';
import { type FailedPlugin, readEntry } from './dead-letter-entry.ts';
import { type DeadLetterFile, linesOf } from './dead-letter-file.ts';

/** What the lines of a dead-letter file are. */
export interface Survey {
  /** Which plugins failed on the events that can be sent, each once. */
  readonly plugins: readonly FailedPlugin[];
  readonly withheld: number;
  readonly unreadable: number;
  /** Entries of other pipelines, by name. */
  readonly others: ReadonlyMap<string, number>;
}

/** The lines that are named one by one; the summary counts all. */
const NAMED = 10;

/** Reads a file of dead letters to its end, and names the lines that cannot be sent. */
export async function surveyDeadLetters(
  file: DeadLetterFile,
  { from, logger }: { readonly from: string; readonly logger: Logger },
): Promise<Survey> {
  const plugins = new Map<string, FailedPlugin>();
  const others = new Map<string, number>();
  let withheld = 0;
  let unreadable = 0;
  let number = 0;
  const tell = (total: number, what: string) => {
    if (total <= NAMED) logger.warn(`${file.path}:${number}: cannot be sent: ${what}`);
    if (total === NAMED) logger.warn(`${file.path}: more lines like this one are only counted`);
  };
  for await (const line of linesOf(file)) {
    number++;
    if (line.trim() === '') continue;
    const entry = readEntry(line);
    if (entry.kind === 'unreadable') tell(++unreadable, entry.reason);
    else if (entry.pipeline !== from) others.set(entry.pipeline, (others.get(entry.pipeline) ?? 0) + 1);
    else if (entry.kind === 'event') plugins.set(`${entry.pluginKind} ${entry.plugin}`, entry);
    else {
      const why = `${entry.plugin} failed before it was masked; get it from its source, by the entry's time`;
      tell(++withheld, `its event was withheld, because ${why}`);
    }
  }
  return { plugins: [...plugins.values()], withheld, unreadable, others };
}

/** `3 sent, 1 withheld`: what became of the lines. */
export function countsText(sent: number, { withheld, unreadable, others }: Survey): string {
  const parts = [`${count(sent)} sent`];
  if (withheld > 0) parts.push(`${count(withheld)} withheld`);
  if (unreadable > 0) parts.push(`${count(unreadable)} unreadable`);
  for (const [pipeline, number] of others) parts.push(`${count(number)} of pipeline ${pipeline} left out`);
  return parts.join(', ');
}
