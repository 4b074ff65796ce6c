import { asyncScheduler } from 'rxjs';
import { isFatal } from '../../../sdk/errors.ts';
import { isEventBatch } from '../../../sdk/event-batch.ts';
import { type Check, CheckFailure, demand, reasonOf } from '../check.ts';
import { collected, observe, VIRTUAL_LIMIT_MS } from '../observe.ts';

/** A source that emits so many events has no end. */
const ENDLESS = 1000;

/** What a collector does in a run with `--once`. */
export const ONCE_CHECKS: readonly Check[] = [
  {
    name: 'once: with ctx.once, it completes when it has read everything',
    kinds: ['collect'],
    async run(subject) {
      const start = subject.isVirtual ? 0 : asyncScheduler.now();
      let last = start;
      const { values, end, error, crash } = await observe(
        subject,
        () => collected(subject, subject.context({ once: true })),
        {
          limit: ENDLESS,
          onValue: (value) => {
            last = asyncScheduler.now();
            if (isEventBatch(value)) value.acknowledge?.('forwarded');
          },
        },
      );
      if (crash === undefined && isFatal(error)) return `it refuses ctx.once: ${reasonOf(error)}`;
      demand(
        crash === undefined && end !== 'failed',
        `with ctx.once it failed: ${reasonOf(crash?.error ?? error)}; give \`config\` or \`host\` with which it works`,
      );
      if (end === 'completed') return undefined;
      if (values.length === 0) return 'it emitted nothing; give `config` with which it emits something';
      const window = subject.isVirtual ? VIRTUAL_LIMIT_MS : subject.patience;
      if (values.length >= ENDLESS || last - start > window / 2) {
        return 'it emits without end with these options, so that it could not be seen whether it completes';
      }
      const time = subject.isVirtual ? 'an hour of virtual time' : `${subject.patience} ms`;
      throw new CheckFailure(
        `with ctx.once it emitted all that it has and did not complete in ${time}, so a run with --once would not end; complete when everything is read: if (ctx.once) return`,
      );
    },
  },
];
