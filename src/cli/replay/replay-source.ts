import type { CollectedEvent } from '../../sdk/events.ts';
import type { CollectPlugin } from '../../sdk/plugin.ts';
import { type FailedPlugin, readEntry } from './dead-letter-entry.ts';
import { type DeadLetterFile, linesOf } from './dead-letter-file.ts';

interface ReplaySource {
  readonly plugin: CollectPlugin;
  /** How many events were sent, and whether all of the file was read. */
  readonly progress: { sent: number; isComplete: boolean };
}

/** A collector of the events in a file of dead letters of the pipeline `from`: those of the plugins that are wanted. */
export function replaySource(
  file: DeadLetterFile,
  { from, isWanted }: { readonly from: string; isWanted(failed: FailedPlugin): boolean },
): ReplaySource {
  const progress = { sent: 0, isComplete: false };
  async function* events(): AsyncGenerator<CollectedEvent> {
    for await (const line of linesOf(file)) {
      const entry = readEntry(line);
      if (entry.kind !== 'event' || entry.pipeline !== from || !isWanted(entry)) continue;
      progress.sent++;
      yield entry.event;
    }
    progress.isComplete = true;
  }
  const schema = { safeParse: (data: unknown) => ({ success: true as const, data }) };
  return { plugin: { get_config_schema: () => schema as never, collect: () => events() }, progress };
}
