import type { LinesMasker } from './lines-masker.ts';
import type { MaskFields } from './mask-strings.ts';

/** The fields of an event, of what JSON has. They belong to the mask, which changes them in place. */
export type RowFields = Record<string, unknown>;

/**
 * What is known of the mask of a field before it is masked: the field is `kept` as it is, or its mask is that of a line.
 * Otherwise the whole event has to be masked by itself.
 */
export type Fate = 'kept' | 'line' | 'alone';

/** A mask as it sees the fields of many events. All else in an event stays as it is. */
export interface RowMask {
  /** Whether a row can be masked with others. */
  readonly takes?: ((row: RowFields) => boolean) | undefined;
  readonly text: (...args: Parameters<MaskFields['text']>) => Fate;
  /** Whether a number is kept. Default: all are. */
  readonly keepsNumber?: ((...args: Parameters<NonNullable<MaskFields['number']>>) => boolean) | undefined;
  /** Whether a key is kept. Default: all are. */
  readonly keepsKey?: ((key: string) => boolean) | undefined;
  readonly namesIn?: MaskFields['namesIn'];
  /**
   * Whether nothing is masked in the arrays of some rows because of what stands beside the arrays. False: each of the rows has to be masked by
   * itself, after its strings. Undefined: arrays are not looked at.
   */
  readonly leavesItems?: ((rows: readonly RowFields[]) => boolean) | undefined;
  readonly lines: LinesMasker;
}

/** A mask that sees no more than strings. */
export function maskOfTexts(lines: LinesMasker, isKept: (text: string) => boolean): RowMask {
  const { maxLineLength } = lines;
  return {
    text: (text) => {
      if (isKept(text)) return 'kept';
      return text.length <= maxLineLength && !text.includes('\n') ? 'line' : 'alone';
    },
    lines,
  };
}
