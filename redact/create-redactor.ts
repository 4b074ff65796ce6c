import {
  atLeast,
  type Confidence,
  checkOptions,
  type EntropyRuleOptions,
  LEAST_HELD,
  type Masked,
  MOST_HELD,
  mapStrings,
  maskJson,
  PieceMasker,
  type RedactedStream,
  type RedactRule,
  Redactor as Rules,
  TEXT,
  UNMASKABLE,
} from '../operators/internal-redact.ts';
import {
  additionsOf,
  fieldMasksOf,
  fieldPolicies,
  keptKeys,
  replaceByActions,
} from '../plugins/masks/redact-actions.ts';
import { checkArgument, LEAVES_JSON, PSEUDONYMS } from './check-redactor.ts';
import { checkRedactorOptions } from './check-redactor-options.ts';
import { packRules } from './packs.ts';
import type { Pseudonyms } from './pseudonyms.ts';

/** What replaces a value: the name of its rule, its last characters, a character for each of its own, or a keyed hash of it. */
export type ReplaceAction =
  | 'name'
  | { readonly keep_last: number }
  | { readonly mask_char: string }
  | { readonly hmac: { readonly key: string; readonly length?: number | undefined } };

/** What happens to a field, whatever its value is. */
export type FieldPolicyOption = 'keep' | 'drop' | 'mask' | ReplaceAction;

export interface RedactorOptions {
  /** Names of packs; `default` and `all` stand for several. Default: `default`, whose packs find secrets. */
  readonly packs?: string | readonly string[] | undefined;
  /** Ids of rules to leave out of the packs; `*` stands for any characters. */
  readonly disable?: readonly string[] | undefined;
  /** Your own rules by their names: expressions, or objects with an expression. They are applied before those of packs. */
  readonly rules?: Readonly<Record<string, string | RedactRule>> | undefined;
  /** Leaves out rules that are less certain: `low` has all rules. `medium` by default. */
  readonly confidence?: Confidence | undefined;
  /** What is never masked: expressions, which are searched anywhere in a value, and names of keys in any style of writing. */
  readonly allow?:
    | { readonly values?: readonly string[] | undefined; readonly keys?: readonly string[] | undefined }
    | undefined;
  /** How many layers of each encoding are decoded. Default: 2 of JSON strings, 1 of percent encoding, and 2 of base64. `false`: none. */
  readonly decode?:
    | false
    | {
        readonly json?: number | undefined;
        readonly percent?: boolean | undefined;
        readonly base64?: number | undefined;
      }
    | undefined;
  /** Masks tokens that look random; `false` turns this off. By default, it is on at low confidence. */
  readonly entropy?: EntropyRuleOptions | false | undefined;
  /** What replaces a value: by the id of its rule, a pattern with `*`, or `default`. Default: `<:name of the rule:>`. */
  readonly action?: Readonly<Record<string, ReplaceAction>> | undefined;
  /** Replaces values that may be restored by pseudonyms: see `createPseudonyms`. They take precedence over `action`. */
  readonly pseudonyms?: Pseudonyms | undefined;
  /**
   * What happens to fields, whatever their values are, by patterns: paths such as `user.email`, or keys at any depth, in any style of writing.
   * `keep`, `drop`, `mask`, or an action. A path without `*` takes precedence, then a key without `*`. Of several patterns of one kind, the
   * strictest applies.
   */
  readonly fields?: Readonly<Record<string, FieldPolicyOption>> | undefined;
  /** Keys whose values are masked whatever they are: `['ssn']` is `fields: { ssn: 'mask' }`. */
  readonly keys?: readonly string[] | undefined;
  /** The most characters of a string. A longer one is replaced as a whole. 4,000,000 by default. */
  readonly maxLength?: number | undefined;
}

/** What a redactor has found since it was made. */
export interface RedactionReport {
  /** How many values it has masked, by the ids of their rules. */
  readonly masked: Readonly<Record<string, number>>;
  /** How many strings and parts of values it has replaced as a whole, because it could not mask them. */
  readonly unmaskable: number;
}

/** Masks strings, values and streams. */
export interface Redactor {
  /**
   * Masks a string, or a value as JSON shows it, at any depth. It never changes the input, and reads each property once. Cycles become
   * `[Circular]`, bigints become strings, and errors become objects with their message, stack, cause and fields. A `Map` or a `Set` becomes
   * `{}`, as in JSON. It never throws: what cannot be masked, such as binary data or a getter that throws, is replaced by `<:unmaskable:>`.
   */
  redact(text: string): string;
  redact<T>(value: T): Masked<T, unknown>;
  /** Masks a JSON document, such as a line of a structured log. A string that is not JSON is masked as a string. */
  redactJson(json: string): string;
  /** Returns a stream, which masks a text that arrives in pieces. @throws RangeError if `mostHeld` is below 16,384. */
  stream(options?: { readonly mostHeld?: number | undefined }): RedactedStream;
  report(): RedactionReport;
  /**
   * Returns a redactor for another conversation, with its own pseudonyms and its own report. It shares the compiled rules, so this is fast.
   */
  withPseudonyms(pseudonyms: Pseudonyms): Redactor;
  /** The pseudonyms that it uses. */
  readonly pseudonyms: Pseudonyms | undefined;
}

const LONGEST = 4_000_000;

/**
 * Returns a redactor, which applies the packs of rules of the processor `redact`. Creating one takes a quarter of a second, so create it
 * once. All of its methods are synchronous.
 *
 * @throws TypeError for an option that is unknown, of the wrong type, or that turns masking off, and for an expression that could take
 * exponential time.
 * @throws RangeError for a number out of range.
 * @throws ExpressionError for a rule that is not a regular expression, naming the rule.
 * @throws Error with the code `MILLRACE_ARGUMENT` if there is no pack of one of the names.
 *
 * @example
 * const redactor = createRedactor();
 * redactor.redact('login with password=Tr0ub4dor&3'); // 'login with password=<:password:>'
 * redactor.redact({ user: 'ada', headers: { authorization: 'Basic YWRhOk5PVC1hLXNlY3JldA==' } }).user; // 'ada'
 * redactor.report().masked; // { 'secrets/context:password': 1, 'secrets/context:authorization': 1 }
 */
export function createRedactor(options: RedactorOptions = {}): Redactor {
  checkRedactorOptions(options);
  const { maxLength = LONGEST, pseudonyms } = options;
  return new PackRedactor(new SharedRules(options), maxLength, pseudonyms);
}

/** Decides what replaces the values that rules find, and counts them. */
interface RulesUser {
  readonly pseudonyms: Pseudonyms | undefined;
  count(rule: string, count: number): void;
}

/** Rules for the redactors of several conversations. Masking is synchronous, so one of them uses the rules at a time. */
class SharedRules {
  readonly #rules: Rules;
  #user: RulesUser | undefined;

  constructor(options: RedactorOptions) {
    const { packs, disable, rules = {}, confidence = 'medium', allow = {}, decode = {} } = options;
    const { entropy, action = {} } = options;
    const replace = replaceByActions({ action });
    const policies = policiesOf(options);
    const isFieldMask = fieldMasksOf(policies);
    this.#rules = new Rules({
      rules: { ...rules, ...packRules(packs, disable) },
      confidence,
      entropy,
      allowedValues: allow.values ?? [],
      allowedKeys: [...(allow.keys ?? []), ...keptKeys(policies)],
      fields: fieldPolicies(policies),
      decode:
        decode === false
          ? { json: 0, percent: 0, base64: 0 }
          : { json: decode.json ?? 2, percent: decode.percent === false ? 0 : 1, base64: decode.base64 ?? 2 },
      replace: (value, id) => this.#user?.pseudonyms?.pseudonymOf(value, id) ?? replace(value, id),
      isAddition: additionsOf({ action }),
      isMask: (mask) => this.#user?.pseudonyms?.isPseudonym(mask) === true || isFieldMask?.(mask) === true,
      onMask: (rule, count) => this.#user?.count(rule, count),
    });
  }

  use<T>(user: RulesUser, work: (rules: Rules) => T): T {
    const before = this.#user;
    this.#user = user;
    try {
      return work(this.#rules);
    } finally {
      this.#user = before;
    }
  }

  stream(user: RulesUser, mostHeld: number): RedactedStream {
    const stream = this.use(user, (rules) => new PieceMasker(rules.stream(mostHeld)));
    return {
      get held() {
        return stream.held;
      },
      write: (piece) => this.use(user, () => stream.write(piece)),
      flush: () => this.use(user, () => stream.flush()),
      end: () => this.use(user, () => stream.end()),
    };
  }
}

class PackRedactor implements Redactor {
  readonly pseudonyms: Pseudonyms | undefined;
  readonly #shared: SharedRules;
  readonly #maxLength: number;
  readonly #masked = new Map<string, number>();
  readonly #user: RulesUser;
  #unmaskable = 0;

  constructor(shared: SharedRules, maxLength: number, pseudonyms: Pseudonyms | undefined) {
    this.#shared = shared;
    this.#maxLength = maxLength;
    this.pseudonyms = pseudonyms;
    this.#user = {
      pseudonyms,
      count: (rule, count) => this.#masked.set(rule, (this.#masked.get(rule) ?? 0) + count),
    };
  }

  redact<T>(value: T): Masked<T, unknown>;
  redact(value: unknown): unknown {
    if (typeof value === 'string') return this.#text(value);
    const masked = this.#shared.use(this.#user, (rules) =>
      rules.maskValue(value, this.#replaced, this.#maxLength),
    );
    const { pseudonyms } = this;
    return pseudonyms === undefined ? masked : mapStrings(masked, (text) => pseudonyms.hide(text));
  }

  redactJson(json: string): string {
    checkArgument('redactJson', 'the document', json, TEXT);
    if (json.length > this.#maxLength) return JSON.stringify(this.#replaced());
    return maskJson(json, { value: (value) => this.redact(value), text: (text) => this.#text(text) });
  }

  [LEAVES_JSON](json: string): boolean {
    // The table of pseudonyms recognises values that no rule finds.
    if (this.pseudonyms !== undefined || json.length > this.#maxLength) return false;
    try {
      return this.#shared.use(this.#user, (rules) => rules.leavesJson(json));
    } catch {
      return false;
    }
  }

  stream(options: { readonly mostHeld?: number | undefined } = {}): RedactedStream {
    checkOptions('stream', options, { mostHeld: atLeast(LEAST_HELD) });
    const { mostHeld = MOST_HELD } = options;
    return this.#shared.stream(this.#user, mostHeld);
  }

  report(): RedactionReport {
    return { masked: Object.fromEntries(this.#masked), unmaskable: this.#unmaskable };
  }

  withPseudonyms(pseudonyms: Pseudonyms): Redactor {
    checkArgument('withPseudonyms', 'pseudonyms', pseudonyms, PSEUDONYMS);
    return new PackRedactor(this.#shared, this.#maxLength, pseudonyms);
  }

  #text(text: string): string {
    if (text.length > this.#maxLength) return this.#replaced();
    try {
      const masked = this.#shared.use(this.#user, (rules) => rules.maskText(text));
      // Rules find some values only by their context. Elsewhere, such as in the answer of a model, the table recognises them.
      return this.pseudonyms?.hide(masked) ?? masked;
    } catch {
      return this.#replaced();
    }
  }

  readonly #replaced = (): string => {
    this.#unmaskable++;
    return UNMASKABLE;
  };
}

function policiesOf({
  fields = {},
  keys = [],
}: RedactorOptions): Readonly<Record<string, FieldPolicyOption>> {
  return { ...fields, ...Object.fromEntries(keys.map((key) => [key, 'mask' as const])) };
}
