import { argumentError, type Checks, COUNT, checkOptions, STRINGS } from '../operators/internal-redact.ts';
import { labelOf } from '../plugins/masks/pseudonyms.ts';
import { globToExpression, loadPack, packNames } from '../plugins/packs/load-packs.ts';
import { RestoringStream } from './restoring-stream.ts';
import { SyntheticIv } from './synthetic-iv.ts';

export interface PseudonymsOptions {
  /**
   * Rules whose values have pseudonyms: ids, and patterns with `*`. `pii/*` by default, so that passwords, tokens and keys stay `<:name:>`
   * and are never given back.
   */
  readonly rules?: string | readonly string[] | undefined;
  /** The most values. 10,000 by default. */
  readonly maxEntries?: number | undefined;
  /** The most bytes of values and pseudonyms, two for each UTF-16 code unit. 4,000,000 by default. */
  readonly maxBytes?: number | undefined;
  /**
   * A secret of at least 32 bytes. With it, a pseudonym is the value itself, encrypted: it is the same in every process with the key, each of
   * which can turn it back. Without it, values are numbered.
   */
  readonly key?: string | Uint8Array | undefined;
}

/** How many values have a pseudonym, and nothing of them. */
export interface PseudonymCounts {
  readonly entries: number;
  readonly bytes: number;
  /** How often a value got none, because the table was full or the value is too long for one. */
  readonly refused: number;
}

/** A text that arrives in pieces, and whose pseudonyms are turned back. */
export interface RestoredStream {
  /** Characters that wait, because they may become a pseudonym. */
  readonly held: number;
  /** The next piece. Returns what leaves now. */
  write(piece: string): string;
  /** Returns the rest. */
  end(): string;
}

/** Pseudonyms of one conversation. */
export interface Pseudonyms {
  readonly counts: PseudonymCounts;
  /** The pseudonym of a value that a rule has found. Undefined if it must not be given back, or the table is full. */
  pseudonymOf(value: string, rule: string): string | undefined;
  /** Whether a text is a pseudonym that can be turned back. */
  isPseudonym(text: string): boolean;
  /** Replaces values that have a pseudonym, wherever they are in a text, as whole words. */
  hide(text: string): string;
  /** Turns back the pseudonyms in a text. */
  restore(text: string): string;
  /** {@link restore} for a text of JSON, or a part of one: values are written with the escapes that its strings need. */
  restoreJson(json: string): string;
  /** {@link restore}, or {@link restoreJson}, for a text that arrives in pieces. */
  stream(options?: { readonly json?: boolean | undefined }): RestoredStream;
  /** Forgets all values. Numbers are not given again. */
  clear(): void;
  toJSON(): PseudonymCounts;
}

const MAX_ENTRIES = 10_000;
const MAX_BYTES = 4_000_000;
const LEAST_KEY = 32;
/** Shorter values are not looked for in texts: a word of two letters is mostly another one. */
const START = 3;

const MASK = /<:[^<>\s]{1,2000}:>/y;
const CONTENT = /^([A-Z][A-Z0-9_]*)_([a-z0-9]+)$/;

const CHECKS: Checks<PseudonymsOptions> = {
  rules: (value) =>
    typeof value === 'string' || STRINGS(value) === true || 'a pattern for ids of rules, or an array of them',
  maxEntries: COUNT,
  maxBytes: COUNT,
  key: () => true,
};

/**
 * Returns a table of pseudonyms such as `<:EMAIL_1:>` for one conversation, to be given to `createRedactor`. The same value always gets the
 * same pseudonym, and only this object can turn it back. Make one for each conversation: whoever writes `<:EMAIL_1:>` into it gets the value.
 *
 * Values are in memory only, up to a number and a size. When the table is full, it forgets nothing, and new values are replaced by `<:name:>`,
 * which nothing turns back. It never shows a value when it is logged or serialised.
 *
 * @throws TypeError for an option that is unknown or of the wrong type, and for a key of fewer than 32 bytes.
 *
 * @example
 * const pseudonyms = createPseudonyms();
 * const redactor = createRedactor({ packs: ['default', 'pii/contact'], pseudonyms });
 * redactor.redact('Mail ada@example.org, password=Tr0ub4dor&3'); // 'Mail <:EMAIL_1:>, password=<:password:>'
 * pseudonyms.restore('I wrote to <:EMAIL_1:>.'); // 'I wrote to ada@example.org.'
 * JSON.stringify(pseudonyms); // '{"entries":1,"bytes":52,"refused":0}'
 */
export function createPseudonyms(options: PseudonymsOptions = {}): Pseudonyms {
  checkOptions('createPseudonyms', options, CHECKS);
  for (const pattern of [options.rules ?? []].flat()) refuseUnknown(pattern);
  return new PseudonymTable(options);
}

/** Rules of a program have names of any form. Those of packs start with `pii/` or `secrets/`. */
function refuseUnknown(pattern: string): void {
  const expression = globToExpression(pattern);
  const ofPack = globToExpression(pattern.replace(/:.*/s, ''));
  const isKnown = (pack: string) =>
    expression.test(`${pack}:`) ||
    (ofPack.test(pack) &&
      Object.keys(loadPack(pack).rules).some((rule) => expression.test(`${pack}:${rule}`)));
  if (!/^(?:pii|secrets)\//.test(pattern) || packNames().some(isKnown)) return;
  throw argumentError(
    TypeError,
    `createPseudonyms: rules: no rule of the packs has an id such as ${pattern}; write the id of a rule, such as pii/contact:email, ` +
      'or a pattern, such as pii/contact:* for all rules of a pack',
  );
}

class PseudonymTable implements Pseudonyms {
  readonly #rules: readonly RegExp[];
  readonly #maxEntries: number;
  readonly #maxBytes: number;
  readonly #sealing: SyntheticIv | undefined;
  readonly #pseudonyms = new Map<string, string>();
  /** By what is in the brackets: `EMAIL_1`. */
  readonly #values = new Map<string, string>();
  /** Lengths of values by their first characters, the longest first. */
  readonly #lengths = new Map<string, number[]>();
  readonly #lastNumbers = new Map<string, number>();
  #bytes = 0;
  #refused = 0;

  constructor(options: PseudonymsOptions) {
    const { rules = 'pii/*', maxEntries = MAX_ENTRIES, maxBytes = MAX_BYTES, key } = options;
    this.#rules = [rules].flat().map(globToExpression);
    this.#maxEntries = maxEntries;
    this.#maxBytes = maxBytes;
    this.#sealing = key === undefined ? undefined : new SyntheticIv(checkedKey(key));
  }

  get counts(): PseudonymCounts {
    return { entries: this.#values.size, bytes: this.#bytes, refused: this.#refused };
  }

  pseudonymOf(found: string, rule: string): string | undefined {
    if (!this.#rules.some((expression) => expression.test(rule))) return undefined;
    // A rule can find something around a pseudonym.
    const value = this.restore(found);
    const known = this.#pseudonyms.get(value);
    if (known !== undefined) return known;
    const label = labelOf(rule);
    const id = this.#sealing === undefined ? this.#nextNumber(label) : this.#sealing.seal(label, value);
    if (id === undefined || !this.#remember(value, `${label}_${id}`)) {
      this.#refused++;
      return undefined;
    }
    if (this.#sealing === undefined) this.#lastNumbers.set(label, Number(id));
    return `<:${label}_${id}:>`;
  }

  isPseudonym(text: string): boolean {
    return text.startsWith('<:') && text.endsWith(':>') && this.#valueOf(text.slice(2, -2)) !== undefined;
  }

  hide(text: string): string {
    if (this.#lengths.size === 0) return text;
    let hidden = '';
    let copied = 0;
    for (let i = 0; i < text.length; ) {
      const own = text.charCodeAt(i) === LESS ? this.#pseudonymAt(text, i) : undefined;
      if (own !== undefined) {
        i += own.length;
        continue;
      }
      const value = this.#valueAt(text, i);
      if (value === undefined) {
        i++;
        continue;
      }
      hidden += text.slice(copied, i) + this.#pseudonyms.get(value);
      i += value.length;
      copied = i;
    }
    return hidden + text.slice(copied);
  }

  restore(text: string): string {
    return this.#restored(text, false);
  }

  restoreJson(json: string): string {
    return this.#restored(json, true);
  }

  stream({ json = false }: { readonly json?: boolean | undefined } = {}): RestoredStream {
    return new RestoringStream(
      json,
      (content) => this.#valueOf(content),
      (start) => this.#mayBecome(start),
    );
  }

  clear(): void {
    this.#pseudonyms.clear();
    this.#values.clear();
    this.#lengths.clear();
    this.#bytes = 0;
  }

  toJSON(): PseudonymCounts {
    return this.counts;
  }

  /** What `console.log` shows. */
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    const { entries, bytes, refused } = this.counts;
    return `Pseudonyms { entries: ${entries}, bytes: ${bytes}, refused: ${refused} }`;
  }

  #restored(text: string, isJson: boolean): string {
    const stream = this.stream({ json: isJson });
    return stream.write(text) + stream.end();
  }

  #nextNumber(label: string): string {
    return String((this.#lastNumbers.get(label) ?? 0) + 1);
  }

  /** Undefined for what is no pseudonym, or one of another key or conversation. */
  #valueOf(content: string): string | undefined {
    const known = this.#values.get(content);
    if (known !== undefined || this.#sealing === undefined) return known;
    const [, label = '', sealed = ''] = CONTENT.exec(content) ?? [];
    const value = this.#sealing.open(label, sealed);
    // A value that is not remembered would not be hidden in the next request.
    return value !== undefined && this.#remember(value, content) ? value : undefined;
  }

  #valueAt(text: string, position: number): string | undefined {
    for (const length of this.#lengths.get(text.slice(position, position + START)) ?? []) {
      if (!isWhole(text, position, position + length)) continue;
      const value = text.slice(position, position + length);
      if (this.#pseudonyms.has(value)) return value;
    }
    return undefined;
  }

  #pseudonymAt(text: string, position: number): string | undefined {
    MASK.lastIndex = position;
    const mask = MASK.exec(text)?.[0];
    return mask !== undefined && this.isPseudonym(mask) ? mask : undefined;
  }

  /** Whether something that starts so can be a pseudonym. */
  #mayBecome(start: string): boolean {
    if (this.#sealing !== undefined) return true;
    for (const content of this.#values.keys()) if (content.startsWith(start)) return true;
    return false;
  }

  /** False if there is no room. */
  #remember(found: string, given: string): boolean {
    const bytes = 2 * (found.length + given.length + '<::>'.length);
    if (this.#values.size >= this.#maxEntries || this.#bytes + bytes > this.#maxBytes) return false;
    this.#bytes += bytes;
    const value = copyOf(found);
    const content = copyOf(given);
    this.#values.set(content, value);
    // With a key, a value that different rules have found can have several.
    if (this.#pseudonyms.has(value)) return true;
    this.#pseudonyms.set(value, `<:${content}:>`);
    if (value.length < START) return true;
    const start = value.slice(0, START);
    const lengths = this.#lengths.get(start) ?? [];
    if (!lengths.includes(value.length)) {
      this.#lengths.set(
        start,
        [...lengths, value.length].sort((a, b) => b - a),
      );
    }
    return true;
  }
}

/** A part of a text keeps the whole text in memory, unless it is copied. */
const copyOf = (text: string): string => JSON.parse(JSON.stringify(text)) as string;

function checkedKey(key: unknown): string | Uint8Array {
  const isKey = typeof key === 'string' || key instanceof Uint8Array;
  const { length } = typeof key === 'string' ? new TextEncoder().encode(key) : ((key ?? []) as Uint8Array);
  if (isKey && length >= LEAST_KEY) return key;
  throw Object.assign(
    new TypeError(`createPseudonyms: key must be a string or a Uint8Array of at least ${LEAST_KEY} bytes`),
    { code: 'MILLRACE_ARGUMENT' },
  );
}

const LESS = 0x3c;

/** Whether a value is not a part of a longer word. */
function isWhole(text: string, start: number, end: number): boolean {
  const cuts = (at: number) => isOfWord(text[at - 1]) && isOfWord(text[at]);
  return !cuts(start) && !cuts(end);
}

const isOfWord = (character: string | undefined) =>
  character !== undefined && /[\p{L}\p{N}_]/u.test(character);
