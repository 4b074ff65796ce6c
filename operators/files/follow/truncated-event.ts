import { maskStrings } from '../../masks/mask-strings.ts';

/**
 * Characters that are taken off the end of a line that was cut, after the masks: a secret that the cut went through
 * may no longer look like one, so its start is left in place. No secret is longer.
 */
export const UNSURE_CHARACTERS = 64 * 1024;

/** An event whose line was too long to be passed whole has `truncated: true`. */
interface MaybeTruncated {
  readonly data: Readonly<Record<string, unknown>>;
  readonly truncated?: unknown;
}

/**
 * Takes the end that masks could not judge off every text of a truncated event's data, but for its `source`; any
 * other event is returned as it is. To be called after the last mask. A replacement of a mask may be cut, which harms
 * nothing, and a text that masks made short may be cut to nothing.
 *
 * @throws MaskError for data that JSON cannot show
 * @example
 * withoutUnsureTail({ data: { line: 'whole' } }); // { data: { line: 'whole' } }
 * const cut = withoutUnsureTail({ truncated: true, data: { line: 'x'.repeat(100_000) } });
 * cut.data.line.length; // 34464
 */
export function withoutUnsureTail<T extends MaybeTruncated>(event: T): T {
  if (event.truncated !== true) return event;
  const { source, ...texts } = event.data;
  const data = maskStrings(texts, cut);
  return { ...event, data: source === undefined ? data : { ...data, source } };
}

function cut(text: string): string {
  // Not between the halves of a character.
  return text.slice(0, Math.max(0, text.length - UNSURE_CHARACTERS)).replace(/[\ud800-\udbff]$/, '');
}
