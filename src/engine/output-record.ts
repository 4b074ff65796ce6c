import type { CollectorState, OutputMark } from '../sdk/models.ts';

/** Where a pipeline keeps its output's record, beside what its collectors remember. */
const RECORD = { scope: 'exactly_once', key: 'output' } as const;

/** What is committed of an output. */
export interface OutputRecord {
  /** The file that what is committed ends in, then those that were begun since. */
  readonly marks: readonly OutputMark[];
  /** Nothing that was written is past the marks. What is there now is somebody else's, and the files may be gone. */
  readonly isComplete: boolean;
}

type States = (scope: string) => CollectorState;

/** Undefined if there is none: the pipeline has never delivered exactly once, or not since it last did otherwise. */
export function readRecord(states: States): OutputRecord | undefined {
  const found = states(RECORD.scope).get(RECORD.key) as { marks?: unknown; isComplete?: unknown } | undefined;
  if (!Array.isArray(found?.marks)) return undefined;
  return { marks: found.marks as OutputMark[], isComplete: found.isComplete === true };
}

/** Commits a record, and all that was set before; false if that cannot be now. */
export function keepRecord(states: States, { marks, isComplete }: OutputRecord): boolean {
  const state = states(RECORD.scope);
  state.set(RECORD.key, { marks, isComplete });
  state.commit();
  return !state.isPending;
}

export function forgetRecord(states: States): void {
  states(RECORD.scope).delete(RECORD.key);
}
