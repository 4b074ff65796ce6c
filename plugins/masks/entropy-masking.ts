import { entropyMasks } from '../../operators/internal-masks.ts';
import { masking } from './masking.ts';

/** The configuration, as far as the mask needs it. */
export interface EntropyMaskSettings {
  readonly mask_str: string;
  readonly mask_char?: string | undefined;
  readonly mask_prefix: string;
  readonly mask_suffix: string;
  readonly h_threshold: number;
  readonly length_threshold: number;
  readonly delimeter: string;
  readonly alphabet: string;
}

/** What `entropy_mask` does, without its schema: all that a worker loads. */
export const entropyMasking = masking<EntropyMaskSettings>({
  compile: (config, onMask) =>
    entropyMasks({
      mask_str: config.mask_str,
      mask_char: config.mask_char,
      mask_prefix: config.mask_prefix,
      mask_suffix: config.mask_suffix,
      h_threshold: config.h_threshold,
      length_threshold: config.length_threshold,
      delimeter: config.delimeter,
      alphabet: config.alphabet,
      onMask,
    }),
});
