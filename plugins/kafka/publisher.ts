import type { Observable } from 'rxjs';
import { type CallId, type FailedEvent, type PipelineRunContext, PluginError } from '../../src/sdk/index.ts';
import { KafkaError } from './client.ts';
import type { EventRecords } from './outgoing-records.ts';
import { type Draft, type PublisherSettings, RecordBatches } from './record-batches.ts';
import type { OpenWriter, RecordWriter } from './record-writer.ts';
import { SharedAttempts } from './shared-attempts.ts';

/** The broker does not know the producer any more, or has another idea of what it has written. */
const LOST = /SEQUENCE|PRODUCER/;
/** Calls that failed and are kept, for each call that is made at a time. */
const KEPT_CALLS = 3;

/** What is left of a call. Another attempt sends the same batches by the same producer, so that none is stored twice. */
interface Call {
  drafts: readonly Draft[];
  readonly failed: FailedEvent[];
  writer: RecordWriter;
}

/** Stores the records of calls. Each call has a producer of its own, because a producer numbers its records. */
export class Publisher {
  readonly #ctx: PipelineRunContext<PublisherSettings>;
  readonly #open: OpenWriter;
  readonly #batches: RecordBatches;
  readonly #idle: RecordWriter[] = [];
  readonly #attempts = new SharedAttempts();
  /** Calls that failed, those that were tried last at the end. */
  readonly #unfinished = new Map<CallId, Call>();

  constructor(ctx: PipelineRunContext<PublisherSettings>, open: OpenWriter) {
    this.#ctx = ctx;
    this.#open = open;
    this.#batches = new RecordBatches(ctx);
    const close = () => {
      for (const { writer } of this.#unfinished.values()) writer.close();
      for (const writer of this.#idle) writer.close();
    };
    ctx.ended.addEventListener('abort', close, { once: true });
  }

  /** Completes when all records are stored. Errors if one is not; `failedEvents` names those that are to blame. */
  publish(id: CallId, recordsOf: () => EventRecords): Observable<never> {
    return this.#attempts.join(id, () => this.#attempt(id, recordsOf));
  }

  async #attempt(id: CallId, recordsOf: () => EventRecords): Promise<void> {
    const call = this.#unfinished.get(id) ?? (await this.#begin(recordsOf()));
    this.#unfinished.delete(id);
    try {
      for (let [next, ...rest] = call.drafts; next !== undefined; [next, ...rest] = call.drafts) {
        call.drafts = [...(await this.#write(next, call)), ...rest];
      }
    } catch (error) {
      if (error instanceof KafkaError && LOST.test(error.id ?? '')) await this.#renew(call);
      this.#unfinished.set(id, call);
      throw error;
    } finally {
      if (this.#ctx.ended.aborted) call.writer.close();
    }
    this.#idle.push(call.writer);
    throwFailed(call.failed);
  }

  async #begin({ records, failed }: EventRecords): Promise<Call> {
    const [stale] = this.#unfinished.keys();
    if (stale !== undefined && this.#unfinished.size >= KEPT_CALLS * this.#ctx.config.concurrency) {
      // The engine has given that call up, or divided it. It does not say so, and others may still be tried.
      this.#unfinished.get(stale)?.writer.close();
      this.#unfinished.delete(stale);
    }
    const writer = this.#idle.pop() ?? (await this.#open(this.#ctx.config));
    const call = { writer, failed: [...failed] };
    try {
      return { ...call, drafts: await this.#batches.draftsOf(records, writer, call.failed) };
    } catch (error) {
      this.#idle.push(writer);
      throw error;
    }
  }

  async #write(draft: Draft, call: Call): Promise<readonly Draft[]> {
    try {
      return await this.#batches.write(draft, call.writer, call.failed);
    } catch (error) {
      if (!(error instanceof KafkaError) || error.id !== 'DUPLICATE_SEQUENCE_NUMBER') throw error;
      // The broker has the batch. The client has not counted it, and would number the next one the same.
      await this.#renew(call);
      return [];
    }
  }

  async #renew(call: Call): Promise<void> {
    call.writer.close();
    call.writer = await this.#open(this.#ctx.config);
  }
}

/** @throws PluginError that names the events */
export function throwFailed(failedEvents: readonly FailedEvent[]): void {
  if (failedEvents.length === 0) return;
  const permanent = failedEvents.every((event) => event.permanent);
  throw new PluginError(failedEvents[0]?.reason ?? 'a record was refused', { failedEvents, permanent });
}
