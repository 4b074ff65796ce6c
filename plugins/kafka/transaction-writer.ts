import type { Connection, Producer } from '@platformatic/kafka';
import { firstValueFrom, timer } from 'rxjs';
import { type Client, clientOptions, closeSilent, KafkaError, kafkaError, loadClient } from './client.ts';
import {
  messagesOf,
  partitionsOf,
  type RecordBatch,
  type RecordWriter,
  type WriterSettings,
} from './record-writer.ts';

type Transaction = NonNullable<Producer<Buffer, Buffer>['transaction']>;

/** What a transaction stores beside its records: as a committed offset of a group, and the metadata of that offset. */
export interface TransactionNote {
  /** How many transactions were committed. */
  readonly count: number;
  readonly text: string;
}

/** A producer that stores records all together or not at all. When it was opened, no transaction of its id was open. */
export interface TransactionWriter extends RecordWriter {
  /** What the last transaction of this id has noted, of this writer or of another one. */
  readonly note: TransactionNote;
  /** Begins a transaction that writes to these partitions. */
  begin(partitions: readonly Omit<RecordBatch, 'records'>[]): Promise<void>;
  /** After an error, it is not known whether the transaction is committed: another writer has to be opened. */
  commit(note: TransactionNote): Promise<void>;
  /** Ends a transaction that is not committed: its records are gone. */
  close(): void;
}

/** Opens a writer. Those of the same id that were opened before can commit nothing any more. */
export type OpenTransactionWriter = (settings: WriterSettings, id: string) => Promise<TransactionWriter>;

/** Milliseconds for a transaction: that of other clients, unless requests may take longer, and what a broker allows at most. */
const TRANSACTION_TIMEOUT = 60_000;
const LONGEST_TRANSACTION = 900_000;
/** A broker says so until the transaction before is written down, which takes some milliseconds, or until it is ready. */
const PASSES = /^(?:CONCURRENT_TRANSACTIONS|UNSTABLE_OFFSET_COMMIT|NOT_COORDINATOR|COORDINATOR_.*)$/;
/** Milliseconds between two requests of which the first was too early, and how many there are. */
const EARLY_WAIT = 10;
const MOST_REQUESTS = 500;
const FIRST = -1;

/** Opens a transactional producer of the client. */
export const openTransactionWriter: OpenTransactionWriter = async (settings, id) => {
  const writer = new ClientTransactionWriter(await loadClient(), settings, id);
  try {
    await writer.open();
    return writer;
  } catch (error) {
    writer.close();
    throw kafkaError('cannot begin a transaction', error);
  }
};

/**
 * The client leaves out the metadata of offsets, and asks for its producer as if it went on with another one. So offsets are
 * committed and fetched by the requests that it exports, and the producer is asked for explicitly.
 */
class ClientTransactionWriter implements TransactionWriter {
  readonly #client: Client;
  readonly #id: string;
  readonly #producer: Producer<Buffer, Buffer>;
  #transaction: Transaction | undefined;
  /** Of the group, whose name is the id too. */
  #coordinator = FIRST;
  /** Whether the broker knows of the transaction. */
  #hasBegun = false;
  /** The offset stands at the first partition of this topic. */
  #topic = '';
  #note: TransactionNote = { count: 0, text: '' };

  constructor(client: Client, settings: WriterSettings, id: string) {
    const timeout = settings.timeout * 1000;
    this.#client = client;
    this.#id = id;
    this.#producer = new client.Producer<Buffer, Buffer>({
      ...clientOptions(settings, timeout),
      ...{ idempotent: true, transactionalId: id, compression: settings.compression },
      // It is the time for a transaction. A request ends sooner, with its connection.
      timeout: Math.min(Math.max(timeout, TRANSACTION_TIMEOUT), LONGEST_TRANSACTION),
      // The engine tries again as well. With less than 2, the client would try without end.
      retries: 2,
      retryDelay: (_client, operation) => (operation === 'addPartitionsToTransaction' ? EARLY_WAIT : 250),
    });
    closeSilent(this.#producer.connections, timeout);
  }

  get note(): TransactionNote {
    return this.#note;
  }

  async open(): Promise<void> {
    // With these, the broker ends what another producer of the id has begun.
    const newProducer = { producerId: BigInt(FIRST), producerEpoch: FIRST };
    this.#transaction = await whenReady(() => {
      void this.#producer.transaction?.cancel();
      return this.#producer.beginTransaction(newProducer);
    });
    const topics = await whenReady(() => this.#committedOffsets());
    for (const { committedOffset, metadata } of topics.flatMap(({ partitions }) => partitions)) {
      const count = Number(committedOffset);
      if (count > this.#note.count) this.#note = { count, text: metadata ?? '' };
    }
  }

  async #committedOffsets() {
    const { FindCoordinatorKeyTypes, findCoordinatorV4, offsetFetchV8 } = this.#client;
    const any = await this.#connection(this.#producer.coordinatorId);
    const found = await findCoordinatorV4.api.async(any, FindCoordinatorKeyTypes.GROUP, [this.#id]);
    this.#coordinator = found.coordinators[0]?.nodeId ?? FIRST;
    const group = { groupId: this.#id, memberEpoch: FIRST, topics: null };
    const connection = await this.#connection(this.#coordinator);
    const { groups } = await offsetFetchV8.api.async(connection, [group], true);
    return groups.flatMap(({ topics }) => topics);
  }

  partitions(topic: string): Promise<number> {
    return partitionsOf(topic, this.#producer);
  }

  async begin(partitions: readonly Omit<RecordBatch, 'records'>[]): Promise<void> {
    try {
      this.#transaction ??= await this.#producer.beginTransaction();
      const transaction = this.#transaction;
      const topics = [...new Set(partitions.map(({ topic }) => topic))];
      [this.#topic = ''] = topics;
      const metadata = await this.#producer.metadata({ topics });
      this.#hasBegun = true;
      await whenReady(async () =>
        transaction.addPartitions(metadata, partitions.map((one) => ({ ...one })) as never),
      );
    } catch (error) {
      throw kafkaError('cannot begin a transaction', error);
    }
  }

  async write(batch: RecordBatch): Promise<void> {
    try {
      await this.#transaction?.send({ messages: messagesOf(batch) });
    } catch (error) {
      throw kafkaError('the records were not stored', error);
    }
  }

  async commit(note: TransactionNote): Promise<void> {
    try {
      await this.#transaction?.addConsumer({ groupId: this.#id } as never);
      const connection = await this.#connection(this.#coordinator);
      const { producerId = 0n, producerEpoch = 0 } = this.#producer;
      const offset = { partitionIndex: 0, committedOffset: BigInt(note.count), committedLeaderEpoch: FIRST };
      const topics = [{ name: this.#topic, partitions: [{ ...offset, committedMetadata: note.text }] }];
      const member = [FIRST, '', null] as const;
      const { api } = this.#client.txnOffsetCommitV3;
      await api.async(connection, this.#id, this.#id, producerId, producerEpoch, ...member, topics);
      await this.#transaction?.commit();
    } catch (error) {
      throw kafkaError('the transaction was not committed', error);
    }
    this.#transaction = undefined;
    this.#hasBegun = false;
  }

  close(): void {
    const aborted = this.#hasBegun ? this.#transaction?.abort().catch(() => {}) : undefined;
    void Promise.resolve(aborted).then(() => this.#producer.close().catch(() => {}));
  }

  async #connection(node: number): Promise<Connection> {
    const connections = await this.#producer.connectToBrokers([node]);
    return connections.get(node) as Connection;
  }
}

/** Makes a request again as long as it comes too early. */
async function whenReady<T>(request: () => Promise<T>): Promise<T> {
  for (let requests = 1; ; requests++) {
    try {
      return await request();
    } catch (cause) {
      const error = kafkaError('', cause);
      const passes = error instanceof KafkaError && PASSES.test(error.id ?? '');
      if (!passes || requests === MOST_REQUESTS) throw cause;
      await firstValueFrom(timer(EARLY_WAIT));
    }
  }
}
