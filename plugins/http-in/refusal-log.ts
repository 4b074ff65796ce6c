import { isNoteworthy } from '../../operators/internal.ts';
import type { PipelineRunContext } from '../../src/sdk/index.ts';
import type { Refusal } from './refusal.ts';

type Context = PipelineRunContext<{ readonly name: string }>;

/** Counts refused requests, and logs them ever more rarely: a client with a wrong token repeats it for ever. */
export class RefusalLog {
  readonly #ctx: Context;
  readonly #refused;
  readonly #counts = new Map<number, number>();

  constructor(ctx: Context) {
    this.#ctx = ctx;
    this.#refused = ctx.metrics.counter({
      name: 'requests_refused_total',
      help: 'Requests that were refused, by the status of the answer.',
      labels: ['status'],
    });
  }

  /** @param status of the answer, which in some protocols is another one than that of the refusal. */
  add({ message }: Refusal, status: number): void {
    this.#refused.inc(1, { status: String(status) });
    const count = (this.#counts.get(status) ?? 0) + 1;
    this.#counts.set(status, count);
    if (!isNoteworthy(count)) return;
    const { logger, pipeline, config } = this.#ctx;
    logger.warn(
      `${pipeline}: collector ${config.name} refused a request with ${status}: ${message} (requests with ${status} so far: ${count})`,
      { status },
    );
  }
}
