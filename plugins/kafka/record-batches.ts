import { type FailedEvent, isFatal, type PipelineRunContext, type PluginError } from '../../src/sdk/index.ts';
import { KafkaError } from './client.ts';
import { partitionOf } from './murmur2.ts';
import type { EventRecord } from './outgoing-records.ts';
import type { RecordBatch, RecordWriter, WriterSettings } from './record-writer.ts';

export interface PublisherSettings extends WriterSettings {
  readonly name: string;
  readonly topic: unknown;
  readonly concurrency: number;
}

/** Bytes of a request at most: a broker closes the connection for more than 100 MiB (socket.request.max.bytes). */
const MOST_BYTES = 32 * 1024 * 1024;
/** What a broker says of a whole batch, although one record may be the reason. */
const REFUSED = /^(?:MESSAGE_TOO_LARGE|RECORD_LIST_TOO_LARGE|INVALID_RECORD|INVALID_TIMESTAMP)$/;

/** The records of a call for one partition, or a part of them. */
export interface Draft extends RecordBatch {
  readonly records: readonly EventRecord[];
}

/** A topic of a call. */
interface Topic {
  readonly name: string;
  /** Or why it cannot be used. */
  readonly partitions: number | PluginError;
  readonly drafts: Map<number, Draft & { readonly records: EventRecord[] }>;
}

/** Divides the records of calls by their partitions, and into batches that the broker takes. */
export class RecordBatches {
  readonly #ctx: PipelineRunContext<PublisherSettings>;
  #rotation = 0;
  /** Bytes of the smallest batch that a broker has refused as too large. */
  #tooLarge = MOST_BYTES;

  constructor(ctx: PipelineRunContext<PublisherSettings>) {
    this.#ctx = ctx;
  }

  /** Records without a key go to one partition, and those of the next call to the next one. */
  async draftsOf(
    records: readonly EventRecord[],
    writer: RecordWriter,
    failed: FailedEvent[],
  ): Promise<Draft[]> {
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

  /** Stores a batch. Returns its halves if it was refused, unless it has a single record. */
  async write(draft: Draft, writer: RecordWriter, failed: FailedEvent[]): Promise<readonly Draft[]> {
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

  /** An error of a topic that an expression gave concerns only the events that go there. */
  async #partitionsOf(topic: string, writer: RecordWriter): Promise<number | PluginError> {
    try {
      return await writer.partitions(topic);
    } catch (error) {
      if (typeof this.#ctx.config.topic === 'string' || !isFatal(error)) throw error;
      return error as PluginError;
    }
  }
}

function halves({ records, ...draft }: Draft): readonly Draft[] {
  const middle = Math.ceil(records.length / 2);
  return [
    { ...draft, records: records.slice(0, middle) },
    { ...draft, records: records.slice(middle) },
  ];
}
