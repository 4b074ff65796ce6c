import type { ConnectionPool, Consumer } from '@platformatic/kafka';
import { firstValueFrom, timer } from 'rxjs';
import { type Client, clientOptions, closeSilent, kafkaError, loadClient } from './client.ts';
import type { ConnectionSettings } from './settings.ts';

export interface GroupSettings extends ConnectionSettings {
  readonly topics: readonly string[];
  readonly group: string;
  readonly instance?: string | undefined;
  readonly from: 'earliest' | 'latest';
}

/** A place in a partition. */
export interface Position {
  readonly topic: string;
  readonly partition: number;
  /** Of the next record. */
  readonly offset: bigint;
}

/** A partition that a member was given. */
export interface AssignedPartition extends Position {
  /** Whether the group has committed the offset, and not `from` chosen it. */
  readonly isCommitted: boolean;
  /** The offset after the last record that is there. */
  readonly end: bigint;
}

export interface IncomingRecord {
  readonly offset: bigint;
  /** Milliseconds; negative if there is none. */
  readonly timestamp: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: readonly (readonly [name: Buffer, value: Buffer | null])[];
}

/** What came of a partition. */
export interface Fetched extends Position {
  /** In order. Some may be missing: those that a compaction removed or a transaction took back. */
  readonly records: readonly IncomingRecord[];
  /** Where to go on. */
  readonly next: bigint;
  /** The offset after the last record that is there. */
  readonly end: bigint;
  /** There is nothing at the offset. A broker does not say then where to go on: `next` and `end` are -1. */
  readonly isGone: boolean;
}

/** What a member tells of its group. */
export interface GroupEvents {
  /** The member was given these partitions. If it `continues`, it has had those among them that it had before all the time. */
  assigned(partitions: readonly AssignedPartition[], continues: boolean): void;
  /** It is no longer a member, and has to join again. */
  lost(error: unknown): void;
}

/** A member of a consumer group: what the collector uses of the client, so that tests can take its place. */
export interface GroupMember {
  /** The positions by the broker that has them. */
  byBroker(positions: readonly Position[]): Promise<ReadonlyMap<number, readonly Position[]>>;
  /** What is there from these positions on, or comes within a moment. */
  fetch(broker: number, positions: readonly Position[]): Promise<readonly Fetched[]>;
  /** The first records of these partitions that are there. */
  starts(partitions: readonly Position[]): Promise<readonly Position[]>;
  commit(positions: readonly Position[]): Promise<void>;
  /** Leaves the group. */
  close(): Promise<void>;
}

export type JoinGroup = (
  settings: GroupSettings,
  events: GroupEvents,
  waits: boolean,
) => Promise<GroupMember>;

const MIB = 1024 * 1024;
/** Milliseconds that a broker waits for more records. */
const MAX_WAIT = 500;
/** Bytes of an answer. One batch of records always comes, however large it is. */
const MAX_BYTES = 8 * MIB;
const MAX_PARTITION_BYTES = MIB;
/** Milliseconds: a broker answers within {@link MAX_WAIT}, and after a pause a new connection costs little. */
const FETCH_SILENCE = 10_000;
/** Milliseconds without a heartbeat after which the group takes a member for dead. */
const SESSION_TIMEOUT = 10_000;
/** The same with a name, by which the member may come back. */
const STATIC_SESSION_TIMEOUT = 60_000;
/** Milliseconds. */
const ERROR_WAIT = 250;
const EARLIEST = -2n;
const LATEST = -1n;
/** Bits of the attributes of a batch. */
const IS_TRANSACTIONAL = 0x10;
const IS_CONTROL = 0x20;
/**
 * `read_committed`. As a number, it would also switch on a filter of the client, which lets records of transactions pass
 * that were taken back if their end is in a later answer, and fails if two producers are concerned.
 */
const READ_COMMITTED = true as unknown as number;

/** Joins groups by the client that `load` gives. */
export const joinBy =
  (load: () => Promise<Client>): JoinGroup =>
  async (settings, events, waits) => {
    const member = new ClientMember(await load(), settings, events, waits);
    try {
      await member.join();
      return member;
    } catch (error) {
      await member.close();
      throw kafkaError(`cannot join the group ${settings.group}`, error);
    }
  };

/** Joins a group by the client. */
export const joinGroup: JoinGroup = joinBy(loadClient);

/** A place in a group until its next rebalance. */
interface Membership {
  readonly memberId: string;
  readonly generationId: number;
}

class ClientMember implements GroupMember {
  readonly #settings: GroupSettings;
  readonly #events: GroupEvents;
  readonly #consumer: Consumer<Buffer, Buffer, Buffer, Buffer>;
  /** Waiting for records must not hold back heartbeats. */
  readonly #fetching: ConnectionPool;
  readonly #maxWait: number;
  /** Names of topics by their ids. */
  readonly #topics = new Map<string, string>();
  #membership: Membership | undefined;
  /** The one whose partitions were reported last. */
  #reported: Membership | undefined;
  #isClosed = false;

  constructor(client: Client, settings: GroupSettings, events: GroupEvents, waits: boolean) {
    this.#settings = settings;
    this.#events = events;
    this.#maxWait = waits ? MAX_WAIT : 50;
    // Without retries: after a failed commit, the client would join again, and commit what others may have by then.
    const { group: groupId, instance } = settings;
    const sessionTimeout = instance === undefined ? SESSION_TIMEOUT : STATIC_SESSION_TIMEOUT;
    // A request to join is answered when members that died have timed out.
    const silence = 3 * sessionTimeout;
    const timeouts = { sessionTimeout, rebalanceTimeout: 2 * sessionTimeout };
    const options = { ...clientOptions(settings, silence), ...timeouts, autocommit: false, retries: 0 };
    this.#consumer = new client.Consumer({
      ...options,
      groupId,
      ...(instance && { groupInstanceId: instance }),
    });
    this.#fetching = new client.ConnectionPool(options.clientId, options);
    closeSilent(this.#consumer.connections, silence);
    closeSilent(this.#fetching, FETCH_SILENCE);
    const lost = (error: unknown) => this.#lost(error);
    this.#consumer.on('error' as never, lost as never);
    this.#consumer.on('consumer:heartbeat:error', ({ error }) => lost(error));
    this.#consumer.on('consumer:group:join', ({ memberId, generationId = 0 }) => {
      const membership = { memberId, generationId };
      this.#membership = membership;
      this.#assigned(membership).catch((error) => this.#membership === membership && lost(error));
    });
  }

  async join(): Promise<void> {
    this.#consumer.topics.trackAll(...this.#settings.topics);
    await this.#consumer.metadata({ topics: [...this.#settings.topics] });
    await this.#consumer.joinGroup({});
  }

  async byBroker(positions: readonly Position[]): Promise<ReadonlyMap<number, readonly Position[]>> {
    const brokers = new Map<number, Position[]>();
    try {
      const { topics } = await this.#consumer.metadata({ topics: [...this.#settings.topics] });
      for (const [name, { id }] of topics) this.#topics.set(id, name);
      for (const position of positions) {
        const leader = topics.get(position.topic)?.partitions[position.partition]?.leader ?? -1;
        brokers.set(leader, [...(brokers.get(leader) ?? []), position]);
      }
    } catch (error) {
      throw kafkaError('cannot find the brokers of the topics', error);
    }
    return brokers;
  }

  async fetch(node: number, positions: readonly Position[]): Promise<readonly Fetched[]> {
    const ids = new Map([...this.#topics].map(([id, name]) => [name, id]));
    const topics = positions.map(({ topic, partition, offset: fetchOffset }) => ({
      topicId: ids.get(topic) ?? '',
      partitions: [
        {
          ...{ partition, fetchOffset, partitionMaxBytes: MAX_PARTITION_BYTES },
          ...{ currentLeaderEpoch: -1, lastFetchedEpoch: -1 },
        },
      ],
    }));
    const limits = { maxWaitTime: this.#maxWait, maxBytes: MAX_BYTES, isolationLevel: READ_COMMITTED };
    const options = { node, topics, ...limits, connectionPool: this.#fetching };
    const response = await this.#consumer.fetch(options).catch((error) => this.#partly(error));
    const offsets = new Map(positions.map((position) => [nameOf(position), position.offset]));
    return response.responses.flatMap(({ topicId, partitions }) =>
      partitions.flatMap((found) => {
        const topic = this.#topics.get(topicId) ?? '';
        const position = { topic, partition: found.partitionIndex };
        const offset = offsets.get(nameOf(position));
        return offset === undefined ? [] : [fetched({ ...position, offset }, found)];
      }),
    );
  }

  async starts(positions: readonly Position[]): Promise<readonly Position[]> {
    const partitions: Record<string, number[]> = {};
    for (const { topic, partition } of positions) {
      partitions[topic] = [...(partitions[topic] ?? []), partition];
    }
    try {
      const asked = { topics: Object.keys(partitions), partitions, timestamp: EARLIEST };
      const starts = await this.#consumer.listOffsets(asked);
      return positions.map(({ topic, partition }) => ({
        ...{ topic, partition },
        offset: starts.get(topic)?.[partition] ?? -1n,
      }));
    } catch (error) {
      throw kafkaError('cannot find the first records of partitions', error);
    }
  }

  async commit(positions: readonly Position[]): Promise<void> {
    try {
      await this.#consumer.commit({
        offsets: positions.map((position) => ({ ...position, leaderEpoch: -1 })),
      });
    } catch (error) {
      throw kafkaError('the offsets were not committed', error);
    }
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#fetching.close().catch(() => {});
    const left = await new Promise((resolve) =>
      this.#consumer.close(true, (error) => resolve(error ?? undefined)),
    );
    // Without an answer, the client keeps its connections.
    if (left !== undefined) await this.#consumer.connections.close().catch(() => {});
  }

  #lost(error: unknown): void {
    if (!this.#isClosed) this.#events.lost(kafkaError(`the group ${this.#settings.group} was left`, error));
  }

  /** Partitions that have an error do not hold back the others. */
  async #partly(error: unknown): Promise<FetchAnswer> {
    const { response } = error as { response?: FetchAnswer };
    const codes = response?.responses.flatMap(({ partitions }) =>
      partitions.map(({ errorCode }) => errorCode),
    );
    this.#consumer.clearMetadata();
    if (response !== undefined && codes?.some((code) => code === 0 || code === OFFSET_OUT_OF_RANGE)) {
      // The broker answers at once as long as there is an error.
      await firstValueFrom(timer(ERROR_WAIT));
      return response;
    }
    throw kafkaError('cannot get records', error);
  }

  /** Reports the partitions of a membership, unless the group has balanced again before their offsets are known. */
  async #assigned(membership: Membership): Promise<void> {
    const topics = (this.#consumer.assignments ?? []).filter(({ partitions }) => partitions.length > 0);
    const partitions = Object.fromEntries(topics.map(({ topic, partitions }) => [topic, partitions]));
    const asked = { topics: topics.map(({ topic }) => topic), partitions };
    if (topics.length === 0) return this.#report(membership, []);
    const [committed, ends, starts] = await Promise.all([
      this.#consumer.listCommittedOffsets({ topics }),
      this.#consumer.listOffsets({ ...asked, timestamp: LATEST }),
      this.#settings.from === 'earliest'
        ? this.#consumer.listOffsets({ ...asked, timestamp: EARLIEST })
        : undefined,
    ]);
    const assigned = topics.flatMap(({ topic, partitions }) =>
      partitions.map((partition) => {
        const known = committed.get(topic)?.[partition] ?? -1n;
        const end = ends.get(topic)?.[partition] ?? 0n;
        const start = starts?.get(topic)?.[partition] ?? end;
        return { topic, partition, end, offset: known < 0n ? start : known, isCommitted: known >= 0n };
      }),
    );
    if (this.#membership === membership) this.#report(membership, assigned);
  }

  #report(membership: Membership, assigned: readonly AssignedPartition[]): void {
    const last = this.#reported;
    this.#reported = membership;
    const { memberId, generationId } = membership;
    // A partition that two balances have moved away and back again may have been read by others.
    const continues = last?.memberId === memberId && last.generationId + 1 === generationId;
    this.#events.assigned(assigned, continues);
  }
}

type FetchAnswer = Awaited<ReturnType<Consumer['fetch']>>;

type FetchedPartition = FetchAnswer['responses'][number]['partitions'][number];

const OFFSET_OUT_OF_RANGE = 1;

export const nameOf = ({ topic, partition }: Omit<Position, 'offset'>) => `${topic}[${partition}]`;

function fetched(position: Position, found: FetchedPartition): Fetched {
  const { errorCode, lastStableOffset: end, abortedTransactions } = found;
  if (errorCode === OFFSET_OUT_OF_RANGE) {
    return { ...position, records: [], next: -1n, end: -1n, isGone: true };
  }
  const aborted = [...abortedTransactions].sort((a, b) => Number(a.firstOffset - b.firstOffset));
  const open = new Set<bigint>();
  const records: IncomingRecord[] = [];
  let next = position.offset;
  for (const batch of found.records ?? []) {
    const { firstOffset, producerId, attributes } = batch;
    const last = firstOffset + BigInt(batch.lastOffsetDelta);
    for (let first = aborted[0]; first !== undefined && first.firstOffset <= last; first = aborted[0]) {
      open.add(first.producerId);
      aborted.shift();
    }
    next = last + 1n;
    if (attributes & IS_CONTROL) {
      // The end of a transaction. The key says which: 0 took it back.
      if (batch.records[0]?.key?.readInt16BE(2) === 0) open.delete(producerId);
      continue;
    }
    if (attributes & IS_TRANSACTIONAL && open.has(producerId)) continue;
    const firstTimestamp = Number(batch.firstTimestamp);
    for (const { key, value, headers, offsetDelta, timestampDelta } of batch.records) {
      const offset = firstOffset + BigInt(offsetDelta);
      // The first batch may start before the position.
      if (offset < position.offset) continue;
      const timestamp = firstTimestamp + Number(timestampDelta);
      records.push({ offset, timestamp, key, value, headers } as IncomingRecord);
    }
  }
  return { ...position, records, next, end, isGone: false };
}
