import type { PipelineProbe } from '../engine/probe.ts';
import type { Recorder } from '../testing/record/recorder.ts';

/** What a recorder watches. */
type Watched = keyof PipelineProbe & keyof Recorder;

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
export class SwitchableProbe {
  target: Pick<PipelineProbe, Watched> | undefined;
  /** What the pipeline has from its start. */
  readonly probe: PipelineProbe = Object.fromEntries(
    Object.keys(WATCHED).map((method) => [
      method,
      (...args: unknown[]) => {
        const { target } = this;
        return target && Reflect.apply(target[method as Watched] as () => unknown, target, args);
      },
    ]),
  );
}
