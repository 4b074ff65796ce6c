import type { LinesMasker } from './lines-masker.ts';
import type { Span } from './mask-rule.ts';

/*
 * Masks replace text, and in a line of JSON not every text can stand everywhere: a number that becomes `<:PIN:>` has to be a
 * string, a match can take a quote away, or half of an escape. So a mask first replaces as in any text. Where that may have
 * broken JSON, each string, number, boolean and null that a match touches is replaced by itself.
 */

/** What a mask says of itself, to keep JSON. */
export interface JsonKeeperOptions {
  /** Its rules. Each of them sees what the ones before it have made of a text. */
  readonly rules: readonly JsonRule[];
  /** What it puts in, of each rule: the text, or the first character of a text. */
  readonly marks: readonly Mark[];
  /** Runs the rules, whose time is to be limited. */
  readonly boundTime?: ((work: () => string, length: number) => string) | undefined;
}

export interface JsonRule {
  /** Where it replaces something, from the left to the right. */
  readonly find: (text: string) => readonly Span[];
  readonly replace: (value: string) => string;
}

export interface Mark {
  readonly text: string;
  /** Whether what it replaces can have a quote or a backslash, and so be in more than one string. */
  readonly crosses: boolean;
}

/** What masks a text, and lines. */
export interface TextMasks {
  readonly mask: (text: string) => string;
  readonly many: () => LinesMasker | undefined;
}

/** Keeps JSON in what a mask gives. */
export class JsonKeeper {
  readonly #options: JsonKeeperOptions;

  constructor(options: JsonKeeperOptions) {
    this.#options = options;
  }

  /** What may be seen of a text, of which a mask has made `masked`. */
  keep(text: string, masked: string): string {
    if (masked === text || !hasJson(text) || !this.#mayBreak(masked)) return masked;
    return this.#repaired(text, masked);
  }

  /** The same for lines, joined by LF. */
  keepLines(lines: string, masked: string): string {
    if (masked === lines || !hasJson(lines) || !this.#mayBreak(masked)) return masked;
    const before = lines.split('\n');
    return masked
      .split('\n')
      .map((line, i) => this.keep(before[i] as string, line))
      .join('\n');
  }

  /** Whether a mark is where it may not be in JSON: anywhere but in a string, at its start, or behind half of an escape. */
  #mayBreak(masked: string): boolean {
    return this.#options.marks.some(({ text: mark, crosses }) => {
      if (mark === '') return true;
      if (crosses) return masked.includes(mark);
      for (let at = masked.indexOf(mark); at !== -1; at = masked.indexOf(mark, at + mark.length)) {
        if (!isInString(masked, at, at + mark.length)) return true;
      }
      return false;
    });
  }

  #repaired(text: string, masked: string): string {
    let region = jsonIn(text);
    if (region === undefined || this.#isIntact(text, masked)) return masked;
    const { rules, boundTime = (work) => work() } = this.#options;
    return boundTime(() => {
      let repaired = text;
      for (const { find, replace } of rules) {
        const spans = find(repaired);
        if (spans.length === 0) continue;
        region ??= jsonIn(repaired);
        if (region === undefined) return masked;
        repaired = replaceInJson(repaired, region, spans, replace);
        region = undefined;
      }
      return repaired;
    }, text.length);
  }

  /** Whether it is JSON of as many values, with marks in its strings only. */
  #isIntact(text: string, masked: string): boolean {
    const { marks } = this.#options;
    const hasQuotes = marks.some(({ text: mark }) => mark.includes('"'));
    // JSON in a string can be broken in one that is not, and a number of digits is one again.
    const isSure =
      hasQuotes || (!masked.includes('\\"') && marks.every(({ text: mark }) => NO_NUMBER.test(mark)));
    return isSure && (hasQuotes || countQuotes(text) === countQuotes(masked)) && jsonIn(masked) !== undefined;
  }
}

function countQuotes(text: string): number {
  let count = 0;
  for (let at = text.indexOf('"'); at !== -1; at = text.indexOf('"', at + 1)) count++;
  return count;
}

const NO_NUMBER = /[^\w.+-]/;

/** A mask that keeps JSON. */
export function keepingJson({ mask, many }: TextMasks, keeper: JsonKeeper, counts: HeldCounts): TextMasks {
  return {
    mask: (text) => keeper.keep(text, mask(text)),
    many: () => {
      const lines = many();
      return lines && linesKeepingJson(lines, keeper, counts);
    },
  };
}

function linesKeepingJson(many: LinesMasker, keeper: JsonKeeper, counts: HeldCounts): LinesMasker {
  const { maxLength, maxLineLength } = many;
  const mapBytes = (lines: Uint8Array, into: Uint8Array) =>
    counts.held(() => {
      const length = many.mapBytes?.(lines, into) ?? -1;
      if (length === -1 || counts.isEmpty || !bytesHaveJson(lines)) return length;
      const masked = decoder.decode(into.subarray(0, length));
      const kept = keeper.keepLines(decoder.decode(lines), masked);
      if (kept === masked) return length;
      return kept.length > into.length ? -1 : encoder.encodeInto(kept, into).written;
    });
  return {
    map: (lines) => keeper.keepLines(lines, many.map(lines)),
    get mapBytes() {
      return many.mapBytes === undefined ? undefined : mapBytes;
    },
    maxLength,
    maxLineLength,
  };
}

const decoder = /* @__PURE__ */ new TextDecoder();
const encoder = /* @__PURE__ */ new TextEncoder();

/** Tells what is masked, and holds it back while it may still be done in another way. */
export class HeldCounts {
  readonly #tell: ((rule: string, count: number) => void) | undefined;
  #counts: [rule: string, count: number][] | undefined;

  constructor(tell: ((rule: string, count: number) => void) | undefined) {
    this.#tell = tell;
  }

  readonly add = (rule: string, count: number): void => {
    if (this.#counts === undefined) this.#tell?.(rule, count);
    else this.#counts.push([rule, count]);
  };

  get isEmpty(): boolean {
    return this.#counts?.length === 0;
  }

  /** Tells what `work` masks when it has succeeded: with -1, or an error, it is masked again in another way. */
  held(work: () => number): number {
    const counts: [rule: string, count: number][] = [];
    this.#counts = counts;
    let result = -1;
    try {
      result = work();
    } finally {
      this.#counts = undefined;
    }
    if (result !== -1) for (const [rule, count] of counts) this.#tell?.(rule, count);
    return result;
  }
}

const LF = 0x0a;
const BRACE = 0x7b;
const BRACKET = 0x5b;

/** Whether lines can be JSON, or end with it. */
function hasJson(lines: string): boolean {
  return lines.includes('{') || lines.startsWith('[') || lines.includes('\n[');
}

function bytesHaveJson(lines: Uint8Array): boolean {
  if (lines.includes(BRACE)) return true;
  for (let at = lines.indexOf(BRACKET); at !== -1; at = lines.indexOf(BRACKET, at + 1)) {
    if (at === 0 || lines[at - 1] === LF) return true;
  }
  return false;
}

/** Characters of a number, boolean or null, and of the longest one that is looked at. */
const BARE = /[\w.+-]/;
const LONGEST_BARE = 64;
/** What stands before a value that is no string, or before a name that stands in place of several. */
const BEFORE_VALUE = /[:,[{}\]\n]/;
const LONGEST_ESCAPE = 5;

/**
 * Whether a mark is plainly in a string of JSON, and not in an escape. The text in front of it cannot be the start of a
 * value, which is short.
 */
function isInString(text: string, start: number, end: number): boolean {
  if (text.slice(Math.max(0, start - LONGEST_ESCAPE), start).includes('\\')) return false;
  let before = start - 1;
  const least = Math.max(0, start - LONGEST_BARE);
  while (before >= least && BARE.test(text[before] as string)) before--;
  if (before < least) return false;
  const isJoined = before < start - 1;
  const hasSpace = SPACE.test(text[before] as string);
  while (before >= 0 && SPACE.test(text[before] as string)) before--;
  const character = text[before];
  if (character === undefined || BEFORE_VALUE.test(character)) return false;
  // The quote that opens the string, or one that closes another.
  return character !== '"' || (!hasSpace && (isJoined || !BEHIND_STRING.test(text.slice(end, end + 8))));
}

const SPACE = /[ \t\r]/;
const BEHIND_STRING = /^[ \t]*[:,}\]]/;

/** The object or array of JSON that a line is, or ends with. */
export function jsonIn(line: string): Span | undefined {
  const end = Math.max(line.lastIndexOf('}'), line.lastIndexOf(']')) + 1;
  const first = line.length - line.trimStart().length;
  const starts = new Set(line[first] === '[' ? [first] : []).add(line.indexOf('{'));
  for (const start of starts) {
    if (start === -1 || start >= end || line.slice(end).trim() !== '') continue;
    try {
      JSON.parse(line.slice(start, end));
      return { start, end };
    } catch {
      // It is text.
    }
  }
  return undefined;
}

/** Replaces spans of a text: in its JSON, what of them is in strings and in other values. */
function replaceInJson(
  text: string,
  region: Span,
  found: readonly Span[],
  replace: (value: string) => string,
): string {
  const spans = apart(found);
  let masked = '';
  let copied = 0;
  let next = 0;
  const put = (start: number, end: number, replacement: string) => {
    masked += text.slice(copied, start) + replacement;
    copied = end;
  };
  /** Spans that have something of a part. The last one can go on behind it. */
  const spansIn = ({ start, end }: Span): Span[] => {
    while (next < spans.length && (spans[next] as Span).end <= start) next++;
    const touched: Span[] = [];
    for (let i = next; i < spans.length && (spans[i] as Span).start < end; i++) {
      const span = spans[i] as Span;
      touched.push({ ...span, start: Math.max(span.start, start), end: Math.min(span.end, end) });
    }
    return touched;
  };
  const plain = (part: Span) => {
    for (const { start, end } of spansIn(part)) put(start, end, replace(text.slice(start, end)));
  };
  const escapes = new Escapes(text, region.start);
  plain({ start: 0, end: region.start });
  for (const { start, end, isString } of valuesIn(text, region)) {
    if (isString) {
      const string = text.slice(start, end);
      for (const span of wholeEscapes(escapes, spansIn({ start, end }))) {
        const value = text.slice(span.start, span.end);
        const inner = JSON.stringify(replace(value)).slice(1, -1);
        put(span.start, span.end, inQuotes(inner, value, string, span.start - start));
      }
      continue;
    }
    const touched = spansIn({ start, end });
    if (touched.length === 0) continue;
    put(start, start, '"');
    for (const span of touched) {
      const replacement = replace(text.slice(span.start, span.end));
      put(span.start, span.end, JSON.stringify(replacement).slice(1, -1));
    }
    put(end, end, '"');
  }
  plain({ start: region.end, end: text.length });
  return masked + text.slice(copied);
}

/** Spans that do not overlap: the first of several is as long as all of them. */
function apart<T extends Span>(spans: readonly T[]): T[] {
  const list: T[] = [];
  for (const span of spans) {
    const last = list.at(-1);
    if (last === undefined || span.start >= last.end) list.push(span);
    else if (span.end > last.end) list[list.length - 1] = { ...last, end: span.end };
  }
  return list;
}

/** The strings of JSON, without their quotes, and its numbers, booleans and nulls. */
function* valuesIn(text: string, region: Span): Generator<Span & { readonly isString: boolean }> {
  const bare = /[^\s",:[\]{}]+/y;
  const escapes = new Escapes(text, region.start);
  for (let at = region.start; at < region.end; ) {
    if (text[at] === '"') {
      const end = endOfString(text, at + 1, escapes);
      yield { start: at + 1, end, isString: true };
      at = end + 1;
      continue;
    }
    bare.lastIndex = at;
    if (bare.test(text)) {
      yield { start: at, end: bare.lastIndex, isString: false };
      at = bare.lastIndex;
    } else at++;
  }
}

/** Where the quote is that closes a string. */
function endOfString(text: string, start: number, escapes: Escapes): number {
  let end = text.indexOf('"', start);
  while (escapes.at(end) !== undefined) end = text.indexOf('"', end + 1);
  return end;
}

/** Spans in a string, without those that start or end in an escape. */
function wholeEscapes(escapes: Escapes, spans: readonly Span[]): Span[] {
  return apart(
    spans.map((span) => ({
      ...span,
      start: escapes.at(span.start)?.start ?? span.start,
      end: escapes.at(span.end)?.end ?? span.end,
    })),
  );
}

/** The escapes of JSON, which are asked for from the left to the right: so a text is searched once. */
class Escapes {
  readonly #text: string;
  #start: number;

  constructor(text: string, from: number) {
    this.#text = text;
    this.#start = this.#next(from);
  }

  /** The escape that a place is in, rather than at the start of. */
  at(place: number): Span | undefined {
    while (this.#end <= place) this.#start = this.#next(this.#end);
    return this.#start < place ? { start: this.#start, end: this.#end } : undefined;
  }

  get #end(): number {
    return this.#start + (this.#text[this.#start + 1] === 'u' ? 6 : 2);
  }

  #next(from: number): number {
    const at = this.#text.indexOf('\\', from);
    return at === -1 ? Number.POSITIVE_INFINITY : at;
  }
}

const BARE_VALUE = /^(?:-?\d[\d.eE+-]*|true|false|null)$/;
/** The quotes of a key in front of its value, which can be an item of a list of numbers. */
const QUOTE_OF_KEY = /((?:\\{0,7}["'])+)\s{0,5}:\s{0,5}(?:\[(?:[^[\]{}]{1,60},){0,20}\s{0,5})?$/;
const LONGEST_KEY_BEFORE = 1000;

/** What replaces a value. In place of a number, boolean or null of JSON, it is a string, so that the text stays JSON. */
export function inQuotes(replacement: string, value: string, text = value, start = 0): string {
  if (!BARE_VALUE.test(value)) return replacement;
  const end = start + value.length;
  if (!/^\s{0,5}[,}\]]/.test(text.slice(end, end + 8))) return replacement;
  const quote = QUOTE_OF_KEY.exec(text.slice(Math.max(0, start - LONGEST_KEY_BEFORE), start))?.[1];
  return quote === undefined ? replacement : quote + replacement + quote;
}
