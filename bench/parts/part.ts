/** A part of the bench: one question, with its measurements. */
export interface Part {
  /** As in `--only`. */
  readonly name: string;
  readonly title: string;
  run(context: PartContext): Promise<PartResult>;
}

export interface PartContext {
  readonly quick: boolean;
  /** Says what is being measured, while it is. */
  readonly progress: (what: string) => void;
}

export interface PartResult {
  readonly tables: readonly Table[];
  readonly targets: readonly Target[];
  readonly notes: readonly string[];
  readonly chart?: Chart;
}

export interface Table {
  /** What is right of the first column, which is text always. */
  readonly cells: 'figures' | 'text';
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** What is to be reached, and whether it is. */
export interface Target {
  readonly what: string;
  readonly wanted: string;
  readonly measured: string;
  readonly isMet: boolean;
}

/** Bars from 0, the longest first. */
export interface Chart {
  readonly title: string;
  readonly unit: string;
  readonly bars: readonly Bar[];
}

export interface Bar {
  readonly name: string;
  readonly value: number;
  readonly label: string;
  /** millrace's own, text-only peers, and all others. */
  readonly kind: 'own' | 'text' | 'other';
}

type Format = (value: number) => string;

/** A target that is met by `least` or more. */
export function atLeast(what: string, value: number, least: number, format: Format): Target {
  return { what, wanted: `≥ ${format(least)}`, measured: format(value), isMet: value >= least };
}

/** A target that is met by `most` or less. */
export function atMost(what: string, value: number, most: number, format: Format): Target {
  return { what, wanted: `≤ ${format(most)}`, measured: format(value), isMet: value <= most };
}

/** A target that could not be measured: not met, and why. */
export function notMeasured(what: string, wanted: string, why: string): Target {
  return { what, wanted, measured: why, isMet: false };
}
