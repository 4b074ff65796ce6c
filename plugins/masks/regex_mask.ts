import { compileMaskRules } from '../../operators/masks/compile-mask-rules.ts';
import { maskerOf } from '../../operators/masks/mask-strings.ts';
import { regexMaskRules } from '../../operators/masks/regex-mask-rules.ts';
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
  compile: ({ rules, mask_char, mask_prefix, mask_suffix }, onMask) => {
    const compiled = regexMaskRules({ rules, mask_char, mask_prefix, mask_suffix });
    const { mask, many } = compileMaskRules(compiled, { boundTime: boundedTime(), onMask });
    return { mask: maskerOf(mask), many: () => (mask_char === '\n' ? undefined : many()) };
  },
});
