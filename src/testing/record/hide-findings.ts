import { toJson } from '../../sdk/serialise.ts';
import { hideEvent, type ShownEvent, type ShownValue } from './mask-events.ts';
import type { MaskFinding } from './watch-masks.ts';

/** Characters: shorter ones would be replaced in other words as well. */
const SHORTEST_SECRET = 4;

/**
 * Replaces what masks have found in the first round, and from then on hides the events that they find something in.
 * Returns whether there was anything to do: an event that is hidden shows nothing, whatever a mask makes of it.
 */
export function hideFindings(
  findings: readonly MaskFinding[],
  all: readonly ShownEvent[],
  round: number,
): boolean {
  const byData = new Map(all.map((event) => [event.value.data as object, event]));
  const shown = all.filter(({ isHidden }) => !isHidden);
  // What was found is in several lines, of which only the first is known.
  const sources = new Set<unknown>();
  let isFoundAnywhere = false;
  let hasHidden = false;
  for (const { data, replaced, lines } of findings) {
    const event = byData.get(data);
    if (event === undefined) {
      isFoundAnywhere = true;
    } else if (lines !== undefined) {
      sources.add((data as { readonly source?: unknown }).source);
    } else if (!event.isHidden) {
      const value = round === 1 && replaced !== undefined ? withReplaced(event.value, replaced) : undefined;
      if (value === undefined) hideEvent(event);
      else event.value = value;
      hasHidden = true;
    }
  }
  for (const event of shown) {
    if (event.isHidden || !(isFoundAnywhere || sources.has(event.value.data.source))) continue;
    hideEvent(event);
    hasHidden = true;
  }
  return hasHidden;
}

/** Undefined if not all strings can be replaced. */
function withReplaced(
  value: ShownValue,
  replaced: readonly (readonly [before: string, after: string])[],
): ShownValue | undefined {
  if (replaced.some(([before]) => before.length < SHORTEST_SECRET)) return undefined;
  // In JSON, strings of a parsed line are found as well, where they are escaped once more.
  let text = toJson(value);
  for (const [before, after] of [...replaced].sort(([a], [b]) => b.length - a.length)) {
    const [once, onceAfter] = [escaped(before), escaped(after)];
    text = text.replaceAll(once, () => onceAfter).replaceAll(escaped(once), () => escaped(onceAfter));
  }
  try {
    return JSON.parse(text) as ShownValue;
  } catch {
    return undefined;
  }
}

function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
