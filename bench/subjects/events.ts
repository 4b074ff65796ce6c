import { loadPlannedSearch, regexMasker } from '../../operators/index.ts';
import { type CollectedEvent, serialise } from '../../src/index.ts';
import { LineEvents } from '../../src/sdk/line-events.ts';
import { logLines, THREE_RULES } from '../log-generator.ts';
import type { Subject } from './subject.ts';

// Otherwise the first texts would be masked without it.
await loadPlannedSearch();

const ENVELOPE = { source: '/var/log/app.log', backfill: true, isTruncated: false };
/** Of an event. */
const MOST_BYTES = 1024;

/** What happens to whole events, each with a line of the log. */
export const EVENTS = {
  'three rules over events: regexMasker': over(() => regexMasker({ rules: THREE_RULES })),
  'serialise an event': over(() => (event) => serialise(event)),
  'write lines as JSON: LineEvents': {
    group: 'events',
    prepare: (count) => {
      const envelope = { timestamp: new Date().toISOString(), ...ENVELOPE };
      const events = LineEvents.of([...logLines(count)], envelope);
      const into = Buffer.alloc(count * MOST_BYTES);
      return () => events.toJsonLines(into).length;
    },
  },
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
