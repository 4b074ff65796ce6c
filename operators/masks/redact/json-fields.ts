import { jsonIn } from '../json-lines.ts';
import type { Field, FieldFate } from '../mask-strings.ts';
import type { Span } from '../search/finder.ts';

type FateOf = (key: string, within: Field | undefined) => FieldFate | undefined;
type Apply = (fate: FieldFate, value: unknown, place: Span) => string | undefined;

/**
 * Applies policies of fields to the JSON that a text is, or ends with, and leaves all else in it as it is written. Fields that are kept
 * are not told apart from others: the rules see them.
 *
 * @param apply told of each field that does not stay, with its place in the text; returns what replaces its value, if something does
 */
export function applyToJson(text: string, fateOf: FateOf, apply: Apply): string {
  const region = text.includes('"') ? jsonIn(text) : undefined;
  return region === undefined ? text : new JsonFields(text, region.start, fateOf, apply).applied();
}

/** A member of an object, with its key. */
interface Member extends Span {
  readonly isDropped: boolean;
}

/** Reads JSON that is known to be valid. */
class JsonFields {
  readonly #text: string;
  readonly #fateOf: FateOf;
  readonly #apply: Apply;
  readonly #edits: (Span & { readonly replacement: string })[] = [];
  #at: number;

  constructor(text: string, start: number, fateOf: FateOf, apply: Apply) {
    this.#text = text;
    this.#at = start;
    this.#fateOf = fateOf;
    this.#apply = apply;
  }

  applied(): string {
    this.#value(undefined);
    let masked = '';
    let copied = 0;
    for (const { start, end, replacement } of this.#edits.sort((a, b) => a.start - b.start)) {
      masked += this.#text.slice(copied, start) + replacement;
      copied = end;
    }
    return masked + this.#text.slice(copied);
  }

  #value(field: Field | undefined): void {
    const opening = this.#skip(/\s*/y).next;
    if (opening === '{') this.#object(field);
    else if (opening === '[') this.#array(field);
    else if (opening === '"') this.#string();
    else this.#skip(/[^\s,\]}]*/y);
  }

  #object(within: Field | undefined): void {
    const members: Member[] = [];
    this.#at++;
    while (this.#skip(/[\s,]*/y).next !== '}') {
      const start = this.#at;
      const key = JSON.parse(this.#string()) as string;
      this.#skip(/\s*:\s*/y);
      const from = this.#at;
      const edits = this.#edits.length;
      this.#value({ key, within });
      const place = { start: from, end: this.#at };
      const fate = this.#fateOf(key, within);
      members.push({ start, end: this.#at, isDropped: fate?.action === 'drop' });
      if (fate === undefined || fate.action === 'keep') continue;
      // What was found further inside goes with the whole.
      this.#edits.length = edits;
      const value: unknown = JSON.parse(this.#text.slice(from, this.#at));
      if (value === null) continue;
      const replacement = this.#apply(fate, value, place);
      if (replacement !== undefined) this.#edits.push({ ...place, replacement: JSON.stringify(replacement) });
    }
    this.#at++;
    this.#drop(members);
  }

  /** Removes members, each with the comma that separates it from one that stays. */
  #drop(members: readonly Member[]): void {
    let hasKept = false;
    members.forEach(({ start, end, isDropped }, i) => {
      if (!isDropped) {
        hasKept = true;
        return;
      }
      const before = members[i - 1]?.end ?? start;
      const after = members[i + 1]?.start ?? end;
      this.#edits.push({ start: hasKept ? before : start, end: hasKept ? end : after, replacement: '' });
    });
  }

  #array(field: Field | undefined): void {
    this.#at++;
    while (this.#skip(/[\s,]*/y).next !== ']') this.#value(field);
    this.#at++;
  }

  /** With its quotes. */
  #string(): string {
    const start = this.#at;
    this.#at++;
    for (;;) {
      const { next } = this.#skip(/[^"\\]*/y);
      if (next === '"') break;
      this.#at += 2;
    }
    this.#at++;
    return this.#text.slice(start, this.#at);
  }

  #skip(characters: RegExp): { readonly next: string | undefined } {
    characters.lastIndex = this.#at;
    if (characters.test(this.#text)) this.#at = characters.lastIndex;
    return { next: this.#text[this.#at] };
  }
}
