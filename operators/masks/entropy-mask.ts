import { map, type OperatorFunction } from 'rxjs';
import {
  type Check,
  type Checks,
  checkOptions,
  FUNCTION,
  NOT_EMPTY,
  ONE_CHARACTER,
  TEXT,
  UNIT,
} from '../support/check-options.ts';
import { applyRule } from './apply-rule.ts';
import { DEFAULT_ALPHABET, EntropyMeter } from './entropy-index.ts';
import { JsonKeeper } from './json-lines.ts';
import { LONGEST_TEXT, type Masks } from './lines-masker.ts';
import { type Masker, maskerOf } from './mask-strings.ts';
import type { Masked } from './masked.ts';
import { REPLACEMENT_CHECKS, Replacement, type ReplacementOptions } from './replacement.ts';
import { type Finder, matchesOf } from './search/finder.ts';

export { entropyIndex } from './entropy-index.ts';

export interface EntropyMaskOptions extends ReplacementOptions {
  /** The name between prefix and suffix that replaces a token. `HIGH-ENTROPY` by default. */
  readonly mask_str?: string | undefined;
  /** The lowest index of tokens that are masked, in [0, 1]. 0.9 by default. */
  readonly h_threshold?: number | undefined;
  /** The lowest length of tokens that are masked, in characters (code points), at least 2. 16 by default. */
  readonly length_threshold?: number | undefined;
  /** The character that separates tokens. A space by default. */
  readonly delimeter?: string | undefined;
  /** The same as `mask_str`, which takes precedence. */
  readonly maskStr?: string | undefined;
  /** The same as `h_threshold`, which takes precedence. */
  readonly hThreshold?: number | undefined;
  /** The same as `length_threshold`, which takes precedence. */
  readonly lengthThreshold?: number | undefined;
  /** The same as `delimeter`, which takes precedence. */
  readonly delimiter?: string | undefined;
  /** The alphabet of the index. Letters, digits, `+`, `/` and `=` by default. */
  readonly alphabet?: string | undefined;
  /** Called after a string in which `count` tokens were masked, at least one. `rule` is `mask_str`. */
  readonly onMask?: ((rule: string, count: number) => void) | undefined;
}

const LENGTH: Check = (value) =>
  (Number.isInteger(value) && (value as number) > 1) || 'an integer of at least 2';
const CHECKS: Checks<Omit<EntropyMaskOptions, keyof ReplacementOptions>> = {
  mask_str: TEXT,
  h_threshold: UNIT,
  length_threshold: LENGTH,
  delimeter: ONE_CHARACTER,
  maskStr: TEXT,
  hThreshold: UNIT,
  lengthThreshold: LENGTH,
  delimiter: ONE_CHARACTER,
  alphabet: NOT_EMPTY,
  onMask: FUNCTION,
};

/**
 * Returns a mask that replaces tokens that look random: at least `length_threshold` characters, and an
 * {@link entropyIndex} of at least `h_threshold`. It replaces only the token; delimiters do not change.
 * It takes a string, or an event, of which it masks all strings: see `maskEvent`.
 *
 * @throws TypeError for an option that is unknown or of the wrong type, or a string of the wrong length.
 * @throws RangeError for a number out of its bounds, naming the option.
 *
 * @example
 * const mask = entropyMasker({ h_threshold: 0.8 });
 * mask('key qGr4Kd0xT9bLw2Zp5v ok'); // 'key <:HIGH-ENTROPY:> ok'
 */
export function entropyMasker(options: EntropyMaskOptions = {}): Masker {
  return entropyMasks(options).mask;
}

/** {@link entropyMasker}, and the same for many lines. */
export function entropyMasks(options: EntropyMaskOptions = {}): Masks {
  checkOptions('entropyMasker', options, { ...CHECKS, ...REPLACEMENT_CHECKS });
  const {
    mask_str = options.maskStr ?? 'HIGH-ENTROPY',
    h_threshold = options.hThreshold ?? 0.9,
    length_threshold = options.lengthThreshold ?? 16,
    delimeter = options.delimiter ?? ' ',
    alphabet = DEFAULT_ALPHABET,
    onMask,
  } = options;
  const meter = new EntropyMeter(alphabet);
  const replacement = new Replacement(mask_str, options);
  const rule = {
    accepts: (value: string) => meter.index(value, 0, value.length, length_threshold) >= h_threshold,
    replace: (value: string) => replacement.of(value, 0, value.length),
  };
  const isCandidate: IsCandidate = (text, start, end) =>
    end - start >= length_threshold && meter.canReach(h_threshold, text, start, end);
  const tokens = new TokenFinder(delimeter, isCandidate, false);
  const tokensOfLines = new TokenFinder(delimeter, isCandidate, true);
  const keeper = new JsonKeeper({
    marks: [{ text: replacement.mark, crosses: true }],
    rules: [
      {
        find: (text) =>
          matchesOf(tokens, text).filter(({ start, end }) => rule.accepts(text.slice(start, end))),
        replace: rule.replace,
      },
    ],
  });
  const maskTokens = (text: string, areLines: boolean): string => {
    if (text.length < length_threshold) return text;
    let count = 0;
    const masked = applyRule(text, rule, areLines ? tokensOfLines : tokens, { replaced: () => count++ });
    if (count === 0) return text;
    onMask?.(mask_str, count);
    return areLines ? keeper.keepLines(text, masked) : keeper.keep(text, masked);
  };
  return {
    mask: maskerOf((text) => maskTokens(text, false)),
    many: () =>
      replacement.staysInLine
        ? { map: (lines) => maskTokens(lines, true), maxLength: LONGEST_TEXT, maxLineLength: LONGEST_TEXT }
        : undefined,
  };
}

type IsCandidate = (text: string, start: number, end: number) => boolean;

/** Finds the tokens that may be random, of each line if there are several. */
class TokenFinder implements Finder {
  end = 0;
  readonly #delimiter: string;
  readonly #isCandidate: IsCandidate;
  readonly #areLines: boolean;
  #delimiterAt = -1;
  #lineEnd = -1;

  constructor(delimiter: string, isCandidate: IsCandidate, areLines: boolean) {
    this.#delimiter = delimiter;
    this.#isCandidate = isCandidate;
    this.#areLines = areLines;
  }

  next(text: string, from: number): number {
    if (from === 0) {
      this.#delimiterAt = -1;
      this.#lineEnd = this.#areLines ? -1 : text.length;
    }
    for (
      let start = from === 0 ? 0 : this.#behind(from);
      start <= text.length;
      start = this.#behind(this.end)
    ) {
      if (this.#delimiterAt < start) this.#delimiterAt = indexOrEnd(text, this.#delimiter, start);
      if (this.#lineEnd < start) this.#lineEnd = indexOrEnd(text, '\n', start);
      this.end = Math.min(this.#delimiterAt, this.#lineEnd);
      if (this.#isCandidate(text, start, this.end)) return start;
    }
    return -1;
  }

  /** Where the token starts that follows the one with this end. */
  #behind(end: number): number {
    return end + (end === this.#lineEnd ? 1 : this.#delimiter.length);
  }
}

function indexOrEnd(text: string, part: string, from: number): number {
  const at = text.indexOf(part, from);
  return at === -1 ? text.length : at;
}

/**
 * {@link entropyMasker} as an operator: takes strings or events, and emits the masked values ({@link Masked}). A value
 * that cannot be masked causes an error notification.
 *
 * Use it instead of `regexMask` when secrets have no known format, and after it when some have.
 *
 * @example
 * of('key qGr4Kd0xT9bLw2Zp5v ok').pipe(entropyMask({ h_threshold: 0.8 })); // 'key <:HIGH-ENTROPY:> ok'
 */
export function entropyMask<T extends string | object>(
  options: EntropyMaskOptions = {},
): OperatorFunction<T, Masked<T>> {
  const mask = entropyMasker(options);
  return map((value: T) => mask(value));
}
