import type { Field } from './mask-strings.ts';
import type { RowFields, RowMask } from './row-mask.ts';

const LF = 0x0a;
/** For shorter texts, starting WebAssembly does not pay. */
const SHORTEST_IN_BYTES = 2048;
/** Bytes. */
const LONGEST_CHARACTER = 4;
/** Of so many rows, each is masked by itself if they cannot be masked together. */
const FEW_ROWS = 8;
const DATA: Field = { key: 'data', within: undefined };
/** The arrays of so many rows are looked at together. */
const ROWS_WITH_ARRAYS = 16;

/** Memory that all masks use, one after the other. */
let memory: { readonly lines: Buffer; readonly masked: Buffer } | undefined;

/** Rows from one to before another. */
interface RowRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Masks the strings of many events as the lines of one text, which costs a fraction of masking each by itself. It gives
 * what {@link RowMask} says of each field, and leaves every event of which it does not know that to `maskAlone`.
 */
export class RowsMasker {
  readonly #mask: RowMask;
  /** The strings that are masked together, and where each of them is. */
  readonly #texts: string[] = [];
  readonly #holders: Record<string | number, unknown>[] = [];
  readonly #keys: (string | number)[] = [];
  /** Whether the current row has an array with a string. */
  #hasItems = false;

  constructor(mask: RowMask) {
    this.#mask = mask;
  }

  /**
   * @param maskAlone masks the row at a place by itself, and puts the result in its place; false if it could not. Rows are
   * masked in their order.
   * @returns the rows that have to be masked one by one, and before whose first one it ended: strings that could not be
   * masked together, or a row that `maskAlone` left. Undefined if all are masked.
   */
  maskRows(rows: readonly RowFields[], maskAlone: (place: number) => boolean): RowRange | undefined {
    const { maxLength } = this.#mask.lines;
    /** The first of the rows that wait, how many strings each of them has, and the length of these as lines. */
    let first = 0;
    const counts: number[] = [];
    let length = 0;
    /** The rows that have arrays with strings. */
    const withItems: number[] = [];
    /** Masks the rows up to one; returns the end of the first few that it has to leave. */
    const finish = (end: number): number | undefined => {
      const count = counts.slice(0, end - first).reduce((sum, more) => sum + more, 0);
      const isMasked = this.#maskTexts(count);
      if (isMasked || (end - first === 1 && maskAlone(first))) {
        this.#forget(0, count);
        counts.splice(0, end - first);
        const places = isMasked ? withItems.filter((place) => place >= first && place < end) : [];
        const left = this.#maskItems(rows, places, maskAlone);
        first = left ?? end;
        return left === undefined ? undefined : left + 1;
      }
      // One among many has to be masked by itself.
      return end - first <= FEW_ROWS ? end : (finish(first + ((end - first) >> 1)) ?? finish(end));
    };
    const stop = (end: number): RowRange => {
      this.#forget(0, this.#texts.length);
      return { start: first, end };
    };
    for (let place = 0; place < rows.length; place++) {
      const count = this.#texts.length;
      const isTaken = this.#takes(rows[place] as RowFields);
      if (isTaken && this.#hasItems) withItems.push(place);
      const more = isTaken ? this.#lengthFrom(count) : Number.POSITIVE_INFINITY;
      if (length + more <= maxLength) {
        counts.push(this.#texts.length - count);
        length += more;
        continue;
      }
      const isTogether = more <= maxLength;
      if (!isTogether) this.#forget(count, this.#texts.length);
      const left = finish(place);
      if (left !== undefined) return stop(left);
      length = isTogether ? more : 0;
      if (isTogether) counts.push(this.#texts.length);
      if (isTogether) continue;
      if (!maskAlone(place)) return stop(place + 1);
      first = place + 1;
    }
    const left = finish(rows.length);
    return left === undefined ? undefined : stop(left);
  }

  /** Notes the strings of a row; false if it has to be masked by itself. */
  #takes(row: RowFields): boolean {
    try {
      this.#hasItems = false;
      return this.#mask.takes?.(row) !== false && this.#takeRecord(row, DATA);
    } catch {
      return false;
    }
  }

  #note(text: string, holder: Record<string | number, unknown>, at: string | number): void {
    this.#texts.push(text);
    this.#holders.push(holder);
    this.#keys.push(at);
  }

  #takeRecord(record: RowFields, within: Field): boolean {
    const mask = this.#mask;
    const names = mask.namesIn?.(record);
    const keys = Object.keys(record);
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i] as string;
      if (mask.keepsKey?.(key) === false) return false;
      const value = record[key];
      if (!this.#takeValue(value, record, key, key, within, undefined, names?.get(key))) return false;
    }
    return true;
  }

  #takeArray(list: readonly unknown[], { key, within, names }: Field): boolean {
    this.#hasItems ||= list.some((item) => typeof item === 'string');
    let previous: string | undefined;
    for (let i = 0; i < list.length; i++) {
      const value = list[i];
      const holder = list as unknown as Record<number, unknown>;
      if (!this.#takeValue(value, holder, i, key, within as Field, previous, names)) return false;
      previous = typeof value === 'string' ? value : undefined;
    }
    return true;
  }

  /**
   * @param at where `holder` has the value
   * @param key of the field, which items of an array have from the array
   */
  #takeValue(
    value: unknown,
    holder: Record<string | number, unknown>,
    at: string | number,
    key: string,
    within: Field,
    previous: string | undefined,
    names: readonly string[] | undefined,
  ): boolean {
    const mask = this.#mask;
    switch (typeof value) {
      case 'string': {
        const fate = mask.text(value, key, within, previous, names);
        if (fate === 'line') this.#note(value, holder, at);
        return fate !== 'alone';
      }
      case 'number':
        return mask.keepsNumber?.(value, key, within, names) !== false;
      case 'boolean':
        return true;
      case 'object': {
        if (value === null) return true;
        const field = { key, within, names };
        return Array.isArray(value)
          ? this.#takeArray(value, field)
          : this.#takeRecord(value as RowFields, field);
      }
      default:
        return false;
    }
  }

  #lengthFrom(start: number): number {
    let length = 0;
    for (let i = start; i < this.#texts.length; i++) length += (this.#texts[i] as string).length + 1;
    return length;
  }

  #forget(start: number, end: number): void {
    for (const list of [this.#texts, this.#holders, this.#keys]) list.splice(start, end - start);
  }

  /** Masks the first strings that are noted. False if that fails: then each row has to be masked by itself. */
  #maskTexts(count: number): boolean {
    if (count === 0) return true;
    try {
      const texts = count === this.#texts.length ? this.#texts : this.#texts.slice(0, count);
      for (const [i, after] of this.#changesOf(texts)) {
        (this.#holders[i] as Record<string | number, unknown>)[this.#keys[i] as string | number] = after;
      }
      return true;
    } catch {
      return false;
    }
  }

  /**
   * Masks rows by themselves if something in their arrays has to be.
   *
   * @returns the place of a row that `maskAlone` left
   */
  #maskItems(
    rows: readonly RowFields[],
    places: readonly number[],
    maskAlone: (place: number) => boolean,
  ): number | undefined {
    const { leavesItems } = this.#mask;
    if (leavesItems === undefined) return undefined;
    for (let i = 0; i < places.length; i += ROWS_WITH_ARRAYS) {
      const some = places.slice(i, i + ROWS_WITH_ARRAYS);
      if (isTrue(() => leavesItems(some.map((place) => rows[place] as RowFields)))) continue;
      const left = some.find((place) => !maskAlone(place));
      if (left !== undefined) return left;
    }
    return undefined;
  }

  #maskLines(lines: string): string {
    const { map, mapBytes, maxLength } = this.#mask.lines;
    if (mapBytes === undefined || lines.length < SHORTEST_IN_BYTES) return map(lines);
    if (memory === undefined || memory.lines.length < maxLength + LONGEST_CHARACTER) {
      memory = {
        // With room for one more character, so that it is seen where characters take more bytes.
        lines: Buffer.allocUnsafeSlow(maxLength + LONGEST_CHARACTER),
        masked: Buffer.allocUnsafeSlow(2 * maxLength),
      };
    }
    const bytes = memory.lines.subarray(0, memory.lines.write(lines));
    if (bytes.length !== lines.length) return map(lines);
    const length = mapBytes(bytes, memory.masked);
    if (length === -1) return map(lines);
    const masked = memory.masked.subarray(0, length);
    return bytes.equals(masked) ? lines : masked.toString('latin1');
  }

  /** Masks texts as lines; returns those that have changed, by their numbers. */
  #changesOf(texts: readonly string[]): readonly (readonly [number, string])[] {
    const lines = texts.join('\n');
    const masked = this.#maskLines(lines);
    if (masked === lines) return [];
    const changes: [number, string][] = [];
    let at = 0;
    for (let i = 0; i < texts.length; i++) {
      if (at > masked.length) throw new RangeError('the mask returned fewer lines than it got');
      const before = texts[i] as string;
      let end = at + before.length;
      const isSame =
        masked.startsWith(before, at) && (end === masked.length || masked.charCodeAt(end) === LF);
      if (!isSame) {
        const found = masked.indexOf('\n', at);
        end = found === -1 ? masked.length : found;
        changes.push([i, masked.slice(at, end)]);
      }
      at = end + 1;
    }
    if (at !== masked.length + 1) throw new RangeError('the mask returned more lines than it got');
    return changes;
  }
}

/** Whether a question is answered with yes, and not by an error. */
function isTrue(question: () => boolean): boolean {
  try {
    return question();
  } catch {
    return false;
  }
}
