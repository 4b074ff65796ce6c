import { catchError, concat, concatMap, defer, EMPTY, ignoreElements, Observable, of, tap } from 'rxjs';
import { restartWithBackoff, untilAborted } from '../../operators/index.ts';
import {
  collectedEvent,
  EventBatch,
  isFatal,
  type PipelineRunContext,
  PluginError,
  type StateValue,
  safeReason,
} from '../../src/sdk/index.ts';
import { ChildProcess, endText, type ProcessEnd } from '../child-process/child-process.ts';
import { BatchDemand } from '../lines/batch-demand.ts';
import { BATCH_LINES, type ReadLines } from '../lines/collect-lines.ts';
import { LineInput } from '../lines/line-input.ts';
import type { JournalConfig } from './journal-config.ts';
import { type JournalEntry, readEntry, SOURCE } from './read-entry.ts';

type Context = PipelineRunContext<JournalConfig>;

/** Where reading continues: after an entry, or with the first one if `cursor` is null. */
type Position = { readonly cursor: string | null; readonly time: string };

const KEY = 'position';
const START: Position = { cursor: null, time: '0' };
const CURSOR = /^s=[0-9a-f]{1,32}(?:;[a-z]=[0-9a-f]{1,32})+$/;
const TIME = /^\d{1,11}(?:\.\d{1,6})?$/;

/** Milliseconds. */
const RESTART = { base: 1000, cap: 60_000, healthyAfter: 10_000 };
/** Bytes of an entry as JSON, which has up to four for each byte of a field. */
const MOST_BYTES = 64 * 1024 * 1024;
const LET_READ = 'to let it read the journal, add it to the group systemd-journal';
/** Characters of what `journalctl` says about itself that are logged. */
const MOST_SAID = 300;

/** Reads the journal with `journalctl`, and notes in the state how far it has come. */
export class JournalReader {
  readonly #ctx: Context;
  readonly #demand: BatchDemand;
  /** After what was emitted last. What was acknowledged is in the state. */
  #position: Position | undefined;
  #child: ChildProcess | undefined;
  #isBlind = false;

  constructor(ctx: Context) {
    this.#ctx = ctx;
    this.#demand = new BatchDemand(ctx.demand, ctx.state, BATCH_LINES);
    ctx.beforeEnd?.(defer(() => this.#child?.stop() ?? EMPTY));
  }

  get batches$(): Observable<EventBatch> {
    const { once, random, signal } = this.#ctx;
    return defer(() => {
      this.#position = positionIn(this.#ctx.state.get(KEY));
      const reading$ = concat(
        defer(() => this.#findStart()),
        defer(() => this.#read()),
      );
      if (once) return reading$;
      return reading$.pipe(
        restartWithBackoff(
          { ...RESTART, attempts: Number.POSITIVE_INFINITY, onComplete: true, isFatal, random },
          { onWait: (wait, _, error) => this.#reportRestart(wait, error) },
        ),
      );
    }).pipe(untilAborted(signal));
  }

  /** Without a position: the end of the journal, or its start with `backfill`. It is kept, so that a crash skips nothing. */
  #findStart(): Observable<never> {
    if (this.#position !== undefined) return EMPTY;
    const { config, state } = this.#ctx;
    const last$ = config.backfill ? of(undefined) : this.#lastEntry();
    return last$.pipe(
      tap((last) => {
        this.#position = last === undefined ? START : { cursor: last.cursor, time: last.time };
        state.set(KEY, this.#position);
        state.commit();
      }),
      ignoreElements(),
    );
  }

  /** The last entry that is there; undefined if there is none. With the same filters: another one cannot be found again. */
  #lastEntry(): Observable<JournalEntry | undefined> {
    let last: JournalEntry | undefined;
    const entries$ = this.#entries(['--lines=1']).pipe(
      tap((read) => {
        last = readEntry(read.lines.texts.lines.at(-1) ?? '', []) ?? last;
        read.release();
      }),
      ignoreElements(),
    );
    return concat(
      entries$,
      defer(() => of(last)),
    );
  }

  #read(): Observable<EventBatch> {
    const position = this.#position ?? START;
    const follow = this.#ctx.once ? [] : ['--follow', '--no-tail'];
    // Not `--after-cursor`: it skips one entry more if the one at the cursor is gone, or does not match the filters.
    const from = position.cursor === null ? [] : [`--cursor=${position.cursor}`];
    let expected = position.cursor;
    const take = (read: ReadLines) => {
      const batches = this.#batchesOf(read, expected);
      expected = null;
      return batches;
    };
    return this.#entries([...follow, ...from]).pipe(
      concatMap(take),
      catchError((error) => {
        if (!(error instanceof CursorRefused)) throw error;
        const { logger, pipeline, config } = this.#ctx;
        logger.warn(
          `${pipeline}: collector ${config.name}: journalctl refuses the cursor in the state; reading continues at the time of ` +
            'the last entry that was read, and entries of that time may come twice',
        );
        return this.#entries([...follow, `--since=@${position.time}`]).pipe(concatMap(take));
      }),
    );
  }

  /** Batches of what was read: entries together, and each line that is none alone. */
  #batchesOf(read: ReadLines, expected: string | null): EventBatch[] {
    const { fields } = this.#ctx.config;
    const batches: EventBatch[] = [];
    let entries: JournalEntry[] = [];
    const flush = () => {
      const last = entries.at(-1);
      if (last !== undefined) batches.push(this.#batchOf(entries, last));
      entries = [];
    };
    for (const [index, line] of read.lines.texts.lines.entries()) {
      const entry = readEntry(line, fields);
      if (index === 0 && expected !== null) {
        if (entry?.cursor === expected) continue;
        this.#reportGap(entry);
      }
      if (entry !== undefined) entries.push(entry);
      else {
        flush();
        batches.push(this.#refused(read.lines.envelope.isTruncated));
      }
    }
    flush();
    const bytes = read.origin.endOffset - read.origin.startOffset;
    this.#ctx.stats.bytes(bytes);
    read.release();
    return batches;
  }

  #batchOf(entries: readonly JournalEntry[], { cursor, time }: JournalEntry): EventBatch {
    const position: Position = { cursor, time };
    this.#position = position;
    const { length } = entries;
    this.#demand.emitted(length);
    return new EventBatch(
      entries.map(({ event }) => event),
      () => {
        this.#ctx.state.set(KEY, position);
        this.#demand.acknowledged(length);
      },
    );
  }

  #refused(isTruncated: boolean): EventBatch {
    const why = isTruncated
      ? `an entry of the journal has more than ${MOST_BYTES} bytes as JSON; expected less: choose its \`fields\``
      : 'a line of journalctl is not an entry of the journal as JSON';
    this.#demand.emitted(1);
    return EventBatch.refused(collectedEvent({ source: SOURCE }), new PluginError(why), () =>
      this.#demand.acknowledged(1),
    );
  }

  #reportGap(next: JournalEntry | undefined): void {
    const { logger, pipeline, config } = this.#ctx;
    const at = next === undefined ? '' : `, of ${next.event.timestamp}`;
    logger.warn(
      `${pipeline}: collector ${config.name}: the entry at which reading has stopped is no longer found in the journal: it was ` +
        'removed by a rotation, or the filters changed. Entries after it may be lost; reading continues with the next one ' +
        `that is there${at}`,
    );
  }

  /** The lines of one run of `journalctl`. Errors if it fails, after all of them. */
  #entries(options: readonly string[]): Observable<ReadLines> {
    return new Observable((subscriber) => {
      const { config } = this.#ctx;
      const child = new ChildProcess({ command: commandOf(config, options) });
      this.#child = child;
      let said = '';
      child.stderr.on('data', (chunk: Buffer) => {
        said = (said + chunk.toString()).slice(-MOST_SAID);
        if (said.includes('not seeing messages')) this.#reportBlindness();
      });
      const input = new LineInput(child.stdout, {
        ...{
          source: SOURCE,
          name: 'the output of `journalctl`',
          encoding: 'utf-8',
          maxLineBytes: MOST_BYTES,
        },
      });
      subscriber.add(() => {
        child.stdout.destroy();
        child.stderr.destroy();
        child.stop().subscribe();
      });
      const lines$ = input.read({
        ...{ demand: this.#demand, skipEmptyLines: true, onHole: () => {}, onInvalidByte: () => {} },
        onBacklog: (bytes) => this.#ctx.stats.backlog(bytes),
      });
      const ended$ = child.end$.pipe(
        tap((end) => this.#ended(end, lastLine(said))),
        ignoreElements(),
      );
      subscriber.add(concat(lines$, ended$).subscribe(subscriber));
    });
  }

  /** What `journalctl` says of itself holds nothing of an entry. */
  #ended(end: ProcessEnd, said: string): void {
    if (end.code === 0) return;
    const { once } = this.#ctx;
    if (/seek to cursor/i.test(said)) throw new CursorRefused('journalctl refuses the cursor');
    const hint = /permission/i.test(said) ? `; ${LET_READ}` : '';
    const error = new PluginError(
      `journalctl ended with ${endText(end)}${said === '' ? '' : `: ${said}`}${hint}`,
      { permanent: once },
    );
    throw Object.assign(error, { fatal: once });
  }

  #reportBlindness(): void {
    if (this.#isBlind) return;
    this.#isBlind = true;
    const { logger, pipeline, config } = this.#ctx;
    logger.warn(
      `${pipeline}: collector ${config.name}: this user sees only its own entries of the journal; ${LET_READ}`,
    );
  }

  #reportRestart(wait: number, error: { readonly cause: unknown } | undefined): void {
    const { logger, pipeline, config } = this.#ctx;
    const why = error === undefined ? 'journalctl has ended' : safeReason(error.cause);
    logger.warn(
      `${pipeline}: collector ${config.name}: ${why}; starting journalctl again in ${(wait / 1000).toFixed(1)} s`,
    );
  }
}

class CursorRefused extends PluginError {}

function commandOf(config: JournalConfig, options: readonly string[]): string[] {
  const { units, priority, fields, directory } = config;
  const shown = fields === 'all' ? [] : [['MESSAGE', '_SYSTEMD_UNIT', 'SYSLOG_IDENTIFIER', ...fields].join()];
  return [
    ...['journalctl', '--output=json', '--all', '--no-pager', ...options],
    ...shown.map((names) => `--output-fields=${names}`),
    ...(directory === undefined ? [] : [`--directory=${directory}`]),
    ...(priority === undefined ? [] : [`--priority=${priority}`]),
    ...units.map((unit) => `--unit=${unit}`),
  ];
}

/** A state that somebody has changed is no reason to give `journalctl` what is no cursor. */
function positionIn(value: StateValue | undefined): Position | undefined {
  const { cursor, time } = (value ?? {}) as { cursor?: unknown; time?: unknown };
  if (typeof time !== 'string' || !TIME.test(time)) return undefined;
  if (cursor === null) return START;
  return { cursor: typeof cursor === 'string' && CURSOR.test(cursor) ? cursor : 'none', time };
}

function lastLine(text: string): string {
  const line = text.trim().split('\n').at(-1) ?? '';
  return line.replace(/[^ -~]/g, '?');
}
