import {
  compileMaskRules,
  HeldCounts,
  jsonKeeperOf,
  keepingJson,
  maskerOf,
  mayCrossStrings,
  regexMaskRules,
} from '../../operators/internal-masks.ts';
import { linearEngine } from '../time-limits/linear-time.ts';
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
  compile: ({ rules, mask_char, mask_prefix, mask_suffix }, onMask, limit) => {
    const options = { rules, mask_char, mask_prefix, mask_suffix, boundTime: limit.bound };
    const compiled = regexMaskRules(options);
    const counts = new HeldCounts(onMask);
    const masks = compileMaskRules(compiled, {
      boundTime: limit.bound,
      isLate: limit.isLate,
      linearEngine,
      onMask: counts.add,
    });
    const { mask, many } = keepingJson(masks, jsonKeeperOf(compiled, options, mayCrossStrings), counts);
    return { mask: maskerOf(mask), many: () => (mask_char === '\n' ? undefined : many()) };
  },
});
