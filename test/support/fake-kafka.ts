import { setTimeout as delay } from 'node:timers/promises';
import { KafkaError } from '../../plugins/kafka/client.ts';
import type {
  Fetched,
  GroupEvents,
  IncomingRecord,
  JoinGroup,
  Position,
} from '../../plugins/kafka/group-member.ts';
import type { OpenWriter, RecordBatch } from '../../plugins/kafka/record-writer.ts';
import type { OpenTransactionWriter, TransactionNote } from '../../plugins/kafka/transaction-writer.ts';

/** Milliseconds that a fetch waits for records. */
const MAX_WAIT = 10;

interface StoredRecord {
  readonly topic: string;
  readonly partition: number;
  readonly key: string | undefined;
  readonly text: string;
  readonly timestamp: number;
}

/** Topics in memory, written to by idempotent producers and read by one group. */
export class FakeKafka {
  readonly stored: StoredRecord[] = [];
  /** The batches that were sent, with the producer of each. */
  readonly sent: (RecordBatch & { readonly producer: number })[] = [];
  partitions = 3;
  /** The topics that there are; undefined: all. */
  topics: readonly string[] | undefined;
  /** Bytes of a batch. */
  maxBytes = Number.POSITIVE_INFINITY;
  /** Called with each batch; throws what the broker answers, or that there is no answer. `store` stores the batch. */
  onWrite: (batch: RecordBatch, store: () => void) => void = (_batch, store) => store();
  /** In place of `onWrite`, where answers take time. */
  answerTo: ((store: () => void) => Promise<void>) | undefined;
  producers = 0;
  closedProducers = 0;
  /** By transactional id: what was committed last, and the producer that may commit. */
  readonly transactions = new Map<string, { note: TransactionNote; producer: number }>();
  /** Called with each commit; throws what the broker answers, or that there is no answer. `commit` does it. */
  onCommit: (commit: () => void) => void | Promise<void> = (commit) => commit();
  /** The records of each partition. */
  readonly log = new Map<string, IncomingRecord[]>();
  readonly committed = new Map<string, bigint>();
  /** Whether offsets can be committed. */
  refusesCommits = false;
  members = 0;
  /** Records of an answer. */
  mostRecords = Number.POSITIVE_INFINITY;
  /** Records of all answers. */
  fetched = 0;
  #events: GroupEvents | undefined;
  #assigned: readonly Omit<Position, 'offset'>[] = [];
  #wake: (() => void)[] = [];

  open: OpenWriter = async () => {
    const producer = this.producers++;
    /** The last batch of each partition, by which the broker knows it again. */
    const last = new Map<string, RecordBatch>();
    let unknown: RecordBatch | undefined;
    return {
      partitions: async (topic) => {
        if (this.topics?.includes(topic) !== false) return this.partitions;
        throw Object.assign(new KafkaError('there is no such topic', 'UNKNOWN_TOPIC_OR_PARTITION'), {
          fatal: true,
        });
      },
      write: async (batch) => {
        const name = `${batch.topic}[${batch.partition}]`;
        this.sent.push({ ...batch, producer });
        const bytes = batch.records.reduce((sum, { value }) => sum + value.length, 0);
        if (bytes > this.maxBytes) throw new KafkaError('refused', 'MESSAGE_TOO_LARGE');
        const store = () => {
          // The number of a batch goes on only if its answer has come.
          if (unknown !== undefined && last.get(name) === unknown) return;
          last.set(name, batch);
          this.#store(batch);
        };
        try {
          if (this.answerTo) await this.answerTo(store);
          else this.onWrite(batch, store);
          unknown = undefined;
        } catch (error) {
          unknown = last.get(name) === batch || last.get(name) === unknown ? last.get(name) : undefined;
          throw error;
        }
      },
      close: () => void this.closedProducers++,
    };
  };

  openTransactional: OpenTransactionWriter = async (settings, id) => {
    const writer = await this.open(settings);
    const producer = this.producers;
    const known = this.transactions.get(id);
    const note = known?.note ?? { count: 0, text: '' };
    this.transactions.set(id, { note, producer });
    let uncommitted: RecordBatch[] | undefined;
    return {
      partitions: writer.partitions,
      close: writer.close,
      note,
      begin: async () => {
        uncommitted = [];
      },
      write: async (batch) => {
        this.sent.push({ ...batch, producer });
        const bytes = batch.records.reduce((sum, { value }) => sum + value.length, 0);
        if (bytes > this.maxBytes) throw new KafkaError('refused', 'MESSAGE_TOO_LARGE');
        this.onWrite(batch, () => void uncommitted?.push(batch));
      },
      commit: async (committed) => {
        if (this.transactions.get(id)?.producer !== producer)
          throw new KafkaError('refused', 'INVALID_PRODUCER_EPOCH');
        await this.onCommit(() => {
          this.transactions.set(id, { note: committed, producer });
          for (const batch of uncommitted ?? []) this.#store(batch);
          uncommitted = undefined;
        });
      },
    };
  };

  #store({ topic, partition, records }: RecordBatch): void {
    for (const { key, value, timestamp } of records) {
      this.stored.push({
        topic,
        partition,
        key: key?.toString(),
        text: value.toString(),
        timestamp: Number(timestamp),
      });
    }
  }

  /** Appends a record to a partition of the topic `logs`. */
  put(text: string | Buffer | null, partition = 0, more: Partial<IncomingRecord> = {}): void {
    const name = `logs[${partition}]`;
    const records = this.log.get(name) ?? [];
    this.log.set(name, records);
    const value = text === null ? null : Buffer.from(text);
    const offset = (records.at(-1)?.offset ?? -1n) + 1n;
    records.push({ offset, timestamp: 0, key: null, headers: [], value, ...more });
    for (const wake of this.#wake.splice(0)) wake();
  }

  /** The group gives the only member these partitions of `logs`, as after a rebalance. */
  assign(partitions: readonly number[], continues = false): void {
    this.#assigned = partitions.map((partition) => ({ topic: 'logs', partition }));
    this.#events?.assigned(
      this.#assigned.map((partition) => {
        const committed = this.committed.get(nameOf(partition));
        return {
          ...partition,
          offset: committed ?? 0n,
          isCommitted: committed !== undefined,
          end: this.#end(partition),
        };
      }),
      continues,
    );
  }

  /** The group has forgotten its member. */
  lose(error: unknown): void {
    this.#events?.lost(error);
  }

  join: JoinGroup = async (_settings, events, waits) => {
    this.members++;
    this.#events = events;
    let isClosed = false;
    this.assign([...this.log.keys()].map((name) => Number(/\d+/.exec(name)?.[0])));
    return {
      byBroker: async (positions) => new Map([[1, positions]]),
      fetch: async (_broker, positions) => {
        const asked = positions.map((position) => ({ ...position }));
        const found = () => asked.map((position) => this.#fetched(position));
        if (waits && found().every(({ records, isGone }) => records.length === 0 && !isGone)) {
          const woken = new Promise<void>((resolve) => this.#wake.push(resolve));
          await Promise.race([woken, delay(MAX_WAIT)]);
        }
        const answer = isClosed ? [] : found();
        for (const { records } of answer) this.fetched += records.length;
        return answer;
      },
      starts: async (positions) => positions.map((one) => ({ ...one, offset: this.#start(one) })),
      commit: async (positions) => {
        if (this.refusesCommits) throw new KafkaError('not committed', 'REBALANCE_IN_PROGRESS');
        for (const { topic, partition, offset } of positions)
          this.committed.set(nameOf({ topic, partition }), offset);
      },
      close: async () => {
        isClosed = true;
        for (const wake of this.#wake.splice(0)) wake();
      },
    };
  };

  #fetched({ topic, partition, offset }: Position): Fetched {
    const all = this.log.get(nameOf({ topic, partition })) ?? [];
    const end = this.#end({ topic, partition });
    const position = { topic, partition, offset };
    if (offset < this.#start(position) || offset > end) {
      return { ...position, records: [], next: -1n, end: -1n, isGone: true };
    }
    const first = all.findIndex((record) => record.offset >= offset);
    const records = first < 0 ? [] : all.slice(first, first + this.mostRecords);
    const next = (records.at(-1)?.offset ?? end - 1n) + 1n;
    return { ...position, records, next, end, isGone: false };
  }

  #start(partition: Omit<Position, 'offset'>): bigint {
    return this.log.get(nameOf(partition))?.[0]?.offset ?? 0n;
  }

  #end(partition: Omit<Position, 'offset'>): bigint {
    return (this.log.get(nameOf(partition))?.at(-1)?.offset ?? -1n) + 1n;
  }
}

const nameOf = ({ topic, partition }: Omit<Position, 'offset'>) => `${topic}[${partition}]`;
