import { LineFramer } from '../operators/files/follow/line-framer.ts';
import { type CollectedEvent, isoNow, LineEvents } from '../src/sdk/index.ts';

interface TextSettings {
  readonly source: string;
  readonly backfill: boolean;
  readonly maxLineBytes: number;
  readonly skipEmptyLines: boolean;
}

/** The start of a file may have a byte order mark, or NULs that are no part of a line. */
const BEHIND_THE_START = 1;

/** The events of text that is followed by a newline, as a collector of lines makes them of the bytes of its source. */
export function eventsOfText(
  text: string,
  { source, backfill, maxLineBytes, skipEmptyLines }: TextSettings,
): CollectedEvent[] {
  const framer = new LineFramer(BEHIND_THE_START, { maxLineBytes });
  framer.feed(Buffer.from(`${text}\n`));
  const events: CollectedEvent[] = [];
  while (framer.hasLines) {
    const all = framer.take(1);
    const { isTruncated } = framer;
    const envelope = { timestamp: isoNow(), source, backfill, isTruncated };
    events.push(...new LineEvents(skipEmptyLines ? all.withoutEmpty : all, envelope).events);
  }
  return events;
}
