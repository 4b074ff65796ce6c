import { compileMaskRules, type MaskRules, type MaskRulesOptions } from '../compile-mask-rules.ts';
import type { LinesMasker } from '../lines-masker.ts';
import { type Masker, maskFieldsOf } from '../mask-event.ts';
import type { MaskRule } from '../mask-rule.ts';
import type { MaskFields } from '../mask-strings.ts';
import type { Masked } from '../masked.ts';
import { type BlockLimits, BlockTracker, blockRules } from './block-tracker.ts';
import {
  compileRedactRules,
  type EntropyRuleOptions,
  plainKey,
  type ReplaceValue,
  valueFilter,
} from './compile-redact-rules.ts';
import { DECODERS, type DecodeLayers, mayHaveEncoded, replaceEncoded, withoutLayer } from './decode.ts';
import { type Finding, findValues } from './find-values.ts';
import type { Confidence, RedactRule } from './redact-rule.ts';
import { isSecretKey } from './secret-keys.ts';

export interface RedactorOptions {
  /** Rules by their ids: `pack:rule`, or a name. */
  readonly rules: Readonly<Record<string, string | RedactRule>>;
  readonly confidence: Confidence;
  readonly allowedValues: readonly string[];
  /** Keys in any style of writing, whose values no rule masks. */
  readonly allowedKeys: readonly string[];
  /** The rule id of fields whose key says that their value is a secret. Undefined: keys are not looked at. */
  readonly secretFields: string | undefined;
  readonly decode: DecodeLayers;
  readonly entropy?: EntropyRuleOptions | false | undefined;
  /** Follows blocks through the lines of a source. `now` is in milliseconds. */
  readonly blocks?: (BlockLimits & { readonly now: () => number }) | undefined;
  readonly replace: ReplaceValue;
  readonly onMask?: ((rule: string, count: number) => void) | undefined;
  /** Told of each value that is masked, with its place in its string. Masking is slower with it. */
  readonly onFind?: ((finding: Finding) => void) | undefined;
  readonly boundTime?: MaskRulesOptions['boundTime'];
}

/** Lines of a block, or the first of a source: they are masked one by one. */
class NotOrdinary extends Error {}

/** Masks strings, events and lines by redaction rules. */
export class Redactor {
  readonly #rules: MaskRules;
  readonly #list: readonly MaskRule[];
  readonly #options: RedactorOptions;
  readonly #isMaskable: (value: string, isSecret: boolean) => boolean;
  readonly #allowedKeys: ReadonlySet<string>;
  readonly #tracker: BlockTracker | undefined;
  readonly #fields: MaskFields;
  readonly #decodes: boolean;
  /** Where counts go now. */
  #count: (rule: string, count: number) => void;

  /** @throws as `compileRedactRules` does */
  constructor(options: RedactorOptions) {
    const { rules, blocks, decode, boundTime, onMask = () => {} } = options;
    this.#options = options;
    this.#count = onMask;
    this.#list = compileRedactRules(rules, options);
    this.#rules = compileMaskRules(this.#list, {
      onMask: (rule, count) => this.#count(rule, count),
      boundTime,
    });
    this.#isMaskable = valueFilter(options.allowedValues);
    this.#allowedKeys = new Set(options.allowedKeys.map(plainKey));
    this.#tracker = blocks && new BlockTracker(blockRules(rules), blocks, blocks.now);
    this.#decodes = decode.json + decode.percent + decode.base64 > 0;
    this.#fields = {
      text: (text, key) => this.#field(text, key) ?? this.maskText(text),
      number: (value, key) => this.#field(String(value), key, value) ?? value,
    };
  }

  /** A string or an event, with every string in it masked. */
  readonly mask: Masker = ((value: string | object) =>
    typeof value === 'object' && value !== null ? this.maskEvent(value) : this.maskText(value)) as Masker;

  /** @throws MaskError for what cannot be masked */
  maskEvent<T extends object>(event: T): Masked<T> {
    return maskFieldsOf(event, this.#fields);
  }

  maskText(text: string): string {
    return this.#maskText(text, 0);
  }

  /** The next line of a source, which may be in a block. */
  maskLine(source: string, line: string): string {
    return this.maskBlockLine(source, line) ?? this.maskText(line);
  }

  /** {@link maskLine} for lines of blocks; undefined for other lines. */
  maskBlockLine(source: string, line: string): string | undefined {
    const found = this.#tracker?.next(source, line);
    if (found === undefined) return undefined;
    const { id, before, block, after } = found;
    const start = before.length;
    const end = start + block.length;
    this.#count(id, 1);
    const masked = before === '' ? '' : this.#maskText(before, 0);
    this.#options.onFind?.({ rule: id, start, end });
    return masked + this.#options.replace(block, id) + (after === '' ? '' : this.#maskText(after, end));
  }

  /** {@link maskLine} for many lines of a source at a time. It throws for lines that have to be masked one by one. */
  many(source: string): LinesMasker | undefined {
    const many = this.#rules.many();
    if (many === undefined) return undefined;
    const { map, mapBytes, maxLength, maxLineLength } = many;
    const tracker = this.#tracker;
    const { onFind } = this.#options;
    return {
      maxLength,
      maxLineLength,
      map: (lines) => {
        if (tracker?.areOrdinary(source, lines) === false) throw new NotOrdinary();
        return this.#counted(() => {
          const masked = map(lines);
          const result = this.#decodes ? this.#maskEncoded(masked) : masked;
          if (onFind !== undefined && result !== lines) throw new NotOrdinary();
          return result;
        });
      },
      mapBytes:
        onFind !== undefined || mapBytes === undefined
          ? undefined
          : (lines, into) => {
              if (tracker?.areOrdinary(source, lines) === false) return -1;
              let written = -1;
              this.#counted(() => {
                written = mapBytes(lines, into);
                if (written === -1 || !this.#decodes) return written !== -1;
                const bytes = into.subarray(0, written);
                if (!mayHaveEncoded(bytes, this.#options.decode)) return true;
                const masked = asText(bytes);
                const decoded = this.#maskEncoded(masked);
                if (decoded !== masked) written = writeAscii(decoded, into);
                return written !== -1;
              });
              return written;
            },
    };
  }

  /** @param offset of the text in the string that findings refer to */
  #maskText(text: string, offset: number): string {
    const masked = this.#rules.mask(text);
    const result = this.#decodes ? this.#maskEncoded(masked) : masked;
    const { onFind } = this.#options;
    if (onFind !== undefined && result !== text) {
      for (const { rule, start, end } of this.#find(text)) {
        onFind({ rule, start: start + offset, end: end + offset });
      }
    }
    return result;
  }

  /** Encoded tokens are found as by rules that come last. */
  #find(text: string): Finding[] {
    const { decode: layers, replace } = this.#options;
    let found = '';
    const decoding = DECODERS.filter(({ layer }) => layers[layer] > 0).map(
      ({ layer, expression, group, decode }): MaskRule => ({
        name: '',
        expression: new RegExp(expression.source),
        groups: [group],
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
    return findValues(text, [...this.#list, ...decoding], ({ name }) => (name === '' ? found : name));
  }

  /** Counts what `work` masks, unless it throws or returns false: then it is done in another way. */
  #counted<T>(work: () => T): T {
    const count = this.#count;
    const counts: [rule: string, count: number][] = [];
    this.#count = (rule, number) => void counts.push([rule, number]);
    try {
      const result = work();
      if (result !== false) for (const [rule, number] of counts) count(rule, number);
      return result;
    } finally {
      this.#count = count;
    }
  }

  /** The value of a field, if its key decides; undefined if its value does. */
  #field<T>(text: string, key: string | undefined, value: T | string = text): T | string | undefined {
    if (key === undefined) return undefined;
    if (this.#allowedKeys.size > 0 && this.#allowedKeys.has(plainKey(key))) return value;
    const { secretFields, replace } = this.#options;
    if (secretFields === undefined || text === '' || !isSecretKey(key)) return undefined;
    if (!this.#isMaskable(text, true)) return undefined;
    this.#count(secretFields, 1);
    this.#options.onFind?.({ rule: secretFields, start: 0, end: text.length });
    return replace(text, secretFields);
  }

  #maskEncoded(text: string): string {
    return replaceEncoded(text, this.#options.decode, (token, decoded, left) => {
      const rule = this.#ruleFor(decoded, left);
      if (rule === undefined || !this.#isMaskable(token, true)) return undefined;
      this.#count(rule, 1);
      return this.#options.replace(token, rule);
    });
  }

  /** The first rule that masks something in a text, or in what is encoded in it. */
  #ruleFor(text: string, layers: DecodeLayers): string | undefined {
    let first: string | undefined;
    const count = this.#count;
    this.#count = (rule) => {
      first ??= rule;
    };
    try {
      this.#rules.mask(text);
    } finally {
      this.#count = count;
    }
    if (first !== undefined) return first;
    replaceEncoded(text, layers, (_, decoded, left) => {
      first ??= this.#ruleFor(decoded, left);
      return undefined;
    });
    return first;
  }
}

const decoder = /* @__PURE__ */ new TextDecoder();
const encoder = /* @__PURE__ */ new TextEncoder();
const asText = (bytes: Uint8Array): string => decoder.decode(bytes);

/** -1 without room. */
function writeAscii(text: string, into: Uint8Array): number {
  if (text.length > into.length) return -1;
  return encoder.encodeInto(text, into).written;
}
