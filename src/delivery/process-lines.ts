import type { LineMapping } from '../models/index.ts';
import type { LineEvents } from '../models/line-events.ts';

/**
 * Runs a processor over lines without making events of them. Lines that it fails on are left out; `onFailure` is told
 * which.
 */
export function processLines(
  lines: LineEvents,
  { map, addsVerbatim }: LineMapping,
  onFailure: (index: number, error: unknown) => void,
): LineEvents {
  const { lines: texts, areVerbatim } = lines.texts;
  const done: string[] = [];
  for (let i = 0; i < texts.length; i++) {
    try {
      done.push(map(texts[i] as string));
    } catch (error) {
      onFailure(i, error);
    }
  }
  return lines.with(done, areVerbatim && addsVerbatim);
}
