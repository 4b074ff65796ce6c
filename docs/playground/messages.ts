/** What the page asks of the worker. */
export interface Request {
  readonly id: number;
  /** A configuration with tests. */
  readonly text: string;
  /** The test to draw; the first one if there is none of that name. */
  readonly selected: string | undefined;
  /** The number of the instant up to which the run is drawn. Default: the last one. */
  readonly instant?: number | undefined;
}

/** What is wrong with the configuration. */
export interface ShownProblem {
  readonly line: number;
  readonly column: number;
  readonly message: string;
  /** More of it, on several lines. */
  readonly details?: string | undefined;
}

export interface ShownTest {
  readonly name: string;
  readonly line: number;
  readonly isPassed: boolean;
  readonly time: string;
}

/** What the run was like at the end of an instant, in words. */
export interface ShownStep {
  readonly at: string;
  readonly facts: readonly (readonly [name: string, value: string])[];
  /** What happened at that instant. */
  readonly happened: readonly string[];
}

export interface ShownRun {
  readonly name: string;
  readonly findings: readonly ShownProblem[];
  readonly svg: string;
  /** The drawing as text, for those who cannot see it. */
  readonly description: string;
  readonly steps: readonly ShownStep[];
  /** Whether there are more instants than steps. */
  readonly isCut: boolean;
}

export interface Reply {
  readonly id: number;
  readonly problems: readonly ShownProblem[];
  readonly tests: readonly ShownTest[];
  readonly run: ShownRun | undefined;
}
