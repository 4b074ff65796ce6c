import type { Observable } from 'rxjs';

/**
 * How much more the consumer is ready to take: the back-pressure signal that RxJS lacks.
 * A source that can wait emits at most `room` values, then listens to `room$` before it emits more.
 */
export interface Demand {
  /** Values that may be emitted now; 0 means wait. */
  readonly room: number;
  /** The room, on subscription if there is any, and each time that it grows from then on. Never errors. */
  readonly room$: Observable<number>;
}
