import { counted, isNoteworthy } from '../../operators/internal.ts';
import type { PipelineRunContext } from '../../src/sdk/index.ts';
import type { Refusal } from './refusal.ts';

type Context = PipelineRunContext<{ readonly name: string }>;

/**
 * Counts refused requests, and records left out of others, and logs them ever more rarely: a client with a wrong token
 * repeats it for ever.
 */
export class RefusalLog {
  readonly #ctx: Context;
  readonly #refused;
  readonly #counts = new Map<number, number>();
  readonly #rejected;
  #rejectedRecords = 0;

  constructor(ctx: Context) {
    this.#ctx = ctx;
    this.#refused = ctx.metrics.counter({
      name: 'requests_refused_total',
      help: 'Requests that were refused, by the status of the answer.',
      labels: ['status'],
    });
    this.#rejected = ctx.metrics.counter({
      name: 'records_rejected_total',
      help: 'Malformed records that were left out of requests.',
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

  addRejected({ count, reason }: { readonly count: number; readonly reason: string }): void {
    this.#rejected.inc(count);
    this.#rejectedRecords += count;
    if (!isNoteworthy(this.#rejectedRecords, count)) return;
    const { logger, pipeline, config } = this.#ctx;
    logger.warn(
      `${pipeline}: collector ${config.name} left ${counted(count, 'malformed record')} out of a request: ${reason} (so far: ${this.#rejectedRecords})`,
    );
  }
}
