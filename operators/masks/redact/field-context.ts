import { canName, valueKeysOf } from '../keyed/object-fields.ts';
import type { Field, Names } from '../mask-strings.ts';
import { Renderer } from './rendered-text.ts';

/*
 * A field of an event is searched after its key, as in a line of JSON: `"dbPassword": "…"`. So rules that look for a key
 * find the same in events as in text, and there is no second list of such keys.
 */

/** What stands before a value, up to and including its opening quote, and what follows it. */
export interface FieldContext {
  readonly before: string;
  readonly after: string;
}

/** Characters, counted from the end: what a key says of its value comes last. */
const LONGEST_KEY = 100;

/** An object of more names is no pair of a name and a value. */
const MOST_NAMES = 8;

/** Keys of events come again and again. Keys that are data do not, so that many are not kept. */
const MOST_KNOWN = 1000;

/** What stands around values. Undefined where no rule has a keyword. */
export class FieldContexts {
  readonly #mentions: (text: string) => boolean;
  readonly #known = new Map<string, FieldContext | 'none'>();
  /** Whether keys have a keyword of a rule. */
  readonly #names = new Map<string, boolean>();

  /** Of {@link hasNone}: by the outer key, by the key. */
  readonly #bare = {
    '"': new Map<string, Map<string, boolean>>(),
    '': new Map<string, Map<string, boolean>>(),
  };

  /** @param mentions whether a text has a keyword of a rule */
  constructor(mentions: (text: string) => boolean) {
    this.#mentions = mentions;
  }

  /** A field by its key and the one around it, `"within": {"key": …`. */
  of(key: string, within: string, quote: '"' | ''): FieldContext | undefined {
    const inner = endOf(key);
    const outer = endOf(within);
    return this.#remember(`${quote}${outer.length}:${outer}${inner}`, () => ({
      before: `${outer === '' ? '' : `${written(outer)}: {`}${written(inner)}: ${quote}`,
      after: quote || '}',
    }));
  }

  /** A field by each of the names that it and the field around it may have. */
  all(
    key: string,
    within: Field | undefined,
    names: readonly string[] | undefined,
    quote: '"' | '',
  ): (FieldContext | undefined)[] {
    // The fields of every event are in `data`, which says nothing of them.
    const outer = within === undefined || isDataOfEvent(within) ? '' : within.key;
    const outers = within?.names;
    const above = within?.within && this.#above(within.within, outer, key, quote);
    if (names === undefined && outers === undefined && above === undefined)
      return [this.of(key, outer, quote)];
    const inner = [...(names ?? []), key];
    const found = [...(outers ?? []), outer].flatMap((outer) =>
      inner.map((name) => this.of(name, outer, quote)),
    );
    return above === undefined ? found : [...found, above];
  }

  /** Whether {@link all} finds none for a field: keys come again and again, so that is remembered. */
  hasNone(
    key: string,
    within: Field | undefined,
    names: readonly string[] | undefined,
    quote: '"' | '',
  ): boolean {
    const find = () => this.all(key, within, names, quote).every((context) => context === undefined);
    if (names !== undefined || within?.names !== undefined) return find();
    const outer = within === undefined || isDataOfEvent(within) ? '' : within.key;
    if (within?.within && this.#above(within.within, outer, key, quote) !== undefined) return false;
    let known = this.#bare[quote].get(outer);
    if (known === undefined) {
      if (this.#bare[quote].size >= MOST_KNOWN) this.#bare[quote].clear();
      known = new Map();
      this.#bare[quote].set(outer, known);
    }
    let isBare = known.get(key);
    if (isBare === undefined) {
      isBare = find();
      if (known.size >= MOST_KNOWN) known.clear();
      known.set(key, isBare);
    }
    return isBare;
  }

  /** A field in an object that is further inside of a field with the name of a secret. */
  #above(field: Field, outer: string, key: string, quote: '"' | ''): FieldContext | undefined {
    for (let above: Field | undefined = field; above && !isDataOfEvent(above); above = above.within) {
      if (!this.#isNameOfSecret(above.key)) continue;
      const inner = `${written(endOf(outer))}: {${written(endOf(key))}: ${quote}`;
      return { before: `${written(endOf(above.key))}: {${inner}`, after: quote || '}' };
    }
    return undefined;
  }

  #isNameOfSecret(key: string): boolean {
    let is = this.#names.get(key);
    if (is === undefined) {
      is = this.#mentions(written(endOf(key)));
      if (this.#names.size >= MOST_KNOWN) this.#names.clear();
      this.#names.set(key, is);
    }
    return is;
  }

  /** The item after another one: `"--password", "…"`. */
  ofItem(previous: string): FieldContext | undefined {
    const item = endOf(previous);
    return this.#remember(`[${item}`, () => ({ before: `[${written(item)}, "`, after: '"' }));
  }

  #remember(id: string, make: () => FieldContext): FieldContext | undefined {
    let context = this.#known.get(id);
    if (context === undefined) {
      const made = make();
      context = this.#mentions(made.before) ? made : 'none';
      if (this.#known.size >= MOST_KNOWN) this.#known.clear();
      this.#known.set(id, context);
    }
    return context === 'none' ? undefined : context;
  }
}

/** Members of a JSON Web Key that are private. Their keys say nothing without the one beside them that has the type. */
const JWK_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'k'] as const;

/**
 * Names for fields of an object that other fields of it may hold: `{ "name": "DB_PASSWORD", "value": "…" }` is searched as
 * `"DB_PASSWORD": "…"`, whichever field has the name.
 */
export function namesBesideFields(
  object: Readonly<Record<string, unknown>>,
  contexts: FieldContexts,
): Names | undefined {
  const values = valueKeysOf(Object.keys(object));
  const isJwk = typeof object.kty === 'string';
  if (values.length === 0 && !isJwk) return undefined;
  const found = new Map<string, readonly string[]>();
  if (isJwk) for (const member of JWK_MEMBERS) found.set(member, [`kty","${member}`]);
  for (const value of values) {
    const names = Object.keys(object)
      .filter((key) => key !== value)
      .map((key) => object[key])
      .filter((text): text is string => typeof text === 'string')
      .filter((text) => canName(text, value) && contexts.of(text, '', '"') !== undefined);
    if (names.length > 0) found.set(value, names.slice(0, MOST_NAMES));
  }
  return found.size === 0 ? undefined : found;
}

const keys = /* @__PURE__ */ new Renderer(true);
const isDataOfEvent = ({ key, within }: Field) => key === 'data' && within === undefined;
const written = (text: string) => JSON.stringify(text);

/** The end of the displayed text: NULs, colours and escaped letters can hide a key, as they can hide a value. */
function endOf(text: string): string {
  const rendered = keys.needs(text) ? keys.render(text) : text;
  const shown = rendered.includes('\0') ? rendered.replaceAll('\0', '') : rendered;
  return shown.length > LONGEST_KEY ? shown.slice(-LONGEST_KEY) : shown;
}
