import { entropyMasker, loadPlannedSearch, regexMasker } from '../../operators/index.ts';
import { compileMaskRules } from '../../operators/masks/compile-mask-rules.ts';
import { regexMaskRules } from '../../operators/masks/regex-mask-rules.ts';
import { processLines } from '../../src/rows/process-lines.ts';
import { LineEvents } from '../../src/sdk/line-events.ts';
import type { LineMapping } from '../../src/sdk/plugin.ts';
import { entropyByHand, threeRulesByHand } from '../hand-loops.ts';
import { logLines, THREE_RULES } from '../log-generator.ts';
import { masksInTurn } from '../reference.ts';
import { THIRTY_RULES } from '../thirty-rules.ts';
import type { Subject } from './subject.ts';

// Otherwise the first texts would be masked without it.
await loadPlannedSearch();

/** Masks, each over the lines of the log as plain text. */
export const MASKS = {
  'three rules: regexMasker': maskingOf(() => regexMasker({ rules: THREE_RULES })),
  'three rules: many lines at once': linesMaskingOf(THREE_RULES),
  'three rules: tuned by hand': maskingOf(() => threeRulesByHand),
  'three rules: replace in turn': maskingOf(() => masksInTurn(THREE_RULES)),
  'thirty rules: regexMasker': maskingOf(() => regexMasker({ rules: THIRTY_RULES })),
  'thirty rules: many lines at once': linesMaskingOf(THIRTY_RULES),
  'thirty rules: replace in turn': maskingOf(() => masksInTurn(THIRTY_RULES)),
  'entropy: entropyMasker': maskingOf(() => entropyMasker()),
  'entropy: loop by hand': maskingOf(() => entropyByHand),
} as const satisfies Record<string, Subject>;

function maskingOf(maskBy: () => (line: string) => string): Subject {
  return {
    group: 'masks',
    prepare: (count) => {
      const mask = maskBy();
      const lines = [...logLines(count)];
      return () => {
        let length = 0;
        for (const line of lines) length += mask(line).length;
        return length;
      };
    },
  };
}

/** As `file` and `regex_mask` do it. */
function linesMaskingOf(rules: Readonly<Record<string, string>>): Subject {
  return {
    group: 'masks',
    prepare: (count) => {
      const { mapping, batch } = linesOf([...logLines(count)], rules);
      return () => processLines(batch, mapping, { failed: fail, dropped: () => {} }).size;
    },
  };
}

function linesOf(lines: readonly string[], rules: Readonly<Record<string, string>>) {
  const masks = compileMaskRules(regexMaskRules({ rules }));
  const mapping: LineMapping = { map: (line) => masks.mask(line), many: masks.many() };
  const envelope = { timestamp: '', source: '', backfill: true, isTruncated: false };
  return { mapping, batch: LineEvents.of(lines, envelope) };
}

function fail(_index: number, error: unknown): never {
  throw error;
}
