import { type Checks, ONE_CHARACTER, TEXT } from '../support/check-options.ts';

/** What stands in place of masked text. */
export interface ReplacementOptions {
  /** A character that replaces each character (code point) of the match, without prefix and suffix. */
  readonly mask_char?: string | undefined;
  /** The string before the name. `<:` by default; may be empty. */
  readonly mask_prefix?: string | undefined;
  /** The string after the name. `:>` by default; may be empty. */
  readonly mask_suffix?: string | undefined;
  /** The same as `mask_char`, which takes precedence. */
  readonly maskChar?: string | undefined;
  /** The same as `mask_prefix`, which takes precedence. */
  readonly maskPrefix?: string | undefined;
  /** The same as `mask_suffix`, which takes precedence. */
  readonly maskSuffix?: string | undefined;
}

export const REPLACEMENT_CHECKS: Checks<ReplacementOptions> = {
  mask_char: ONE_CHARACTER,
  mask_prefix: TEXT,
  mask_suffix: TEXT,
  maskChar: ONE_CHARACTER,
  maskPrefix: TEXT,
  maskSuffix: TEXT,
};

/** The text that replaces a masked one: fixed, or made to its length. */
export class Replacement {
  readonly #fixed: string;
  readonly #character: string | undefined;

  constructor(name: string, options: ReplacementOptions) {
    const {
      mask_char = options.maskChar,
      mask_prefix = options.maskPrefix ?? '<:',
      mask_suffix = options.maskSuffix ?? ':>',
    } = options;
    this.#character = mask_char;
    this.#fixed = mask_prefix + name + mask_suffix;
  }

  /** Whether it has no LF. */
  get staysInLine(): boolean {
    return !(this.#character ?? this.#fixed).includes('\n');
  }

  /** The text itself, if it is fixed. */
  get fixed(): string | undefined {
    return this.#character === undefined ? this.#fixed : undefined;
  }

  /** What every replacement starts with. */
  get mark(): string {
    return this.#character ?? this.#fixed;
  }

  /** The replacement of the part of `text` between two positions. */
  of(text: string, start: number, end: number): string {
    return this.#character === undefined
      ? this.#fixed
      : this.#character.repeat(codePoints(text.slice(start, end)));
  }
}

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}
