import { regexMasks } from '../../operators/masks/regex/regex-masks.ts';
import { boundedTime } from '../bounded-time.ts';
import { masking } from './masking.ts';

/** The configuration, as far as the mask needs it. */
export interface RegexMaskSettings {
  readonly rules: Readonly<Record<string, string>>;
  readonly mask_char?: string | undefined;
  readonly mask_prefix: string;
  readonly mask_suffix: string;
}

/** What `regex_mask` does, without its schema: all that a worker loads. */
export const regexMasking = masking<RegexMaskSettings>({
  compile: ({ rules, mask_char, mask_prefix, mask_suffix }, onMask) =>
    regexMasks({ rules, mask_char, mask_prefix, mask_suffix, boundTime: boundedTime(), onMask }),
});
