import type { Masks } from '../lines-masker.ts';
import { maskerOf } from '../mask-event.ts';
import { CompiledRules, type RegexMaskOptions } from './compiled-rules.ts';
import { plannedLinesMask, plannedMask } from './planned-mask.ts';

/** `regexMasker` with its planned search from the start, and the same for many lines, if it can be said for them. */
export function regexMasks(options: RegexMaskOptions): Masks {
  const rules = new CompiledRules(options);
  return { mask: maskerOf(plannedMask(rules)), many: () => plannedLinesMask(rules) };
}
