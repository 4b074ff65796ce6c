import { regexMasker } from '../../operators/index.ts';
import { type CollectedEvent, serialise } from '../../src/index.ts';
import { logLines, THREE_RULES } from '../log-generator.ts';
import type { Subject } from './subject.ts';

/** What happens to whole events, each with a line of the log. */
export const EVENTS = {
  'three rules over events: regexMasker': over(() => regexMasker({ rules: THREE_RULES })),
  'serialise an event': over(() => (event) => serialise(event)),
  'JSON.stringify an event': over(() => (event) => JSON.stringify(event)),
} as const satisfies Record<string, Subject>;

function over(make: () => (event: CollectedEvent) => unknown): Subject {
  return {
    group: 'events',
    prepare: (count) => {
      const use = make();
      const timestamp = new Date().toISOString();
      const events = Array.from(logLines(count), (line) => ({
        timestamp,
        data: { line, source: '/var/log/app.log' },
        backfill: true,
      }));
      return () => {
        let last: unknown;
        for (const event of events) last = use(event);
        return last;
      };
    },
  };
}
