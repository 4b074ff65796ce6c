import { EMPTY } from 'rxjs';
import { defineCollector } from '../../src/sdk/index.ts';
import { JournalConfig } from '../journal/journal-config.ts';
import { JournalReader } from '../journal/journal-reader.ts';
import { messageEvent } from '../journal/read-entry.ts';
import { lineTesting } from '../lines/collect-lines.ts';

const NO_LIMIT = {
  source: '',
  backfill: false,
  maxLineBytes: Number.POSITIVE_INFINITY,
  skipEmptyLines: true,
};

export default defineCollector({
  description: 'Reads the entries of the journal of systemd, and follows it.',
  example: `
services:
  plugin: journald
  units: [nginx, ssh]
  priority: warning
`,
  schema: JournalConfig,
  shownSettings: { units: '', priority: '', backfill: '' },
  traits: { usesState: true, waits: true },
  testing: {
    batchDemand: lineTesting(() => NO_LIMIT).batchDemand,
    eventsOfText: ({ text }) => text.split('\n').map(messageEvent),
  },
  /**
   * Emits one event for each entry, in batches, and reads no more while there is no room in the window. A run continues after
   * the last entry that was acknowledged by the one before. `journalctl` is started again with a backoff if it ends. With
   * `ctx.once`, it completes at the end of the journal, and errors if `journalctl` fails.
   */
  collect({ ctx }) {
    const { backfill, directory } = ctx.config;
    if (ctx.once && !backfill && [...ctx.state.entries()].length === 0) {
      const where = directory === undefined ? 'the journal' : `the journal in ${directory}`;
      ctx.logger.warn(
        `nothing to read: without \`backfill: true\`, a first run starts at the end of ${where}, and with \`--once\` it ends there`,
      );
      return EMPTY;
    }
    return new JournalReader(ctx).batches$;
  },
});
