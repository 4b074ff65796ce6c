import type { Observable } from 'rxjs';
import type { CollectedEvent } from './events.ts';

/** How far one file of an output goes: JSON. */
export type OutputMark = {
  /** What names the file, whatever its path. */
  readonly id: string;
  readonly path: string;
  /** Bytes. */
  readonly length: number;
  /** A digest of its first bytes. */
  readonly head: string;
};

/** An output that can be cut back to what was committed, so that a pipeline can deliver exactly once. */
export interface ExactOutput {
  /**
   * Cuts off what lies past these marks. Errors, permanently if it can never be done. Before anything is written. With
   * `lost` sources, whose events cannot come again, what is cut off is first copied to a file that the log names.
   */
  restore(marks: readonly OutputMark[], lost: readonly string[]): Observable<never>;
  /** Writes all events or none, in order, and emits the marks after each of them, once. */
  write(events: readonly CollectedEvent[]): Observable<readonly OutputMark[]>;
  /** Forces what was written to the disk. */
  sync(): Observable<never>;
  /** Called after each commit, with the mark of the last event in it: nothing before that is cut off any more. */
  committed?(mark: OutputMark): void;
}

/** What an {@link ExactOutput} tells its pipeline. */
export interface ExactOutputEvents {
  /** To be called ahead of each write, with the mark of where it goes, and waited for. */
  begun(mark: OutputMark): Observable<never>;
  /** To be called with a file that was removed, and how long it was: what it held may be lost. */
  removed(file: Pick<OutputMark, 'id' | 'length'>): void;
}
