import { DEFAULT_MAX_KEYS, LruMap } from '../../support/lru-map.ts';
import { compileExpression } from '../python-regex.ts';
import { KEY_FRAGMENT } from './compile-redact-rules.ts';
import {
  bodyIn,
  isKeyMaterial,
  KEY_MATERIAL,
  LAST_IN_LINE,
  type Span,
  startsInKey,
  startsOtherData,
} from './key-body.ts';
import { type AnyRule, isKeyed, type RuleBlock } from './redact-rule.ts';

export interface BlockLimits {
  /** Lines that a block has at most, with its first one. */
  readonly lines: number;
  /** When no line came for so many milliseconds, a block goes on only if the next one looks like a part of a key. */
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
  readonly path: string;
  /** The blocks of its source. */
  readonly among: Map<string, OpenBlock>;
  linesLeft: number;
  /** Lines in a row that have nothing of a key, such as headers, or lines of others. */
  plainLines: number;
  lastAt: number;
  /** Where the body starts in each line, if the lines have a prefix. */
  column: number;
  /** If its lines are strings in lines of JSON: what stands before each of them, such as `"message":"`. */
  opening: string | undefined;
}

/** A part of a field: of a block, with the rule that follows it, or ordinary text. */
export interface FieldPart {
  readonly text: string;
  readonly rule: string | undefined;
}

const decoder = /* @__PURE__ */ new TextDecoder();

const ARMOUR = '-----BEGIN ';

/** Behind it a string of JSON starts: the value of a key, or an item of an array in a line of its own. */
const OPENING = /(?:"[^"\\]{1,100}"\s*:\s*"|^\s*")(?=(?:[^"\\]|\\.)*$)/;
const REST_OF_STRING = /^(?:[^"\\]|\\.)*(?=")/;

/** The part of a line that a block can have: all of it, or in JSON one string, so that the line stays JSON. */
function roomIn(line: string, opening: string | undefined): Span {
  const whole = { start: 0, end: line.length };
  if (opening === undefined) return whole;
  const at = line.indexOf(opening);
  const start = at + opening.length;
  const [text] = (at >= 0 && REST_OF_STRING.exec(line.slice(start))) || [];
  if (text === undefined) return whole;
  const end = start + text.length;
  const others = [line.slice(0, start), line.slice(end)];
  const isAnywhereElse = others[1]?.includes(opening) || others.some((part) => KEY_MATERIAL.test(part));
  return isAnywhereElse ? whole : { start, end };
}

/** So many lines without a part of a key end a block. The headers of a key are fewer. */
const MOST_PLAIN_LINES = 5;

export function blockRules(rules: Readonly<Record<string, AnyRule>>): BlockRule[] {
  return Object.entries(rules).flatMap(([id, rule]) => {
    const block: RuleBlock | undefined = typeof rule === 'string' || isKeyed(rule) ? undefined : rule.block;
    if (block === undefined) return [];
    const { contains } = block;
    return [
      { id, contains, start: compileExpression(block.start, id), end: compileExpression(block.end, id) },
    ];
  });
}

/** The blocks that are open in a source. */
interface SourceBlocks {
  /** By the path of the field that their lines come in. */
  readonly byField: Map<string, OpenBlock>;
  /** In place of blocks that are too many to be followed: every field of the source is taken for a line of a block. */
  everyField: { readonly rule: BlockRule; eventsLeft: number } | undefined;
}

/** More blocks are not followed one by one, in one source and in all of them. */
const MOST_OPEN = 100;
const MOST_OPEN_IN_ALL = 10_000;
/** A block is given up when its field has not come for so many times the time-out. */
const ABANDONED_AFTER = 60;
/** Characters. Longer paths are not kept. */
const LONGEST_PATH = 200;

/** The path of lines that are no events yet. */
export const LINE = 'data.line';
/** Fields that have a line of a log. In others, what looks like a part of a key is more often a hash. */
const LINE_FIELD = /(?:^|\.)(?:line|message|msg|log)$/i;

/**
 * Follows blocks of several lines, such as private keys, through the lines or events of each source. The lines of a block
 * come in one field, whichever that is. A block ends with its last line, after as many lines as a block has at most, or when
 * what comes is plainly not a key: several lines, or one line after a while. If more blocks are open than can be followed,
 * all fields of their source are masked for as many events as a block has lines, so that no part of a key passes.
 *
 * A run may start in the middle of a block, at the line where the last one stopped. So the first lines of a source are
 * taken for the rest of a block if they look like one.
 */
export class BlockTracker {
  readonly #rules: readonly BlockRule[];
  readonly #limits: BlockLimits;
  readonly #now: () => number;
  readonly #markers: readonly string[];
  readonly #sources = new LruMap<string, SourceBlocks>(DEFAULT_MAX_KEYS);
  /** Blocks of all sources. Those that had no line for longest come first. */
  readonly #followed = new Set<OpenBlock>();
  #source = '';
  /** Of the current source. */
  #open: SourceBlocks = noBlocks();
  #isFirst = false;

  constructor(rules: readonly BlockRule[], limits: BlockLimits, now: () => number) {
    this.#rules = rules;
    this.#limits = limits;
    this.#now = now;
    this.#markers = [...new Set(rules.map(({ contains }) => contains))];
  }

  /** Whether lines of this source can be masked one by one: none of them is in a block, or starts one. */
  areOrdinary(source: string, lines: string | Uint8Array): boolean {
    if (this.#rules.length === 0) return true;
    const open = this.#sources.get(source);
    if (open?.byField.has(LINE) || open?.everyField !== undefined) return false;
    const text = typeof lines === 'string' ? lines : decoder.decode(lines);
    if (open === undefined) {
      this.startSource(source, text);
      if (!this.#sources.has(source)) return false;
    }
    return !this.hasMarker(text);
  }

  /** Whether {@link next} need not be asked about fields of some events of a source that has come before. */
  areOrdinaryFields(source: string, fields: string): boolean {
    return !this.mayBeInBlock(source) && !this.hasMarker(fields);
  }

  /** Whether the next event of a source may have a part of a block: one is open, or no event has come before. */
  mayBeInBlock(source: string): boolean {
    if (this.#rules.length === 0) return false;
    const open = this.#sources.get(source);
    return open === undefined || open.byField.size > 0 || open.everyField !== undefined;
  }

  /**
   * Looks at the first lines of a source, before they come: other base64 is then not taken for the rest of a key.
   *
   * @returns false if it takes more lines to tell
   */
  startSource(source: string, text: string): boolean {
    if (this.#rules.length === 0 || this.#sources.has(source)) return true;
    const isInKey = startsInKey(text, this.#limits.lines);
    if (isInKey === false) this.#sources.set(source, noBlocks());
    return isInKey !== undefined;
  }

  /** To be called before the fields of the next line or event of a source. */
  startEvent(source: string): void {
    const open = this.#sources.get(source);
    this.#isFirst = open === undefined;
    this.#source = source;
    this.#open = open ?? noBlocks();
    if (open === undefined) this.#sources.set(source, this.#open);
    else if (open.everyField !== undefined && open.everyField.eventsLeft-- <= 0) open.everyField = undefined;
  }

  /** Whether {@link next} need not be asked about a text of the current event. */
  isOrdinary(text: string): boolean {
    const { byField, everyField } = this.#open;
    return !this.#isFirst && byField.size === 0 && everyField === undefined && !this.hasMarker(text);
  }

  /** The parts of a field of the current event; undefined if no block has one. */
  next(path: string, field: string): readonly FieldPart[] | undefined {
    if (this.#rules.length === 0) return undefined;
    const [newline = ''] = /\r?\n$/.exec(field) ?? [];
    const line = newline === '' ? field : field.slice(0, -newline.length);
    const { everyField } = this.#open;
    const parts = this.#nextLine(path, line);
    // The name of the source is known, and is no part of a key.
    const isMasked = everyField !== undefined && line !== this.#source;
    const shown = isMasked ? [partOf(everyField, line)] : parts;
    return (
      shown && [...shown, ordinary(newline)].filter(({ text, rule }) => text !== '' || rule !== undefined)
    );
  }

  #nextLine(path: string, line: string): readonly FieldPart[] | undefined {
    const isRest = this.#isFirst && LINE_FIELD.test(path);
    const open = this.#open.byField.get(path) ?? (isRest ? this.#restOfBlock(path, line) : undefined);
    if (open !== undefined) {
      const now = this.#now();
      open.plainLines = isKeyMaterial(line) ? 0 : open.plainLines + 1;
      const isLate = now - open.lastAt > this.#limits.timeoutMs;
      const goesOn = open.plainLines === 0 || (!isLate && open.plainLines <= MOST_PLAIN_LINES);
      if (goesOn && open.linesLeft > 0) return this.#inBlock(open, line, now);
      this.#close(open);
    }
    return this.#startOfBlock(path, line);
  }

  /** Whether a block may start in a text, or end. */
  hasMarker(text: string): boolean {
    return this.#markers.some((marker) => text.includes(marker));
  }

  #inBlock(open: OpenBlock, line: string, now: number): readonly FieldPart[] | undefined {
    const { rule, path } = open;
    if (isFragment(open)) return this.#inFragment(open, line, now);
    const room = roomIn(line, open.opening);
    const before = ordinary(line.slice(0, room.start));
    const text = line.slice(room.start, room.end);
    const end = lastMatch(rule.end, text)?.end;
    if (end === undefined) {
      this.#goOn(open, now);
      return [before, partOf(open, text), ordinary(line.slice(room.end))];
    }
    this.#close(open);
    const after = line.slice(room.start + end);
    // The next key can start where one has ended.
    return [
      before,
      partOf(open, text.slice(0, end)),
      ...(this.#startOfBlock(path, after) ?? [ordinary(after)]),
    ];
  }

  #inFragment(open: OpenBlock, line: string, now: number): readonly FieldPart[] | undefined {
    let body = this.#restIn(line);
    if (body !== undefined) {
      open.column = body.start;
      this.#goOn(open, now);
    } else {
      // A shorter line of base64 is the end of the key, and the line that says so can follow.
      this.#close(open);
      const [last] = LAST_IN_LINE.exec(line.slice(open.column)) ?? [];
      if (last === undefined) return this.#startOfBlock(open.path, line);
      body = { start: open.column, end: open.column + last.length };
    }
    const { start, end } = body;
    const after = line.slice(end);
    if (this.hasMarker(after)) this.#close(open);
    return [
      ordinary(line.slice(0, start)),
      partOf(open, line.slice(start, end)),
      ...(this.#startOfBlock(open.path, after) ?? [ordinary(after)]),
    ];
  }

  /** Where a line has the rest of a key that started before it. A line that has the start of a key is not such a rest. */
  #restIn(line: string): Span | undefined {
    const body = bodyIn(line);
    if (body === undefined) return undefined;
    const before = line.slice(0, body.start);
    if (before.includes(ARMOUR)) return undefined;
    const startsHere = this.#rules.some(({ contains, start }) => {
      const at = line.includes(contains) ? line.search(start) : -1;
      return at !== -1 && at <= body.start;
    });
    return startsHere ? undefined : body;
  }

  #goOn(block: OpenBlock, now: number): void {
    block.linesLeft--;
    block.lastAt = now;
    this.#follow(block);
  }

  #follow(block: OpenBlock): void {
    const { rule, path, among } = block;
    this.#followed.delete(block);
    if (!among.has(path)) {
      this.#closeAbandoned();
      const isFull = among.size >= MOST_OPEN || this.#followed.size >= MOST_OPEN_IN_ALL;
      if (isFull || path.length > LONGEST_PATH) {
        this.#open.everyField = { rule, eventsLeft: this.#limits.lines };
        return;
      }
      among.set(path, block);
    }
    this.#followed.add(block);
  }

  #close(block: OpenBlock): void {
    this.#followed.delete(block);
    block.among.delete(block.path);
  }

  /** Fields whose block has no end may never come again. */
  #closeAbandoned(): void {
    const since = this.#now() - ABANDONED_AFTER * this.#limits.timeoutMs;
    for (const block of this.#followed) {
      if (block.lastAt >= since) return;
      this.#close(block);
    }
  }

  #startOfBlock(path: string, line: string): readonly FieldPart[] | undefined {
    const starts = this.#rules.flatMap((rule) => {
      const start = line.includes(rule.contains) ? lastMatch(rule.start, line) : undefined;
      return start === undefined ? [] : [{ rule, ...start }];
    });
    const last = starts.sort((a, b) => b.start - a.start)[0];
    // A block within one line is for the rule's own expression.
    if (last === undefined || lastMatch(last.rule.end, line.slice(last.end)) !== undefined) return undefined;
    const block = this.#blockOf(last.rule, path, this.#limits.lines - 1);
    if (block.linesLeft > 0) this.#follow(block);
    const before = line.slice(0, last.start);
    const rest = line.slice(last.start);
    const [opening] = OPENING.exec(before) ?? [];
    const [text] = (opening !== undefined && REST_OF_STRING.exec(rest)) || [];
    if (text === undefined) return [ordinary(before), partOf(block, rest)];
    block.opening = opening;
    return [ordinary(before), partOf(block, text), ordinary(rest.slice(text.length))];
  }

  /** An open block if the first line of a source looks like a line of a key. */
  #restOfBlock(path: string, line: string): OpenBlock | undefined {
    const [rule] = this.#rules;
    const body = this.#restIn(line);
    if (rule === undefined || body === undefined) return undefined;
    if (startsOtherData(line.slice(body.start, body.end))) return undefined;
    return this.#blockOf({ ...rule, id: KEY_FRAGMENT }, path, this.#limits.lines);
  }

  #blockOf(rule: BlockRule, path: string, linesLeft: number): OpenBlock {
    return {
      rule,
      path,
      among: this.#open.byField,
      linesLeft,
      plainLines: 0,
      lastAt: this.#now(),
      column: 0,
      opening: undefined,
    };
  }
}

const noBlocks = (): SourceBlocks => ({ byField: new Map(), everyField: undefined });
const ordinary = (text: string): FieldPart => ({ text, rule: undefined });
const partOf = ({ rule }: { readonly rule: BlockRule }, text: string): FieldPart => ({ text, rule: rule.id });
const isFragment = ({ rule }: OpenBlock): boolean => rule.id === KEY_FRAGMENT;

function lastMatch(expression: RegExp, text: string): { start: number; end: number } | undefined {
  const match = [...text.matchAll(expression)].at(-1);
  return match === undefined ? undefined : { start: match.index, end: match.index + match[0].length };
}
