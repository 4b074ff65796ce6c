import type { ByteMasks } from '../bytes/byte-masks.ts';
import type { MaskText } from '../mask-strings.ts';
import type { Replacement } from '../replacement.ts';
import { JoinedGates } from './joined-gates.ts';
import type { Plan } from './plan.ts';

export interface Rule extends Plan {
  readonly name: string;
  readonly replacement: Replacement;
}

type Count = (rule: string, count: number) => void;

interface ApplyOptions {
  /** Told which rule is tried. */
  readonly begin: (rule: string) => void;
  /** The same rules, those that can be had so. */
  readonly bytes: ByteMasks | undefined;
}

/** A mask by rules, one after the other. What it calls on the way must not mask: that would be by the same gates. */
function applyRules(rules: readonly Rule[], count: Count, { begin, bytes }: ApplyOptions): MaskText {
  const gates = new JoinedGates(rules);
  return (text) => {
    const masked: { text: string } = bytes?.hold(text) ?? { text };
    gates.reset();
    for (let i = 0; i < rules.length; i++) {
      if (gates.reject(i, masked)) continue;
      const rule = rules[i] as Rule;
      const found = bytes?.mask(i) ?? -1;
      if (found > 0) {
        count(rule.name, found);
        gates.reset();
      }
      if (found >= 0) continue;
      const before = masked.text;
      if (rule.literal !== '' && !before.includes(rule.literal)) continue;
      begin(rule.name);
      const after = applyRule(rule, before, count);
      if (after === before) continue;
      masked.text = after;
      gates.reset();
    }
    return masked.text;
  };
}

/** Masks text of ASCII into `into`, and returns the number of bytes; -1 if it has to be done in another way. */
export type MaskBytes = (text: Uint8Array, into: Uint8Array) => number;

/** The same for bytes; undefined if some rule needs the text as a string, or may be spared its search by a joined gate. */
export function maskBytes(
  rules: readonly Rule[],
  onMask: Count | undefined,
  bytes: ByteMasks,
): MaskBytes | undefined {
  if (!bytes.hasAll || !new JoinedGates(rules).isEmpty) return undefined;
  const counts = rules.map(() => 0);
  return (text, into) => {
    if (!bytes.holdBytes(text)) return -1;
    for (let i = 0; i < rules.length; i++) {
      const found = bytes.mask(i);
      if (found === -1) return -1;
      counts[i] = found;
    }
    const length = bytes.copyTo(into);
    if (length !== -1 && onMask !== undefined) {
      // Who is told may mask another text.
      [...counts].forEach((count, i) => {
        if (count > 0) onMask((rules[i] as Rule).name, count);
      });
    }
    return length;
  };
}

/** Allocates nothing for a text without a match, and counts on the way. */
function applyRule({ name, finder, replacement }: Rule, text: string, count: Count): string {
  let start = finder.next(text, 0);
  if (start === -1) return text;
  let masked = '';
  let copied = 0;
  let found = 0;
  for (; start !== -1; start = finder.next(text, copied)) {
    masked += text.slice(copied, start) + replacement.of(text, start, finder.end);
    copied = finder.end;
    found++;
  }
  count(name, found);
  return masked + text.slice(copied);
}

interface AtOnceOptions {
  /** Runs a mask of a text of so many characters, once or several times. `rule` gives the rule that was begun last. */
  readonly within?: ((mask: () => string, length: number, rule: () => string) => string) | undefined;
  readonly bytes?: ByteMasks | undefined;
}

/**
 * A mask that tells what was masked only when nothing can fail any more: the text may be masked again, and who is told
 * may mask another one.
 */
export function maskAtOnce(
  rules: readonly Rule[],
  onMask: Count | undefined,
  { within = (mask) => mask(), bytes }: AtOnceOptions = {},
): MaskText {
  let begun = '';
  let counts: [rule: string, count: number][] | undefined;
  const apply = applyRules(
    rules,
    (...count) => {
      counts ??= [];
      counts.push(count);
    },
    {
      begin: (rule) => {
        begun = rule;
      },
      bytes,
    },
  );
  const rule = () => begun;
  return (text) => {
    begun = '';
    const mask = () => {
      counts = undefined;
      return apply(text);
    };
    const masked = within(mask, text.length, rule);
    if (counts !== undefined && onMask !== undefined) for (const count of counts) onMask(...count);
    return masked;
  };
}
