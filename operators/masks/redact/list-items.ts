import type { Field } from '../mask-strings.ts';
import type { Finding } from './find-values.ts';

/*
 * Items of arrays have no keys of their own. What they are can stand beside the array: a statement of SQL beside its parameters, the
 * name of a command before its arguments. So rules search the JSON of all of it, and what they find within an item is masked there.
 */

/** A string of an array, or an array that is written as a string of JSON, as Prisma does. */
interface Item {
  readonly text: string;
  /** Where it is in the JSON, without its quotes. */
  readonly start: number;
  readonly end: number;
  readonly field: Field | undefined;
  readonly holder: Record<string | number, unknown>;
  readonly key: string | number;
}

/** Whether a field stays as it is. */
export type IsKept = (field: Field) => boolean;

const ARRAY_IN_JSON = /^\[\s?(?:"|(?:-?\d[\d.]*|null|true|false)\s?,)/;
export const isArrayInJson = (text: string): boolean => text.startsWith('[') && ARRAY_IN_JSON.test(text);

/** Whether a value has an array with a string. */
export function hasItems(value: unknown): boolean {
  if (typeof value === 'string') return isArrayInJson(value);
  if (typeof value !== 'object' || value === null) return false;
  if (!Array.isArray(value)) return Object.values(value).some(hasItems);
  return value.some((item) => typeof item === 'string' || hasItems(item));
}

/** The JSON of a value, without what is kept, and the items in it. */
export class JsonWithItems {
  json = '';
  readonly #items: Item[] = [];
  readonly #isKept: IsKept | undefined;

  constructor(value: unknown, isKept: IsKept | undefined) {
    this.#isKept = isKept;
    this.#write(value, undefined, {}, '');
  }

  /** Replaces each item as a whole. */
  replaceAll(replacement: () => string): void {
    for (const { holder, key } of this.#items) holder[key] = replacement();
  }

  /**
   * Replaces what is found in items, and leaves everything else.
   *
   * @param findings in the JSON, by their starts
   * @param replace gets a value without the escapes of JSON
   */
  replace(findings: readonly Finding[], replace: (value: string, rule: string, item: Item) => string): void {
    for (const item of this.#items) {
      const { start, end, holder, key } = item;
      const within = findings.filter((finding) => finding.start < end && finding.end > start);
      if (within.length > 0) holder[key] = this.#replaced(item, within, replace);
    }
  }

  #replaced(
    item: Item,
    findings: readonly Finding[],
    replace: (value: string, rule: string, item: Item) => string,
  ): string {
    let result = '';
    let copied = item.start;
    try {
      for (const { rule, start, end } of findings) {
        if (start < copied && copied > item.start) continue;
        const from = Math.max(start, item.start);
        const to = Math.min(end, item.end);
        result += unescaped(this.json.slice(copied, from));
        result += replace(unescaped(this.json.slice(from, to)), rule, item);
        copied = to;
      }
      return result + unescaped(this.json.slice(copied, item.end));
    } catch {
      // A value starts or ends within an escape.
      return replace(item.text, (findings[0] as Finding).rule, item);
    }
  }

  #write(
    value: unknown,
    field: Field | undefined,
    holder: Record<string | number, unknown>,
    key: string | number,
  ): void {
    if (typeof value === 'string') {
      const start = this.json.length + 1;
      this.json += JSON.stringify(value);
      if (!Array.isArray(holder) && !isArrayInJson(value)) return;
      this.#items.push({ text: value, start, end: this.json.length - 1, field, holder, key });
    } else if (Array.isArray(value)) {
      this.json += '[';
      value.forEach((item, index) => {
        if (index > 0) this.json += ',';
        this.#write(item, field, value as never, index);
      });
      this.json += ']';
    } else if (typeof value === 'object' && value !== null && !(value instanceof Date)) {
      this.#writeObject(value as Record<string, unknown>, field);
    } else {
      this.json += JSON.stringify(value) ?? 'null';
    }
  }

  #writeObject(value: Record<string, unknown>, within: Field | undefined): void {
    let mark = '{';
    for (const [key, item] of Object.entries(value)) {
      const field: Field = { key, within };
      if (item === undefined || this.#isKept?.(field) === true) continue;
      this.json += `${mark}${JSON.stringify(key)}:`;
      mark = ',';
      this.#write(item, field, value, key);
    }
    this.json += mark === '{' ? '{}' : '}';
  }
}

/** @throws SyntaxError if an escape is cut */
const unescaped = (text: string): string =>
  text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text;
