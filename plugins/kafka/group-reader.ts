import { defer, firstValueFrom, type Subscriber, Subscription, timer } from 'rxjs';
import { isNoteworthy, Pump } from '../../operators/internal.ts';
import {
  EventBatch,
  isFatal,
  type Outcome,
  type PipelineRunContext,
  PluginError,
  safeReason,
} from '../../src/sdk/index.ts';
import { BatchDemand } from '../lines/batch-demand.ts';
import { KafkaError } from './client.ts';
import {
  type AssignedPartition,
  type Fetched,
  type GroupEvents,
  type GroupMember,
  type GroupSettings,
  type JoinGroup,
  nameOf,
  type Position,
} from './group-member.ts';
import { type Piece, piecesOf, type RecordFormat } from './incoming-records.ts';
import { OffsetCommitter } from './offset-committer.ts';
import { type Chunk, RecordQueue } from './record-queue.ts';

type Context = PipelineRunContext<GroupSettings & RecordFormat & { readonly name: string }>;

/** Milliseconds between two attempts to join. */
const RETRY_WAIT = 1000;
/** Milliseconds at most before events that failed are read again. The wait doubles with each failure. */
const LONGEST_WAIT = 60_000;
const WORTHWHILE_EVENTS = 256;

/** A partition from the moment that this member was given it, until it is taken away or read again. */
interface Partition extends Position {
  /** With `once`: the end when the partition was assigned. */
  readonly end: bigint;
  /** The offset to fetch next. */
  offset: bigint;
  /** The offset after the last record that was emitted. */
  emitted: bigint;
  /** Records that are there and were not fetched. */
  lag: number;
  batchesInFlight: number;
  /** Failures one after the other. */
  failures: number;
  isPaused: boolean;
}

const newPartition = (position: Position, end: bigint): Partition => ({
  ...{ ...position, end, emitted: position.offset, lag: Number(end - position.offset) },
  ...{ batchesInFlight: 0, failures: 0, isPaused: false },
});

/** Milliseconds before events that failed are read again. */
export const redeliveryWait = (failures: number) => Math.min(RETRY_WAIT * 2 ** (failures - 1), LONGEST_WAIT);

/**
 * Reads the partitions that a group gives to this member. The engine acknowledges batches in the order of emission, so
 * everything before the last acknowledged record of a partition is acknowledged too.
 */
export class GroupReader {
  readonly #ctx: Context;
  readonly #join: JoinGroup;
  readonly #output: Subscriber<EventBatch>;
  readonly #demand: BatchDemand;
  readonly #partitions = new Map<string, Partition>();
  readonly #queue = new RecordQueue<Partition>();
  readonly #pump: Pump;
  readonly #committer: OffsetCommitter;
  /** The brokers that are asked for records now. */
  readonly #asked = new Set<number>();
  readonly #reading = new Subscription();
  #member: GroupMember | undefined;
  /** Names the membership whose events count. */
  #membership = 0;
  #isAssigned = false;
  #isLocating = false;
  #isFailing = false;
  #isStopped = false;

  constructor(ctx: Context, join: JoinGroup, output: Subscriber<EventBatch>) {
    this.#ctx = ctx;
    this.#join = join;
    this.#output = output;
    this.#demand = new BatchDemand(ctx.demand, ctx.state, WORTHWHILE_EVENTS);
    this.#pump = new Pump(() => this.#step(), output);
    this.#committer = new OffsetCommitter(
      async (positions) => this.#member?.commit(positions),
      (error) => this.#report(error),
    );
    this.#reading.add(this.#demand.room$.subscribe(() => this.#pump.run()));
    ctx.beforeEnd?.(defer(() => this.#leave()));
    ctx.ended.addEventListener('abort', () => void this.#leave(), { once: true });
    void this.#connect();
  }

  /** Emits no more. What was emitted can still be acknowledged, until the run is over. */
  stop(): void {
    this.#isStopped = true;
    this.#reading.unsubscribe();
  }

  async #connect(): Promise<void> {
    const membership = ++this.#membership;
    const { config, once } = this.#ctx;
    const isCurrent = () => membership === this.#membership;
    const events: GroupEvents = {
      assigned: (...args) => isCurrent() && this.#assign(...args),
      lost: (error) => isCurrent() && this.#retry(error),
    };
    try {
      const member = await this.#join(config, events, !once);
      if (!isCurrent()) return void member.close();
      this.#member = member;
      this.#pump.run();
    } catch (error) {
      if (isCurrent()) this.#retry(error);
    }
  }

  #retry(error: unknown): void {
    this.#membership++;
    void this.#member?.close();
    this.#member = undefined;
    this.#partitions.clear();
    this.#committer.keepOnly(this.#partitions);
    // Without partitions, all that was assigned would seem to be done.
    this.#isAssigned = false;
    if (this.#isStopped) return;
    const id = error instanceof KafkaError ? error.id : undefined;
    // A broker that has just started, or a group that moves to another one.
    const passes = id !== undefined && /COORDINATOR|NOT_AVAILABLE|REBALANCE/.test(id);
    if ((this.#ctx.once && !passes) || (isFatal(error) && !(error instanceof KafkaError))) {
      this.#output.error(error);
      return;
    }
    this.#report(error);
    this.#reading.add(timer(RETRY_WAIT).subscribe(() => void this.#connect()));
  }

  async #leave(): Promise<void> {
    this.stop();
    const member = this.#member;
    if (member === undefined) this.#membership++;
    await this.#committer.close();
    this.#member = undefined;
    await member?.close();
  }

  #assign(assigned: readonly AssignedPartition[], continues: boolean): void {
    const before = new Map(continues ? this.#partitions : []);
    this.#partitions.clear();
    this.#committer.keepOnly(new Set(continues ? assigned.map(nameOf) : []));
    for (const { isCommitted, end, ...position } of assigned) {
      const name = nameOf(position);
      const known = before.get(name);
      this.#partitions.set(name, known ?? newPartition(position, end));
      // A start that `from` has chosen is committed at once: `latest` must not skip what comes during a restart.
      if (known === undefined && !isCommitted) this.#committer.acknowledged(position);
    }
    this.#isAssigned = true;
    this.#pump.run();
  }

  /** Emits records of one partition. Without any, or without room for them, has more fetched. */
  #step(): boolean {
    if (this.#isStopped) return false;
    const chunk = this.#queue.first;
    if (chunk !== undefined && (!this.#isCurrent(chunk.partition) || chunk.done === chunk.records.length)) {
      this.#shift(chunk);
      return true;
    }
    const room = chunk === undefined ? 0 : this.#demand.room;
    if (chunk !== undefined && room > 0) {
      this.#emit(chunk, room);
      return true;
    }
    if (this.#ctx.once && this.#isDone()) this.#output.complete();
    else void this.#fetch();
    return false;
  }

  #isCurrent(partition: Partition): boolean {
    return this.#partitions.get(nameOf(partition)) === partition;
  }

  #isDone(): boolean {
    if (!this.#isAssigned || !this.#queue.isEmpty) return false;
    return [...this.#partitions.values()].every(
      ({ offset, end, batchesInFlight, isPaused }) => offset >= end && batchesInFlight === 0 && !isPaused,
    );
  }

  /** After the last record of a chunk, offsets may follow that have no records. */
  #shift({ partition, next }: Chunk<Partition>): void {
    this.#queue.shift();
    partition.emitted = next;
    if (partition.batchesInFlight === 0) this.#acknowledge(partition, next);
  }

  #emit(chunk: Chunk<Partition>, room: number): void {
    const { partition, records, done } = chunk;
    const place = { topic: partition.topic, partition: partition.partition };
    const some = records.slice(done, done + Math.floor(room));
    chunk.done += some.length;
    for (const piece of piecesOf(some, place, this.#ctx.config)) {
      const { content, refusal, from: startOffset, next, bytes } = piece;
      partition.emitted = next;
      const { rows } = new EventBatch(content);
      if (rows.size === 0) continue;
      partition.batchesInFlight++;
      this.#demand.emitted(rows.size, bytes);
      const answer = (outcome: Outcome) => this.#answer(partition, piece, rows.size, outcome);
      const path = `partition ${place.partition} of the topic ${place.topic}`;
      const origin = { path, startOffset: Number(startOffset), endOffset: Number(next) };
      this.#output.next(new EventBatch(rows, answer, origin, refusal));
    }
  }

  /** A record that cannot be read may be a sign of a wrong `format`: without a dead letter that has taken it, it stays. */
  #answer(partition: Partition, piece: Piece, events: number, outcome: Outcome): void {
    this.#demand.acknowledged(events, piece.bytes);
    partition.batchesInFlight--;
    if (!this.#isCurrent(partition)) return;
    const isTaken = piece.refusal === undefined ? outcome !== 'failed' : outcome === 'dead_lettered';
    if (!isTaken) this.#readAgain(partition, piece);
    else this.#acknowledge(partition, partition.batchesInFlight === 0 ? partition.emitted : piece.next);
    if (this.#ctx.once) this.#pump.run();
  }

  #acknowledge(partition: Partition, offset: bigint): void {
    if (offset < 0n || !this.#isCurrent(partition)) return;
    partition.failures = 0;
    const { topic, partition: number } = partition;
    this.#committer.acknowledged({ topic, partition: number, offset });
  }

  #readAgain(partition: Partition, { from: offset, refusal }: Piece): void {
    const { logger, pipeline, config, once } = this.#ctx;
    const failures = partition.failures + 1;
    const wait = redeliveryWait(failures);
    const place = `record ${offset} of partition ${partition.partition} of the topic ${partition.topic}`;
    const reason = refusal === undefined ? 'or a later one failed' : `cannot be read: ${refusal.message}`;
    const hint = refusal === undefined ? 'Configure' : `Check \`format\` (${config.format}), or configure`;
    const message = `${place} ${reason}; it is not committed. ${hint} a dead letter`;
    if (once) {
      this.#output.error(new PluginError(message));
      return;
    }
    if (isNoteworthy(failures)) {
      const again = `the partition is read again from there in ${wait / 1000} s (failures: ${failures})`;
      logger.error(`${pipeline}: collector ${config.name}: ${message}; ${again}`);
    }
    const state = { emitted: offset, batchesInFlight: 0, failures, isPaused: true };
    const fresh = { ...partition, offset, ...state };
    this.#partitions.set(nameOf(partition), fresh);
    const resume = () => {
      fresh.isPaused = false;
      this.#pump.run();
    };
    this.#reading.add(timer(wait).subscribe(resume));
  }

  /** Asks each broker for records that is not asked yet. */
  async #fetch(): Promise<void> {
    const member = this.#member;
    const { once } = this.#ctx;
    if (member === undefined || this.#isLocating || this.#queue.isFull) return;
    const isWanted = ({ isPaused, offset, end }: Partition) => !isPaused && !(once && offset >= end);
    const wanted = [...this.#partitions.values()].filter(isWanted);
    if (wanted.length === 0) return;
    this.#isLocating = true;
    let brokers: ReadonlyMap<number, readonly Position[]> = new Map();
    try {
      brokers = await member.byBroker(wanted);
    } catch (error) {
      await this.#fetchFailed(member, error);
    }
    this.#isLocating = false;
    for (const [broker, positions] of brokers) {
      if (!this.#asked.has(broker)) void this.#fetchFrom(member, broker, positions);
    }
    if (brokers.size === 0) this.#pump.run();
  }

  async #fetchFrom(member: GroupMember, broker: number, positions: readonly Position[]): Promise<void> {
    this.#asked.add(broker);
    try {
      const found = await member.fetch(broker, positions);
      if (this.#member === member) for (const records of found) if (!records.isGone) this.#take(records);
      const gone = found.filter(({ isGone }) => isGone);
      if (gone.length > 0) await this.#goToStart(member, gone);
      this.#recovered();
    } catch (error) {
      await this.#fetchFailed(member, error);
    }
    this.#asked.delete(broker);
    this.#pump.run();
  }

  async #fetchFailed(member: GroupMember, error: unknown): Promise<void> {
    if (this.#isStopped || this.#member !== member) return;
    if (this.#ctx.once) this.#output.error(error);
    this.#report(error);
    await firstValueFrom(timer(RETRY_WAIT));
  }

  /** Reads on at the first records that are there. */
  async #goToStart(member: GroupMember, gone: readonly Fetched[]): Promise<void> {
    const starts = await member.starts(gone);
    if (this.#member !== member) return;
    for (const [i, { offset: start }] of starts.entries()) {
      const partition = this.#waitingFor(gone[i] as Fetched);
      if (partition === undefined || start < 0n || start === partition.offset) continue;
      const { logger, pipeline, config } = this.#ctx;
      const { topic, partition: number, offset } = partition;
      const what =
        start > offset
          ? `${start - offset} records (from ${offset} on) are gone, which may be due to the retention of the topic`
          : `record ${offset} is after the last one, which may be due to a topic that was created again`;
      const where = `partition ${number} of the topic ${topic}`;
      logger.warn(
        `${pipeline}: collector ${config.name}: ${where}: ${what}; reading goes on at record ${start}`,
      );
      partition.offset = start;
      this.#queue.push(partition, [], start);
    }
  }

  /** The partition for an answer. It may be late: the partition was taken away, or is read again from another offset. */
  #waitingFor(found: Fetched): Partition | undefined {
    const partition = this.#partitions.get(nameOf(found));
    return partition?.offset === found.offset && !partition.isPaused ? partition : undefined;
  }

  #take(found: Fetched): void {
    const partition = this.#waitingFor(found);
    if (partition === undefined) return;
    const { records, next, end } = found;
    const bytes = records.reduce((sum, { value }) => sum + (value?.length ?? 0), 0);
    const { stats } = this.#ctx;
    partition.offset = next;
    partition.lag = Number(end - next);
    stats.bytes(bytes);
    stats.pending([...this.#partitions.values()].reduce((sum, { lag }) => sum + lag, 0));
    if (next === found.offset) return;
    this.#queue.push(partition, records, next);
  }

  #report(error: unknown): void {
    const { logger, pipeline, config } = this.#ctx;
    if (!this.#isFailing)
      logger.warn(`${pipeline}: collector ${config.name}: ${safeReason(error)}; trying again`);
    this.#isFailing = true;
  }

  #recovered(): void {
    const { logger, pipeline, config } = this.#ctx;
    if (this.#isFailing) logger.info(`${pipeline}: collector ${config.name} reads the topics again`);
    this.#isFailing = false;
  }
}
