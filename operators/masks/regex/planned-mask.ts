import { type ByteMask, byteMasks } from '../bytes/byte-masks.ts';
import type { LinesMasker } from '../lines-masker.ts';
import type { MaskText } from '../mask-strings.ts';
import type { Replacement } from '../replacement.ts';
import { type MaskBytes, maskAtOnce, maskBytes, type Rule } from './apply-rules.ts';
import type { CompiledRules } from './compiled-rules.ts';
import { costOf } from './cost.ts';
import { fewFirst } from './few-first.ts';
import { plainSearch } from './finder.ts';
import { harmlessLength, harmlessLines, stepsOfLines, stepsOfText } from './harmless.ts';
import { type LinesPlan, planSearch, searchOfLines } from './plan.ts';

/** A mask for single texts, whose searches are planned when they are first needed. */
export function plannedMask(compiled: CompiledRules): MaskText {
  const { expressions, onMask, boundTime } = compiled;
  let rules: readonly Rule[] | undefined;
  const planned = () => {
    rules ??= compiled.searchedBy(expressions.map(planSearch));
    return rules;
  };
  const costs = expressions.map(costOf);
  const maskShort = fewFirst({
    mask: maskAtOnce(compiled.searchedBy(expressions.map(plainSearch)), onMask),
    steps: (text) => stepsOfText(costs, text),
    planned: () => maskAtOnce(planned(), onMask),
  });
  let maskLong: MaskText | undefined;
  const harmless = Math.min(...costs.map(harmlessLength));
  return (text) => {
    if (text.length <= harmless) return maskShort(text);
    maskLong ??= maskAtOnce(planned(), onMask, { within: boundTime });
    return maskLong(text);
  };
}

/** The same for many lines in one text; undefined if it cannot be said for them. */
export function plannedLinesMask(compiled: CompiledRules): LinesMasker | undefined {
  const { expressions, replacements, onMask } = compiled;
  const costs = expressions.map(costOf);
  const limits = harmlessLines(costs);
  const searches = expressions.map(searchOfLines);
  if (limits === undefined || !searches.every((search) => search !== undefined)) return undefined;
  if (!replacements.every(({ staysInLine }) => staysInLine)) return undefined;
  let mapBytes: MaskBytes | undefined;
  const map = fewFirst({
    mask: maskAtOnce(compiled.searchedBy(searches.map(({ plain }) => plain)), onMask),
    steps: (text) => stepsOfLines(costs, text),
    planned: () => {
      const plans = searches.map(({ planned }) => planned());
      const inText = maskAtOnce(compiled.searchedBy(plans), onMask);
      let inBytes: MaskText | undefined;
      return (text) => {
        if (text.length < SHORTEST_IN_BYTES) return inText(text);
        if (inBytes === undefined) {
          const rules = compiled.searchedBy(plans);
          const bytes = byteMasks(asBytes(plans, replacements));
          inBytes = maskAtOnce(rules, onMask, { bytes });
          mapBytes = bytes && maskBytes(rules, onMask, bytes);
        }
        return inBytes(text);
      };
    },
  });
  return {
    ...limits,
    map,
    get mapBytes() {
      return mapBytes;
    },
  };
}

/** Characters: who masks no longer texts need not wait for WebAssembly, which takes some milliseconds to begin. */
const SHORTEST_IN_BYTES = 8192;

/** The rules that can be had in bytes. */
function asBytes(
  plans: readonly LinesPlan[],
  replacements: readonly Replacement[],
): readonly (ByteMask | undefined)[] {
  return plans.map(({ bytes }, i) => {
    const { fixed } = replacements[i] as Replacement;
    return bytes && fixed !== undefined && isAscii(fixed) ? { replacement: fixed, ...bytes } : undefined;
  });
}

const isAscii = (text: string): boolean => !/[^\0-\x7f]/.test(text);
