import type { Producer } from '@platformatic/kafka';
import { clientOptions, closeSilent, kafkaError, loadClient } from './client.ts';
import type { ConnectionSettings } from './settings.ts';

export const COMPRESSIONS = ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const;

export interface WriterSettings extends ConnectionSettings {
  readonly compression: (typeof COMPRESSIONS)[number];
  /** Seconds for a request. */
  readonly timeout: number;
}

/** Records for one partition. */
export interface RecordBatch {
  readonly topic: string;
  readonly partition: number;
  readonly records: readonly OutgoingRecord[];
}

export interface OutgoingRecord {
  readonly key: Buffer | undefined;
  readonly value: Buffer;
  /** Milliseconds since 1970. */
  readonly timestamp: bigint;
}

/** An idempotent producer: what the forwarder uses of the client, so that tests can take its place. */
export interface RecordWriter {
  /** The number of partitions of a topic. */
  partitions(topic: string): Promise<number>;
  /**
   * Stores records in their order, or none of them. If it is not known whether they are stored, the next batch of that
   * partition has to be the same one: the broker takes whatever comes then for a repetition. One call at a time.
   *
   * @throws KafkaError
   */
  write(batch: RecordBatch): Promise<void>;
  close(): void;
}

export type OpenWriter = (settings: WriterSettings) => Promise<RecordWriter>;

/** The client counts records in 32 bits. */
const MOST_RECORDS = 2 ** 30;

/** Opens a producer of the client. It connects with the first call. */
export const openWriter: OpenWriter = async (settings) => {
  const client = await loadClient();
  const { compression } = settings;
  const timeout = settings.timeout * 1000;
  const create = () => {
    const producer = new client.Producer<Buffer, Buffer>({
      ...clientOptions(settings, timeout),
      ...{ idempotent: true, compression, timeout },
      // The engine tries again as well. With less than 2, the client would try without end.
      ...{ retries: 2, retryDelay: 250 },
    });
    // The producer stays: only the same one may repeat a batch that may be stored.
    closeSilent(producer.connections, timeout);
    return producer;
  };
  return new ClientWriter(create);
};

/** The records as the client takes them. */
export const messagesOf = ({ topic, partition, records }: RecordBatch) =>
  records.map(({ key, value, timestamp }) => ({ topic, partition, key: key as Buffer, value, timestamp }));

/** @throws KafkaError */
export async function partitionsOf(topic: string, producer: Producer<Buffer, Buffer>): Promise<number> {
  try {
    const { topics } = await producer.metadata({ topics: [topic] });
    return topics.get(topic)?.partitionsCount ?? 1;
  } catch (error) {
    throw kafkaError('cannot find the partitions of the topic', error);
  }
}

class ClientWriter implements RecordWriter {
  readonly #create: () => Producer<Buffer, Buffer>;
  #producer: Producer<Buffer, Buffer>;
  #count = 0;

  constructor(create: () => Producer<Buffer, Buffer>) {
    this.#create = create;
    this.#producer = create();
  }

  partitions(topic: string): Promise<number> {
    return partitionsOf(topic, this.#producer);
  }

  async write(batch: RecordBatch): Promise<void> {
    try {
      // One partition at a time: if one of several failed, the client would count wrongly in the others.
      await this.#producer.send({ messages: messagesOf(batch) });
    } catch (error) {
      throw kafkaError('the records were not stored', error);
    }
    this.#count += batch.records.length;
    if (this.#count < MOST_RECORDS) return;
    this.#count = 0;
    this.close();
    this.#producer = this.#create();
  }

  close(): void {
    this.#producer.close().catch(() => {});
  }
}
