import { randomUUID } from 'node:crypto';
import type { Observable } from 'rxjs';
import {
  type CallId,
  type PartlyFailedCall,
  type PipelineRunContext,
  PluginError,
} from '../../src/sdk/index.ts';
import type { EventRecords } from './outgoing-records.ts';
import { throwFailed } from './publisher.ts';
import { type Draft, type PublisherSettings, RecordBatches } from './record-batches.ts';
import { SharedAttempts } from './shared-attempts.ts';
import { type NamedCall, StoredCalls } from './stored-calls.ts';
import type { OpenTransactionWriter, TransactionNote, TransactionWriter } from './transaction-writer.ts';

/** The keys under which the state of the forwarder has its transactional id, and how many transactions it has committed. */
const ID = 'transactional_id';
const COUNT = 'transactions';

const OTHER_PROCESS =
  'another process stores events by the transactions of this pipeline: it runs with a copy of the state folder. Run one ' +
  'process for each state folder, and delete the copy';
const OLD_STATE =
  'the state folder is older than what is stored, as after a power loss or if it was restored: events that it does not ' +
  'know of are stored again';

/**
 * Stores each call as one transaction, which also says that the call is stored. So a call that comes again, because its
 * answer was lost or the process was killed, is stored only as far as it is not. One call at a time.
 */
export class TransactionPublisher {
  readonly #ctx: PipelineRunContext<PublisherSettings>;
  readonly #open: OpenTransactionWriter;
  readonly #batches: RecordBatches;
  #writer: TransactionWriter | undefined;
  /** What the last transaction has noted. */
  #note: TransactionNote;
  /** What the transaction notes of which no answer has come; undefined as long as it is one of the last run. */
  #unanswered: string | undefined;
  readonly #attempts = new SharedAttempts();
  /** The last call, if all of it is stored. */
  #stored: NamedCall | undefined;
  /** The last complete call that the engine has been told of. It notes that before it makes the next call. */
  #complete: NamedCall | undefined;
  /** Resolves when the last call is over. */
  #over: Promise<unknown> = Promise.resolve();

  constructor(ctx: PipelineRunContext<PublisherSettings>, open: OpenTransactionWriter) {
    this.#ctx = ctx;
    this.#open = open;
    this.#batches = new RecordBatches(ctx);
    this.#note = { count: Number(ctx.state.get(COUNT) ?? 0), text: '' };
    ctx.ended.addEventListener('abort', () => this.#writer?.close(), { once: true });
  }

  /** Completes when all records are stored. Errors if one is not; `failedEvents` names those that are to blame. */
  publish(
    id: CallId,
    recordsOf: () => EventRecords,
    restOf: PartlyFailedCall | undefined,
  ): Observable<never> {
    const start = (isWanted: () => boolean) => {
      // Now: the memory of the events may be used again while the call waits.
      const records = recordsOf();
      const stored = this.#over.then(() => {
        if (!isWanted()) throw new PluginError('the call was given up before its turn');
        return this.#publish(id, restOf, records);
      });
      this.#over = stored.catch(() => {});
      return stored;
    };
    return this.#attempts.join(id, start, () => {
      this.#complete = this.#stored;
    });
  }

  async #publish(
    id: CallId,
    restOf: PartlyFailedCall | undefined,
    { records, failed }: EventRecords,
  ): Promise<void> {
    const call = { id: restOf?.id ?? id, events: restOf?.events.length ?? records.length + failed.length };
    const positionOf = (index: number) => restOf?.left[index] ?? index;
    const writer = await this.#openWriter();
    try {
      const noted = StoredCalls.parse(this.#note.text);
      const isOther = this.#complete !== undefined && this.#complete.id !== call.id;
      const before = isOther ? noted.without(this.#complete as NamedCall) : noted;
      const isStored = before.storedIn(call);
      const isMissing = ({ index }: { readonly index: number }) => !isStored(positionOf(index));
      const failures = failed.filter(isMissing);
      const sent = records.filter(isMissing);
      let drafts: readonly Draft[] = await this.#batches.draftsOf(sent, writer, failures);
      if (drafts.length > 0) {
        await writer.begin(drafts.map(({ topic, partition }) => ({ topic, partition })));
        for (let [next, ...rest] = drafts; next !== undefined; [next, ...rest] = drafts) {
          drafts = [...(await this.#batches.write(next, writer, failures)), ...rest];
        }
        const refused = new Set(failures.map(({ index }) => index));
        const stored = sent.map(({ index }) => index).filter((index) => !refused.has(index));
        await this.#commit(writer, before.with(call, stored.map(positionOf)));
      }
      this.#stored = StoredCalls.parse(this.#note.text).isComplete(call) ? call : undefined;
      throwFailed(failures);
    } catch (error) {
      // After a call that failed in part, the transaction is over.
      if (!(error instanceof PluginError) || error.failedEvents === undefined) this.#drop(writer);
      throw error;
    }
  }

  async #commit(writer: TransactionWriter, stored: StoredCalls): Promise<void> {
    const note = { count: this.#note.count + 1, text: stored.toString() };
    this.#unanswered = note.text;
    await writer.commit(note);
    this.#committed(note);
  }

  /** The state has it before the next call is made. */
  #committed(note: TransactionNote): void {
    this.#note = note;
    this.#ctx.state.set(COUNT, note.count);
  }

  async #openWriter(): Promise<TransactionWriter> {
    if (this.#writer !== undefined) return this.#writer;
    const writer = await this.#open(this.#ctx.config, this.#transactionalId());
    const { count, text } = writer.note;
    const known = this.#note.count;
    const isFirst = this.#unanswered === undefined;
    const isKnown = count <= known || (count === known + 1 && (isFirst || text === this.#unanswered));
    if (!isKnown && !isFirst) {
      writer.close();
      throw Object.assign(new PluginError(OTHER_PROCESS, { permanent: true }), { fatal: true });
    }
    const { logger, pipeline, config } = this.#ctx;
    if (!isKnown) logger.warn(`${pipeline}: forwarder ${config.name}: ${OLD_STATE}`);
    // It is less if the broker has forgotten the offset.
    this.#committed({ count: Math.max(count, known), text });
    this.#unanswered = '';
    this.#writer = writer;
    if (this.#ctx.ended.aborted) writer.close();
    return writer;
  }

  #drop(writer: TransactionWriter): void {
    this.#writer = undefined;
    writer.close();
  }

  /** It is stable over runs with one state folder, and belongs to that folder: several agents may share a configuration. */
  #transactionalId(): string {
    const { state, pipeline, config } = this.#ctx;
    const known = state.get(ID);
    if (typeof known === 'string') return known;
    const id = `millrace-${pipeline}-${config.name}-${randomUUID()}`;
    state.set(ID, id);
    state.commit();
    if (state.isPending) throw new PluginError('nothing is sent while the state folder cannot be written to');
    return id;
  }
}
