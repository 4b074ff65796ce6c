import { LineBlock } from '../../operators/internal-files.ts';
import { type CollectedEvent, isoNow, type LineEnvelope, LineEvents } from '../../src/sdk/index.ts';

interface TextSettings extends Pick<LineEnvelope, 'source' | 'fields' | 'backfill'> {
  readonly maxLineBytes: number;
  readonly skipEmptyLines: boolean;
}

const TERMINATOR = Buffer.from('\n');

/** The events of text that is followed by a newline, as a collector of lines makes them of the bytes of its source. */
export function eventsOfText(
  text: string,
  { source, fields, backfill, maxLineBytes, skipEmptyLines }: TextSettings,
): CollectedEvent[] {
  return text.split('\n').flatMap((line): readonly CollectedEvent[] => {
    const bytes = Buffer.from(line);
    const isTruncated = bytes.length > maxLineBytes;
    const block = new LineBlock(Buffer.concat([bytes.subarray(0, maxLineBytes), TERMINATOR]), 1);
    const envelope = { timestamp: isoNow(), source, fields, backfill, isTruncated };
    return new LineEvents(skipEmptyLines ? block.withoutEmpty : block, envelope).events;
  });
}
