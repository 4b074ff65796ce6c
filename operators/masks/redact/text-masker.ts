import type { IsAddition } from '../checks/placeholders.ts';
import { compileMaskRules, type MaskRules, type MaskRulesOptions } from '../compile-mask-rules.ts';
import { lazily } from '../expression/linear-engine.ts';
import { mayTake } from '../expression/taken-units.ts';
import { literalsOfNames } from '../keyed/keyed-finder.ts';
import { LineBeforeFinder, type OpenKey, OpenKeyFinder } from '../keyed/open-key.ts';
import type { MaskRule } from '../mask-rule.ts';
import { compileExpression } from '../python-regex.ts';
import { NO_EXPRESSION } from '../search/finder.ts';
import { LiteralIndex } from '../search/literal-index.ts';
import {
  type BlockLimits,
  type BlockRule,
  BlockTracker,
  blockRules,
  type FieldPart,
  LINE,
} from './block-tracker.ts';
import {
  compileRedactRules,
  type EntropyRuleOptions,
  type ReplaceValue,
  valueFilter,
} from './compile-redact-rules.ts';
import {
  DECODERS,
  type DecodeLayers,
  type Encoding,
  encodingsIn,
  replaceEncoded,
  withoutLayer,
} from './decode.ts';
import type { FieldPolicies } from './field-policies.ts';
import { type Finding, findValues } from './find-values.ts';
import { type AnyRule, type Confidence, isKeyed } from './redact-rule.ts';
import { Renderer } from './rendered-text.ts';

export interface RedactorOptions {
  /** Rules by their ids: `pack:rule`, or a name. */
  readonly rules: Readonly<Record<string, AnyRule>>;
  readonly confidence: Confidence;
  readonly allowedValues: readonly string[];
  /** Keys in any style of writing, and patterns of them, whose values no rule masks. */
  readonly allowedKeys: readonly string[];
  /** What becomes of fields whatever their values are. */
  readonly fields?: FieldPolicies | undefined;
  readonly decode: DecodeLayers;
  readonly entropy?: EntropyRuleOptions | false | undefined;
  /** Follows blocks through the lines of a source. `now` is in milliseconds. */
  readonly blocks?: (BlockLimits & { readonly now: () => number }) | undefined;
  readonly replace: ReplaceValue;
  readonly isAddition?: IsAddition | undefined;
  /** Whether a text is a mask by another name than that of a rule: `<:EMAIL_1:>`. None is by default. */
  readonly isMask?: ((mask: string) => boolean) | undefined;
  readonly onMask?: ((rule: string, count: number) => void) | undefined;
  /** Told of each value that is masked, with its place in its string. Masking is slower with it. */
  readonly onFind?: ((finding: Finding) => void) | undefined;
  readonly boundTime?: MaskRulesOptions['boundTime'];
  readonly isLate?: MaskRulesOptions['isLate'];
  readonly linearEngine?: MaskRulesOptions['linearEngine'];
}

/** How often rules have replaced something. */
type Counts = readonly (readonly [rule: string, count: number])[];

/** Masks strings by redaction rules, and in what is encoded in them. */
export class TextMasker {
  readonly rules: MaskRules;
  readonly renderer: Renderer;
  readonly decodes: boolean;
  readonly blocks: readonly BlockRule[];
  readonly #list: readonly MaskRule[];
  readonly #options: RedactorOptions;
  /** Finds names whose values are masked if something else is in their line. */
  readonly #namesOfRecords: () => LiteralIndex;
  readonly #isMaskable: (value: string, isSecret: boolean) => boolean;
  /** Whether rules see a value that is written as in JSON, with escapes. */
  #isEscaped = false;
  #openKey: OpenKey | undefined;
  /** What encoded tokens were in which nothing was found: those of paths and queries come again and again. */
  readonly #harmless = new Set<string>();
  /** Where counts go now. */
  #count: (rule: string, count: number) => void;

  /** @throws as `compileRedactRules` does */
  constructor(options: RedactorOptions) {
    const { rules, decode, boundTime, isLate, linearEngine, onMask = () => {} } = options;
    this.#options = options;
    this.#count = onMask;
    this.#list = compileRedactRules(rules, { ...options, replace: (value, id) => this.#replace(value, id) });
    this.rules = compileMaskRules([...this.#openKeyRules(rules), ...this.#list], {
      onMask: (rule, count) => this.count(rule, count),
      boundTime,
      isLate,
      linearEngine,
    });
    this.#namesOfRecords = lazily(
      () =>
        new LiteralIndex(Object.values(rules).map((rule) => (isKeyed(rule) ? literalsOfNames(rule) : []))),
    );
    this.#isMaskable = valueFilter(options.allowedValues, linearEngine);
    this.blocks = blockRules(rules);
    this.renderer = new Renderer(decode.json > 0);
    this.decodes = decode.json + decode.percent + decode.base64 > 0;
  }

  /** Rules that mask nothing, and notice keys whose values may be in the next line. */
  #openKeyRules(rules: RedactorOptions['rules']): readonly MaskRule[] {
    const vocabularies = new Set(
      Object.values(rules).flatMap((rule) => (isKeyed(rule) ? [rule.vocabulary] : [])),
    );
    const noteOpenKey = (key: OpenKey) => {
      this.#openKey = key;
    };
    const ofKeys = [...vocabularies].map((vocabulary) => ({
      finder: () => new OpenKeyFinder(vocabulary, noteOpenKey),
      keywords: OpenKeyFinder.keywordsOf(vocabulary),
    }));
    // The last one counts: what a rule says of a line is more than that there is a name in it.
    const ofRules = Object.entries(rules).flatMap(([id, rule]) => {
      if (typeof rule === 'string' || isKeyed(rule) || rule.after === undefined) return [];
      const { line, lines } = rule.after;
      const expression = lazily(() => compileExpression(line, id));
      return [
        { finder: () => new LineBeforeFinder(expression, lines, noteOpenKey), keywords: rule.keywords ?? [] },
      ];
    });
    return [...ofKeys, ...ofRules].map(({ finder, keywords }) => ({
      name: '',
      expression: NO_EXPRESSION,
      cost: { degree: 1, factor: 10, ambiguity: undefined },
      groups: [],
      finder,
      keywords,
      replace: (value) => value,
    }));
  }

  /**
   * Whether a value may stand far in front of what its rule is found by. Those of packs are found by what is in or before the
   * value, or by a few words after it.
   */
  get needsWholeLines(): boolean {
    return this.#list.some(
      ({ name, expression, finder }) =>
        !/^(?:secrets|pii)\//.test(name) && finder === undefined && mayTake(expression, ' '),
    );
  }

  /** False if {@link mask} leaves a text as it is, alone and in front of any other text that this says it of. */
  mayChange(text: string): boolean {
    if (this.#namesOfRecords().rulesIn(text).length > 0) return true;
    const { json, percent } = this.#options.decode;
    // A reader may see something else of these than what is written.
    if (text.includes(NUL) || text.includes('\x1b')) return true;
    if ((json > 0 && text.includes('\\')) || (percent > 0 && text.includes('%'))) return true;
    if (this.blocks.some(({ contains }) => text.includes(contains))) return true;
    if (this.#mayHaveBase64(text) || this.rules.hasCandidates(text)) return true;
    return this.rules.hasCommon() && !this.leaves(text, (text) => this.rules.mask(text));
  }

  /** Whether {@link FieldMasker} leaves all fields of a JSON document as they are. False also for one whose fields have to be looked at. */
  leavesJson(json: string): boolean {
    if (json.includes(NUL) || json.includes('\x1b') || NEEDS_FIELDS.test(json)) return false;
    if (json.length > 2 * MOST_LEVELS && json.split(/[[{]/, MOST_LEVELS).length === MOST_LEVELS) return false;
    if (!this.rules.leavesCompactJson(json)) return false;
    return !this.decodes || this.leaves(json, (text) => this.maskEncoded(text));
  }

  /** Characters of the longest literal that {@link mayChange} looks for. */
  get longestLiteral(): number {
    return Math.max(this.rules.longestLiteral(), this.#namesOfRecords().longest);
  }

  #mayHaveBase64(text: string): boolean {
    const { decode } = this.#options;
    return decode.base64 > 0 && /[\w+/-]{20}/.test(text) && encodingsIn(asBytes(text), decode).length > 0;
  }

  /** The last key without a value that was noticed since this was last asked. */
  takeOpenKey(): OpenKey | undefined {
    const key = this.#openKey;
    this.#openKey = undefined;
    return key;
  }

  count(rule: string, count: number): void {
    this.#count(rule, count);
  }

  /**
   * What rules make of a text, without what is encoded in it. It is not counted.
   *
   * @param isEscaped whether values in it are written as in JSON, with escapes
   */
  attempt(text: string, isEscaped: boolean): { readonly result: string; readonly counts: Counts } {
    this.#isEscaped = isEscaped;
    try {
      return this.#quietly(() => this.rules.mask(text));
    } finally {
      this.#isEscaped = false;
    }
  }

  /** @param onFind told of what is found, in place of that of the options */
  mask(text: string, onFind = this.#options.onFind): string {
    return this.maskHidden(text, onFind) ?? this.#maskShown(text, onFind);
  }

  #maskShown(text: string, onFind: RedactorOptions['onFind']): string {
    if (text.includes('\n') && this.blocks.some((block) => this.#isInPieces(text, block))) {
      return this.#maskPieces(text, onFind);
    }
    const shown = this.renderer.needs(text) ? this.#maskRendered(text, onFind) : text;
    const masked = this.rules.mask(shown);
    const result = this.decodes ? this.maskEncoded(masked) : masked;
    if (onFind === undefined || result === shown) return result;
    for (const finding of this.find(shown)) {
      // Places in a text that is masked already are none in the original one.
      onFind(shown === text ? finding : { ...finding, start: 0, end: text.length });
    }
    return result;
  }

  maskParts(parts: readonly FieldPart[], onFind: RedactorOptions['onFind']): string {
    const { replace } = this.#options;
    let end = 0;
    const masked = this.#withWholeFindings(parts).map(({ text, rule }) => {
      const start = end;
      end += text.length;
      if (rule === undefined) {
        const shifted: typeof onFind =
          onFind && ((found) => onFind({ ...found, start: found.start + start, end: found.end + start }));
        return this.mask(text, shifted);
      }
      this.count(rule, 1);
      onFind?.({ rule, start, end });
      return replace(text, rule);
    });
    return masked.join('');
  }

  /** Parts that cut no value which a rule finds in the whole text: the rule would not find it in the pieces. */
  #withWholeFindings(parts: readonly FieldPart[]): readonly FieldPart[] {
    if (parts.every(({ rule }) => rule !== undefined)) return parts;
    const text = parts.map((part) => part.text).join('');
    let at = 0;
    const blocks: Finding[] = parts.flatMap((part) => {
      const start = at;
      at += part.text.length;
      return part.rule === undefined ? [] : [{ rule: part.rule, start, end: at }];
    });
    const cut = this.find(text.trimEnd()).filter(({ start, end }) =>
      blocks.some((block) => start < block.end && end > block.start),
    );
    const spans: Finding[] = [];
    for (const span of [...cut, ...blocks].sort((a, b) => a.start - b.start)) {
      const last = spans.at(-1);
      if (last === undefined || span.start >= last.end) spans.push(span);
      else spans[spans.length - 1] = { ...last, end: Math.max(last.end, span.end) };
    }
    const whole: FieldPart[] = [];
    let copied = 0;
    for (const { rule, start, end } of spans) {
      whole.push(
        { text: text.slice(copied, start), rule: undefined },
        { text: text.slice(start, end), rule },
      );
      copied = end;
    }
    return [...whole, { text: text.slice(copied), rule: undefined }];
  }

  /**
   * Whether a text of several lines has a block with something between its lines that is not of it, such as the JSON of a
   * container's log. The expression of its rule finds no more than its first line then.
   */
  #isInPieces(text: string, { id, contains, start, end }: BlockRule): boolean {
    const from = text.includes(contains) ? text.search(start) : -1;
    if (from === -1 || text.slice(from).search(end) === -1) return false;
    const match = this.#list.find(({ name }) => name === id)?.expression.exec(text);
    return !match || match[0].search(end) === -1;
  }

  /** Masks such a block line by line. */
  #maskPieces(text: string, onFind: RedactorOptions['onFind']): string {
    const { lines, timeoutMs } = this.#options.blocks ?? { lines: 200, timeoutMs: 1 };
    const tracker = new BlockTracker(this.blocks, { lines, timeoutMs }, () => 0);
    tracker.startEvent(LINE);
    let start = 0;
    const masked = text.split('\n').map((line) => {
      const at = start;
      start += line.length + 1;
      const shifted: RedactorOptions['onFind'] =
        onFind && ((found) => onFind({ ...found, start: found.start + at, end: found.end + at }));
      const parts = tracker.next(LINE, line);
      return parts === undefined ? this.mask(line, shifted) : this.maskParts(parts, shifted);
    });
    return masked.join('\n');
  }

  /** Masks what rules find in what a reader sees of a text. */
  #maskRendered(text: string, onFind: RedactorOptions['onFind']): string {
    const shown = this.renderer.render(text);
    if (this.#ruleFor(shown, this.#options.decode) === undefined) return text;
    return this.renderer.replace(text, this.find(shown), (value, finding) => {
      this.count(finding.rule, 1);
      onFind?.(finding);
      return this.#options.replace(value, finding.rule);
    });
  }

  /**
   * A text in which NULs hide a secret, such as UTF-16 that was read as UTF-8: the secret cannot be cut out, so the whole
   * text is replaced. Undefined for other texts.
   */
  maskHidden(text: string, onFind = this.#options.onFind): string | undefined {
    if (!text.includes(NUL)) return undefined;
    const shown = this.#quietly(() => this.#maskShown(text, () => {}));
    const whole = this.#quietly(() => this.#maskShown(text.replaceAll(NUL, ''), () => {}));
    if (shown.result.replaceAll(NUL, '') === whole.result) return undefined;
    const [[rule] = ['']] = [...whole.counts, ...shown.counts];
    this.count(rule, 1);
    onFind?.({ rule, start: 0, end: text.length });
    return this.#options.replace(text, rule);
  }

  /** Encoded tokens are found as by rules that come last. */
  find(text: string): Finding[] {
    const { decode: layers, replace } = this.#options;
    let found = '';
    const decoding = DECODERS.filter(({ layer }) => layers[layer] > 0).map(
      ({ layer, tokens, decode }): MaskRule => ({
        name: '',
        expression: NO_EXPRESSION,
        groups: [0],
        finder: tokens,
        accepts: (token) => {
          const decoded = decode(token);
          const rule =
            decoded === undefined ? undefined : this.#ruleFor(decoded, withoutLayer(layers, layer));
          found = rule ?? '';
          return rule !== undefined && this.#isMaskable(token, true);
        },
        replace: (token) => replace(token, found),
      }),
    );
    return this.#findBy(text, decoding, ({ name }) => (name === '' ? found : name));
  }

  /** {@link find} in what a reader sees of a text as well: places are those in the text. */
  findShown(text: string): readonly Finding[] {
    let hidden: Finding | undefined;
    const note = (finding: Finding) => {
      hidden = finding;
    };
    this.#quietly(() => this.maskHidden(text, note));
    if (hidden !== undefined) return [hidden];
    const found = this.find(text);
    if (!this.renderer.needs(text)) return found;
    this.renderer.replace(text, this.find(this.renderer.render(text)), (value, finding) => {
      found.push(finding);
      return value;
    });
    return found.sort((a, b) => a.start - b.start);
  }

  /** What rules find in a text by themselves. */
  findByRules(text: string, isEscaped: boolean): Finding[] {
    this.#isEscaped = isEscaped;
    try {
      return this.#findBy(text);
    } finally {
      this.#isEscaped = false;
    }
  }

  /** @param last rules that come after those of the options */
  #findBy(text: string, last: readonly MaskRule[] = [], nameOf?: (rule: MaskRule) => string): Finding[] {
    const { boundTime } = this.#options;
    const { rules, isSlow } = this.rules.candidates(text);
    // Rules without a name only notice keys.
    const list = [...rules.filter(({ name }) => name !== ''), ...last];
    if (!isSlow || boundTime === undefined) return findValues(text, list, nameOf);
    let findings: Finding[] = [];
    boundTime(
      () => {
        findings = findValues(text, list, nameOf);
        return '';
      },
      text.length,
      () => '',
    );
    return findings;
  }

  /** Counts what `work` masks, unless it throws or returns false: then it is done in another way. */
  counted<T>(work: () => T): T {
    const { result, counts } = this.#quietly(work);
    if (result !== false) for (const [rule, number] of counts) this.count(rule, number);
    return result;
  }

  /** Whether `mask` would leave a value as it is. Nothing is counted. */
  leaves<T>(value: T, mask: (value: T) => unknown): boolean {
    const { result, counts } = this.#quietly(() => mask(value));
    return result === value && counts.length === 0;
  }

  /** Whether rules find nothing in a text. Nothing is counted, told or noted. */
  isClean(text: string): boolean {
    const open = this.#openKey;
    try {
      return this.leaves(text, () => this.mask(text, () => {}));
    } finally {
      this.#openKey = open;
    }
  }

  /** Does not count what `work` masks, but says it. */
  #quietly<T>(work: () => T): { result: T; counts: readonly (readonly [rule: string, count: number])[] } {
    const count = this.#count;
    const counts: [rule: string, count: number][] = [];
    this.#count = (rule, number) => void counts.push([rule, number]);
    try {
      return { result: work(), counts };
    } finally {
      this.#count = count;
    }
  }

  /** What replaces a value, written as the text around it. */
  #replace(value: string, id: string): string {
    const { replace } = this.#options;
    return this.#isEscaped ? escaped(replace(unescaped(value) ?? value, id)) : replace(value, id);
  }

  /** @param encodings those that the text may have tokens of; all by default */
  maskEncoded(text: string, encodings?: readonly Encoding[]): string {
    const mask = (token: string, decoded: string, left: DecodeLayers) => {
      const key = `${left.json} ${left.percent} ${left.base64} ${decoded}`;
      if (this.#harmless.has(key)) return undefined;
      const open = this.takeOpenKey();
      const rule = this.#ruleFor(decoded, left);
      if (rule === undefined && this.#openKey === undefined && key.length <= LONGEST_KNOWN) {
        if (this.#harmless.size >= MOST_KNOWN) this.#harmless.clear();
        this.#harmless.add(key);
      }
      this.#openKey ??= open;
      if (rule === undefined || !this.#isMaskable(token, true)) return undefined;
      this.count(rule, 1);
      return this.#options.replace(token, rule);
    };
    return replaceEncoded(text, this.#options.decode, mask, encodings);
  }

  /** The first rule that masks something in a text, or in what is encoded in it. */
  #ruleFor(text: string, layers: DecodeLayers): string | undefined {
    let first: string | undefined = this.#quietly(() => this.rules.mask(text)).counts[0]?.[0];
    if (first !== undefined) return first;
    replaceEncoded(text, layers, (_, decoded, left) => {
      first ??= this.#ruleFor(decoded, left);
      return undefined;
    });
    return first;
  }
}

const NUL = '\0';
/** Escapes, white space around strings, numbers that are written in another way, and bytes as JSON shows them. */
const NEEDS_FIELDS = /\\|"(?:\s|:\s|0":|Buffer")|\s"|[:,[]\s*-?\d+(?:\.\d+)?e/i;
/** Deeper values are replaced as a whole. */
const MOST_LEVELS = 900;
/** So many decoded tokens are known at most, of so many characters. */
const MOST_KNOWN = 4096;
const LONGEST_KNOWN = 200;
const encoder = /* @__PURE__ */ new TextEncoder();
const asBytes = (text: string) => encoder.encode(text);

/** A text as it stands in a string of JSON. */
export const escaped = (text: string): string => JSON.stringify(text).slice(1, -1);

/** The text that a string of JSON stands for; undefined if it is none. */
export function unescaped(text: string): string | undefined {
  try {
    return JSON.parse(`"${text}"`) as string;
  } catch {
    return undefined;
  }
}
