import type { PipelineObserver } from '../engine/observer.ts';
import type { Recorder } from '../testing/record/recorder.ts';

/** What a recorder watches. */
type Watched = keyof PipelineObserver & keyof Recorder;

/** The type checker accepts this only if it names all that a recorder watches. */
const WATCHED = {
  started: true,
  collected: true,
  admitted: true,
  refused: true,
  completed: true,
  failed: true,
  acknowledged: true,
  committing: true,
  called: true,
  retried: true,
} satisfies Record<Watched, true>;

/** Lets a recorder watch a pipeline that runs, for some time. */
export class SwitchableObserver {
  target: Pick<PipelineObserver, Watched> | undefined;
  /** What the pipeline has from its start. */
  readonly observer: PipelineObserver = Object.fromEntries(
    Object.keys(WATCHED).map((method) => [
      method,
      (...args: unknown[]) => {
        const { target } = this;
        return target && Reflect.apply(target[method as Watched] as () => unknown, target, args);
      },
    ]),
  );
}
