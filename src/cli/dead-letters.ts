import fs from 'node:fs';
import { nonTextFormat } from '../../operators/internal-files.ts';
import type { Logger } from '../sdk/context.ts';
import { isEvent } from '../sdk/event-batch.ts';
import type { CollectedEvent } from '../sdk/events.ts';
import { parseJson } from '../sdk/parse-json.ts';
import type { CollectPlugin, PluginKind } from '../sdk/plugin.ts';
import { UsageError } from './errors.ts';
import { count } from './format.ts';

/** The entry of a configuration that failed on an event. */
export interface FailedPlugin {
  readonly plugin: string;
  /** Undefined for a collector, whose event no plugin has seen. */
  readonly pluginKind: PluginKind | undefined;
}

/** What one line of a dead-letter file is. */
type DeadLetterEntry =
  | (FailedPlugin & {
      readonly kind: 'event';
      readonly pipeline: string;
      readonly event: CollectedEvent;
    })
  /** The entry has no event, because it had not passed every mask. */
  | { readonly kind: 'withheld'; readonly pipeline: string; readonly plugin: string }
  | { readonly kind: 'unreadable'; readonly reason: string };

/** Reasons never quote the line: it may hold an event. */
function readEntry(line: string): DeadLetterEntry {
  let value: unknown;
  try {
    value = parseJson(line);
  } catch {
    return { kind: 'unreadable', reason: 'it is not JSON' };
  }
  if (!isEvent(value)) return { kind: 'unreadable', reason: 'it is not an event, `{ data: { … } }`' };
  const { pipeline, plugin, kind, event, withheld } = value.data as Record<string, unknown>;
  if (typeof pipeline !== 'string' || typeof plugin !== 'string') {
    return {
      kind: 'unreadable',
      reason: 'it is not an entry of a dead letter: `pipeline` or `plugin` is missing',
    };
  }
  const pluginKind = kind === 'process' || kind === 'forward' ? kind : undefined;
  if (isEvent(event)) return { kind: 'event', pipeline, plugin, pluginKind, event };
  if (event === undefined && withheld !== undefined) return { kind: 'withheld', pipeline, plugin };
  return { kind: 'unreadable', reason: 'it has neither an event nor a note that the event was withheld' };
}

/** A file of dead letters as it is now: what the replay itself adds to it is not part of it. */
interface DeadLetterFile {
  readonly path: string;
  readonly size: number;
}

const HEAD_BYTES = 1024;

function headOf(path: string): Buffer {
  const fd = fs.openSync(path, 'r');
  try {
    const head = Buffer.alloc(HEAD_BYTES);
    return head.subarray(0, fs.readSync(fd, head));
  } finally {
    fs.closeSync(fd);
  }
}

/** @throws UsageError if the file does not exist, cannot be read, or is not text */
export function findDeadLetters(path: string): DeadLetterFile {
  try {
    fs.accessSync(path, fs.constants.R_OK);
    const stats = fs.statSync(path);
    if (!stats.isFile())
      throw new UsageError(`${path}: not a file; replay needs a file that a dead letter wrote`);
    const foreign = nonTextFormat(headOf(path));
    if (foreign !== undefined)
      throw new UsageError(
        `${path}: looks like ${foreign.name}; expected JSON, one object per line: ${foreign.advice}`,
      );
    return { path, size: stats.size };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const reason = (error as NodeJS.ErrnoException).message;
    throw new UsageError(`cannot read dead letters: ${reason}`);
  }
}

/** The lines of the file. An async generator, because the engine pulls those one value at a time. */
async function* linesOf({ path, size }: DeadLetterFile): AsyncGenerator<string> {
  if (size === 0) return;
  let rest = '';
  for await (const chunk of fs.createReadStream(path, { encoding: 'utf8', end: size - 1 })) {
    const lines = `${rest}${chunk}`.split('\n');
    rest = lines.pop() as string;
    yield* lines;
  }
  if (rest !== '') yield rest;
}

/** What a dead-letter file contains. */
export interface Survey {
  /** The plugins that failed on the events that can be sent, each once. */
  readonly plugins: readonly FailedPlugin[];
  readonly withheld: number;
  readonly unreadable: number;
  /** Entries of other pipelines, by name. */
  readonly others: ReadonlyMap<string, number>;
}

/** Lines that cannot be sent are logged one by one up to this number; the summary counts all of them. */
const MOST_LOGGED = 10;

/** Reads a dead-letter file to its end, and logs the lines that cannot be sent. */
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
    if (total <= MOST_LOGGED) logger.warn(`${file.path}:${number}: cannot be sent: ${what}`);
    if (total === MOST_LOGGED) logger.warn(`${file.path}: more lines like this one are only counted`);
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

/** `3 sent (1 dead-lettered again), 1 withheld`: what became of the lines. */
export function countsText(
  sent: number,
  deadLettered: number,
  { withheld, unreadable, others }: Survey,
): string {
  const parts = [
    `${count(sent)} sent${deadLettered > 0 ? ` (${count(deadLettered)} dead-lettered again)` : ''}`,
  ];
  if (withheld > 0) parts.push(`${count(withheld)} withheld`);
  if (unreadable > 0) parts.push(`${count(unreadable)} unreadable`);
  for (const [pipeline, number] of others) parts.push(`${count(number)} of pipeline ${pipeline} left out`);
  return parts.join(', ');
}

interface ReplaySource {
  readonly plugin: CollectPlugin;
  /** How many events were sent, and whether all of the file was read. */
  readonly progress: { sent: number; isComplete: boolean };
}

/** A collector of the events of pipeline `from` in a dead-letter file whose failed plugin is accepted. */
export function replaySource(
  file: DeadLetterFile,
  { from, accepts }: { readonly from: string; accepts(failed: FailedPlugin): boolean },
): ReplaySource {
  const progress = { sent: 0, isComplete: false };
  async function* events(): AsyncGenerator<CollectedEvent> {
    for await (const line of linesOf(file)) {
      const entry = readEntry(line);
      if (entry.kind !== 'event' || entry.pipeline !== from || !accepts(entry)) continue;
      progress.sent++;
      yield entry.event;
    }
    progress.isComplete = true;
  }
  const schema = { safeParse: (data: unknown) => ({ success: true as const, data }) };
  return { plugin: { get_config_schema: () => schema as never, collect: () => events() }, progress };
}
