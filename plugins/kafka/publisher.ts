import {
  type CallId,
  type FailedEvent,
  isFatal,
  type PipelineRunContext,
  PluginError,
} from '../../src/sdk/index.ts';
import { KafkaError } from './client.ts';
import { partitionOf } from './murmur2.ts';
import type { EventRecord, EventRecords } from './outgoing-records.ts';
import type { OpenWriter, RecordBatch, RecordWriter, WriterSettings } from './record-writer.ts';

interface Settings extends WriterSettings {
  readonly topic: unknown;
  readonly concurrency: number;
}

/** Bytes of a request at most: a broker closes the connection for more than 100 MiB (socket.request.max.bytes). */
const MOST_BYTES = 32 * 1024 * 1024;
/** What a broker says of a whole batch, although one record may be the reason. */
const REFUSED = /^(?:MESSAGE_TOO_LARGE|RECORD_LIST_TOO_LARGE|INVALID_RECORD|INVALID_TIMESTAMP)$/;
/** The broker does not know the producer any more, or has another idea of what it has written. */
const LOST = /SEQUENCE|PRODUCER/;

/** The records of a call for one partition, or a part of them. */
interface Draft extends RecordBatch {
  readonly records: readonly EventRecord[];
}

/** A topic of a call. */
interface Topic {
  readonly name: string;
  /** Or why it cannot be used. */
  readonly partitions: number | PluginError;
  readonly drafts: Map<number, Draft & { readonly records: EventRecord[] }>;
}

/** What is left of a call. Another attempt sends the same batches by the same producer, so that none is stored twice. */
interface Call {
  drafts: readonly Draft[];
  readonly failed: FailedEvent[];
  writer: RecordWriter;
}

/** Stores the records of calls. Each call has a producer of its own, because a producer numbers its records. */
export class Publisher {
  readonly #ctx: PipelineRunContext<Settings>;
  readonly #open: OpenWriter;
  readonly #idle: RecordWriter[] = [];
  /** Calls that failed. */
  readonly #unfinished = new Map<CallId, Call>();
  #rotation = 0;
  /** Bytes of the smallest batch that a broker has refused as too large. */
  #tooLarge = MOST_BYTES;

  constructor(ctx: PipelineRunContext<Settings>, open: OpenWriter) {
    this.#ctx = ctx;
    this.#open = open;
    const close = () => {
      for (const { writer } of this.#unfinished.values()) writer.close();
      for (const writer of this.#idle) writer.close();
    };
    ctx.ended.addEventListener('abort', close, { once: true });
  }

  /** Resolves when all records are stored. Rejects if one is not; `failedEvents` names those that are to blame. */
  async publish(id: CallId, recordsOf: () => EventRecords): Promise<void> {
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
    const { failed: failedEvents } = call;
    if (failedEvents.length === 0) return;
    const permanent = failedEvents.every((event) => event.permanent);
    throw new PluginError(failedEvents[0]?.reason ?? 'a record was refused', { failedEvents, permanent });
  }

  async #begin({ records, failed }: EventRecords): Promise<Call> {
    const [stale] = this.#unfinished.keys();
    if (stale !== undefined && this.#unfinished.size >= this.#ctx.config.concurrency) {
      // The engine has given that call up, or divided it. What the broker has of it is not known, nor how to go on.
      this.#unfinished.get(stale)?.writer.close();
      this.#unfinished.delete(stale);
    }
    const writer = this.#idle.pop() ?? (await this.#open(this.#ctx.config));
    try {
      const call = { writer, failed: [...failed], drafts: [] };
      return { ...call, drafts: await this.#draftsOf(records, call) };
    } catch (error) {
      this.#idle.push(writer);
      throw error;
    }
  }

  /** Records without a key go to one partition, and those of the next call to the next one. */
  async #draftsOf(records: readonly EventRecord[], { writer, failed }: Call): Promise<Draft[]> {
    const rotation = this.#rotation++;
    const topics = new Map<string, Topic>();
    let topic: Topic | undefined;
    for (const record of records) {
      const { topic: name, key, index } = record;
      if (topic?.name !== name) {
        topic = topics.get(name) ?? {
          name,
          partitions: await this.#partitionsOf(name, writer),
          drafts: new Map(),
        };
        topics.set(name, topic);
      }
      const { partitions, drafts } = topic;
      if (typeof partitions !== 'number') {
        failed.push({ index, reason: partitions.message });
        continue;
      }
      const partition = key === undefined ? rotation % partitions : partitionOf(key, partitions);
      const draft = drafts.get(partition);
      if (draft === undefined) drafts.set(partition, { topic: name, partition, records: [record] });
      else draft.records.push(record);
    }
    return [...topics.values()].flatMap(({ drafts }) => [...drafts.values()]);
  }

  /** An error of a topic that an expression gave concerns only the events that go there. */
  async #partitionsOf(topic: string, writer: RecordWriter): Promise<number | PluginError> {
    try {
      return await writer.partitions(topic);
    } catch (error) {
      if (typeof this.#ctx.config.topic === 'string' || !isFatal(error)) throw error;
      return error as PluginError;
    }
  }

  /** Stores a batch. Returns its halves if it was refused, unless it has a single record. */
  async #write(draft: Draft, { writer, failed }: Call): Promise<readonly Draft[]> {
    const { records } = draft;
    const [first, ...others] = records;
    const bytes = records.reduce((sum, { key, value }) => sum + value.length + (key?.length ?? 0), 0);
    const isKnown = bytes >= this.#tooLarge && others.length > 0;
    if (isKnown) return halves(draft);
    try {
      if (bytes > MOST_BYTES) throw new KafkaError('', 'MESSAGE_TOO_LARGE');
      await writer.write(draft);
      this.#ctx.stats.bytes(bytes);
      return [];
    } catch (error) {
      if (!(error instanceof KafkaError) || !REFUSED.test(error.id ?? '')) throw error;
      const isTooLarge = error.id === 'MESSAGE_TOO_LARGE';
      if (isTooLarge) this.#tooLarge = Math.min(this.#tooLarge, bytes);
      if (others.length > 0) return halves(draft);
      const size = isTooLarge ? `, which has ${bytes} bytes (max.message.bytes of the topic)` : '';
      const reason = `the broker refuses the record of the event${size}: ${error.id}`;
      failed.push({ index: (first as EventRecord).index, reason, permanent: true });
      return [];
    }
  }

  async #renew(call: Call): Promise<void> {
    call.writer.close();
    call.writer = await this.#open(this.#ctx.config);
  }
}

function halves({ records, ...draft }: Draft): readonly Draft[] {
  const middle = Math.ceil(records.length / 2);
  return [
    { ...draft, records: records.slice(0, middle) },
    { ...draft, records: records.slice(middle) },
  ];
}
