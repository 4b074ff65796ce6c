import { entropyMasker, regexMasker } from '../../operators/index.ts';
import { entropyByHand, threeRulesByHand } from '../hand-loops.ts';
import { logLines, THREE_RULES } from '../log-generator.ts';
import { masksInTurn } from '../reference.ts';
import { THIRTY_RULES } from '../thirty-rules.ts';
import type { Subject } from './subject.ts';

/** Masks, each over the lines of the log as plain text. */
export const MASKS = {
  'three rules: regexMasker': maskingOf(() => regexMasker({ rules: THREE_RULES })),
  'three rules: tuned by hand': maskingOf(() => threeRulesByHand),
  'three rules: replace in turn': maskingOf(() => masksInTurn(THREE_RULES)),
  'thirty rules: regexMasker': maskingOf(() => regexMasker({ rules: THIRTY_RULES })),
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
