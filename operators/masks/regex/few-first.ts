import type { MaskText } from '../mask-strings.ts';

const FEW_TEXTS = 10;
/** What an engine does in less than half a second. */
const FEW_STEPS = 2e7;

export interface Few {
  /** By the engine's own searches. */
  readonly mask: MaskText;
  /** How many of its steps a text can take at worst. */
  readonly steps: (text: string) => number;
  readonly planned: () => MaskText;
}

/** Leaves the first texts to the engine's own searches: the first event need not wait until better ones are planned. */
export function fewFirst({ mask, steps, planned }: Few): MaskText {
  let left = FEW_TEXTS;
  let maskOthers: MaskText | undefined;
  return (text) => {
    if (left > 0) {
      left--;
      if (steps(text) <= FEW_STEPS) return mask(text);
    }
    maskOthers ??= planned();
    return maskOthers(text);
  };
}
