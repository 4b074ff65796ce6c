import { DEFAULT_MAX_KEYS, LruMap } from '../../support/lru-map.ts';
import { compileExpression } from '../python-regex.ts';
import type { RedactRule, RuleBlock } from './redact-rule.ts';

export interface BlockLimits {
  /** Lines that a block has at most, with its first one. */
  readonly lines: number;
  /** A block has ended when no line came for so many milliseconds. */
  readonly timeoutMs: number;
}

/** The blocks of the rules that are in use. */
export interface BlockRule {
  readonly id: string;
  readonly contains: string;
  readonly start: RegExp;
  readonly end: RegExp;
}

interface OpenBlock {
  readonly rule: BlockRule;
  linesLeft: number;
  lastAt: number;
}

/** What a line is that belongs to a block: text before it, the block, text behind it. */
export interface BlockLine {
  readonly id: string;
  readonly before: string;
  readonly block: string;
  readonly after: string;
}

const decoder = /* @__PURE__ */ new TextDecoder();

/** What a body line of a block looks like: base64 in full lines, behind which a shorter one comes. */
const BODY = /^[A-Za-z0-9+/]{48,76}$/;
const LAST_BODY = /^[A-Za-z0-9+/]{1,76}={0,2}$/;

export function blockRules(rules: Readonly<Record<string, string | RedactRule>>): BlockRule[] {
  return Object.entries(rules).flatMap(([id, rule]) => {
    const block: RuleBlock | undefined = typeof rule === 'string' ? undefined : rule.block;
    if (block === undefined) return [];
    const { contains } = block;
    return [
      { id, contains, start: compileExpression(block.start, id), end: compileExpression(block.end, id) },
    ];
  });
}

/**
 * Follows blocks of several lines, such as private keys, through the lines of each source. A block ends with its last
 * line, after as many lines as a block has at most, or when no line came for a while: what comes later is a line like
 * any other.
 *
 * A run may start in the middle of a block, at the line where the last one stopped. So the first lines of a source are
 * taken for the rest of a block if they look like one.
 */
export class BlockTracker {
  readonly #rules: readonly BlockRule[];
  readonly #limits: BlockLimits;
  readonly #now: () => number;
  readonly #markers: readonly string[];
  readonly #open = new LruMap<string, OpenBlock | undefined>(DEFAULT_MAX_KEYS);

  constructor(rules: readonly BlockRule[], limits: BlockLimits, now: () => number) {
    this.#rules = rules;
    this.#limits = limits;
    this.#now = now;
    this.#markers = [...new Set(rules.map(({ contains }) => contains))];
  }

  /** Whether lines of this source can be masked one by one: none of them is in a block, or starts one. */
  areOrdinary(source: string, lines: string | Uint8Array): boolean {
    if (this.#rules.length === 0) return true;
    if (this.#open.get(source) !== undefined) return false;
    const text = typeof lines === 'string' ? lines : decoder.decode(lines);
    if (!this.#open.has(source)) {
      const end = text.indexOf('\n');
      if (this.#restOfBlock(end === -1 ? text : text.slice(0, end)) !== undefined) return false;
      this.#open.set(source, undefined);
    }
    return !this.#markers.some((marker) => text.includes(marker));
  }

  /** What of the next line of a source belongs to a block; undefined if nothing does. */
  next(source: string, line: string): BlockLine | undefined {
    if (this.#rules.length === 0) return undefined;
    const isFirst = !this.#open.has(source);
    const open = this.#open.get(source) ?? (isFirst ? this.#restOfBlock(line) : undefined);
    if (isFirst) this.#open.set(source, undefined);
    if (open !== undefined) {
      const now = this.#now();
      const isLate = now - open.lastAt > this.#limits.timeoutMs;
      if (!isLate && open.linesLeft > 0) return this.#inBlock(source, open, line, now);
      this.#open.set(source, undefined);
    }
    return this.#startOfBlock(source, line);
  }

  #inBlock(source: string, open: OpenBlock, line: string, now: number): BlockLine | undefined {
    const { rule } = open;
    const end = isFragment(open) ? undefined : lastMatch(rule.end, line);
    if (isFragment(open) && !BODY.test(line)) {
      // A shorter line of base64 is the end of the key, and the line that says so can follow.
      this.#open.set(source, undefined);
      const isLastLine = LAST_BODY.test(line) && line.length > 16;
      return isLastLine
        ? { id: rule.id, before: '', block: line, after: '' }
        : this.#startOfBlock(source, line);
    }
    open.linesLeft--;
    open.lastAt = now;
    this.#open.set(source, end === undefined ? open : undefined);
    const cut = end === undefined ? line.length : end.end;
    return { id: rule.id, before: '', block: line.slice(0, cut), after: line.slice(cut) };
  }

  #startOfBlock(source: string, line: string): BlockLine | undefined {
    const starts = this.#rules.flatMap((rule) => {
      const start = line.includes(rule.contains) ? lastMatch(rule.start, line) : undefined;
      return start === undefined ? [] : [{ rule, ...start }];
    });
    const last = starts.sort((a, b) => b.start - a.start)[0];
    // A block within one line is for the rule's own expression.
    if (last === undefined || lastMatch(last.rule.end, line.slice(last.end)) !== undefined) return undefined;
    const { lines } = this.#limits;
    if (lines > 1) this.#open.set(source, { rule: last.rule, linesLeft: lines - 1, lastAt: this.#now() });
    return {
      id: last.rule.id,
      before: line.slice(0, last.start),
      block: line.slice(last.start),
      after: '',
    };
  }

  /** An open block if the first line of a source looks like a line of a key. */
  #restOfBlock(line: string): OpenBlock | undefined {
    const [rule] = this.#rules;
    if (rule === undefined || !BODY.test(line)) return undefined;
    return { rule: { ...rule, id: FRAGMENT }, linesLeft: this.#limits.lines, lastAt: this.#now() };
  }
}

/** The rule of lines that look like the rest of a block whose start nobody saw. */
export const FRAGMENT = 'key-fragment';
const isFragment = ({ rule }: OpenBlock): boolean => rule.id === FRAGMENT;

function lastMatch(expression: RegExp, text: string): { start: number; end: number } | undefined {
  const match = [...text.matchAll(expression)].at(-1);
  return match === undefined ? undefined : { start: match.index, end: match.index + match[0].length };
}
