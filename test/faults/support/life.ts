import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { CliProcess } from '../../support/cli.ts';
import type { SmallDisk } from '../../support/small-disk.ts';
import { byForm } from './form.ts';
import { Ledger, listed } from './ledger.ts';
import { LogWriter } from './log-writer.ts';
import { Oracle } from './oracle.ts';
import { fileToDisk, kill, PATIENCE, Trial } from './trial.ts';

const isRoot = process.getuid?.() === 0;
/** Root may read everything: without these rights it is as any other user. */
const UNPRIVILEGED = ['setpriv', '--bounding-set', '-dac_override,-dac_read_search'];
/** Milliseconds without a line after which those that are missing count as lost. */
const STUCK = 150_000;
/** Milliseconds that a rotation waits for what it rotates to be read. */
const HASTE = 1500;
/** Longer than `exactly_once` takes to commit, however busy the machine is. */
const COMMITTED = 2000;
/** Longer than a rotated file is watched that nobody writes to. */
const LONG_ABSENCE = 7000;
const LONG_ABSENCES = byForm({ short: 0, long: 1 });
/** Longer than what tells files apart by their start. */
const BANNER = `# ${'='.repeat(1500)}`;
const FOLLOWS = /following \d+ files?/;
const OUTPUT = 'out.jsonl';

/** What all lives did and what came of it. */
export interface Figures {
  lives: number;
  lines: number;
  kills: number;
  stops: number;
  rotations: number;
  /** Lines that did not come and need not, such as those of a file that was deleted. */
  excused: number;
  lost: number;
  twice: number;
  /** Lines that came again after a kill, as documented. */
  repeats: number;
  torn: number;
  outOfOrder: number;
  leaked: number;
}

type Share = readonly [
  share: number,
  act: string,
  isPossible: () => boolean,
  run: () => Promise<void> | void,
];

/**
 * One folder with two logs, and a pipeline that is to bring every line of them to a file. Random acts of the programs
 * that write the logs, of logrotate, of the administrator and of the machine happen to them.
 */
export class Life {
  readonly #oracle: Oracle;
  readonly #trial: Trial;
  readonly #ledger: Ledger;
  readonly #writers: readonly LogWriter[];
  /** Of the output; without one, it never fills up. */
  readonly #disk: SmallDisk | undefined;
  readonly #figures: Figures;
  readonly #log: string[] = [];
  readonly #started = performance.now();
  readonly #isExactlyOnce: boolean;
  readonly #backfill: boolean;
  readonly #paths: 'literal' | 'glob' | 'rotated too';
  /** What the logs are rotated by. */
  readonly #truncates: boolean;
  readonly #said: CliProcess[] = [];
  /** Events that may be in flight; with workers, three batches of each of two threads. */
  readonly #mostInFlight: number;
  /** Kills and the like, after which what was in flight comes again. */
  #setbacks = 0;
  #process: CliProcess | undefined;
  /** Lines that there were when it started. */
  #writtenAtStart = 0;
  /** Of the logs. */
  #folder = 'in';
  #outputs = 0;
  #isSuspended = false;
  #isFull = false;
  #isFolderLocked = false;
  /** A file that is found late is read behind its successors. */
  #mayReorder = false;

  constructor(seed: number, disk: SmallDisk | undefined, figures: Figures) {
    this.#oracle = new Oracle(seed);
    this.#disk = disk;
    this.#figures = figures;
    const chance = (share: number) => this.#oracle.random() < share;
    this.#isExactlyOnce = chance(0.5);
    this.#backfill = chance(0.65);
    this.#paths = this.#oneOf(['literal', 'glob', 'rotated too'] as const);
    this.#truncates = chance(0.35);
    const hasWorkers = chance(0.3);
    const inFlight = this.#oneOf([5, 50, 1000]);
    this.#mostInFlight = hasWorkers ? 2 * 3 * 2 * inFlight : inFlight;
    const wait = !hasWorkers && chance(0.3) ? 0.002 : 0;
    const paths = { literal: "in/a.log', 'in/b.log", glob: 'in/*.log', 'rotated too': 'in/*.log*' };
    const config = fileToDisk({
      paths: paths[this.#paths],
      backfill: this.#backfill,
      // A line whose second half is late is never split in two.
      collector: 'flush_timeout: null',
      delay: wait,
      pipeline: `max_in_flight: ${inFlight}, exactly_once: ${this.#isExactlyOnce}, workers: ${hasWorkers ? 2 : 1}`,
    });
    this.#trial = new Trial(config, {}, this.#oracle);
    if (isRoot) this.#trial.launcher = UNPRIVILEGED;
    for (const name of ['in', 'kept']) fs.mkdirSync(this.#trial.path(name));
    const out = disk === undefined ? this.#trial.path('out') : join(disk.path, String(seed));
    fs.mkdirSync(out);
    if (disk !== undefined) fs.symlinkSync(out, this.#trial.path('out'));
    const isAlike = chance(0.3);
    this.#ledger = new Ledger(
      this.#oracle,
      [this.#trial.path('kept'), this.#trial.path('out')],
      isAlike ? BANNER : '',
    );
    const appends = chance(0.6);
    const naming = this.#oneOf(['shift', 'count'] as const);
    let isPromised = this.#backfill;
    this.#writers = ['a.log', 'b.log'].map(
      (name) =>
        new LogWriter({
          name,
          ledger: this.#ledger,
          folder: () => this.#trial.path(this.#folder),
          // Without `backfill`, what is there when the first run begins is not read.
          isPromised: () => {
            isPromised ||= this.#said.some(({ stderr }) => FOLLOWS.test(stderr));
            return isPromised;
          },
          appends,
          naming,
          width: isAlike ? 300 : 0,
        }),
    );
    this.#note(
      `${config.trim()}\n${appends ? '' : 'not '}appending, rotated by ${this.#truncates ? 'truncation' : naming}` +
        `${isAlike ? ', files look alike' : ''}`,
    );
  }

  /** Lives, and tells what is not as documented; undefined if all is. */
  async run(): Promise<string | undefined> {
    const problems: string[] = [];
    try {
      const acts = this.#oracle.between(20, 60);
      // Without `backfill`, nothing is promised of what was written before.
      if (!this.#backfill && this.#oracle.random() < 0.8) await this.#startFollowing();
      for (let n = 0; n < acts; n++) {
        await this.#actAtRandom();
        await delay(this.#oracle.between(0, 100) ** 2 / 100);
      }
      await this.#end();
    } catch (error) {
      problems.push((error as Error).message);
    }
    for (const { child } of this.#said) if (child.exitCode === null) child.kill('SIGKILL');
    for (const writer of this.#writers) writer.close();
    problems.push(...this.#judge());
    const isFlawless = problems.length === 0;
    const report = isFlawless ? [] : [...problems, ...this.#log, `all of it is kept in ${this.#keep()}`];
    // The next life gets the disk.
    this.#makeRoom();
    fs.rmSync(fs.realpathSync(this.#trial.path('out')), { recursive: true });
    fs.rmSync(this.#trial.folder, { recursive: true });
    return isFlawless ? undefined : report.join('\n');
  }

  #judge(): string[] {
    const isOrdered = this.#paths !== 'rotated too' && !this.#mayReorder;
    const { lost, twice, outOfOrder, torn } = this.#ledger.outcome({ isOrdered });
    const { leaks } = this.#trial.verdict({
      others: ['kept', 'state'].map((name) => this.#trial.path(name)),
    });
    const figures = this.#figures;
    figures.lives++;
    figures.lines += this.#ledger.written;
    const { repeats } = this.#ledger;
    figures.repeats += repeats;
    figures.excused += this.#ledger.written - this.#ledger.delivered().size - lost.length;
    figures.lost += lost.length;
    figures.twice += twice.length;
    figures.outOfOrder += outOfOrder.length;
    figures.torn += torn.length;
    figures.leaked += leaks.length;
    const mostRepeats = this.#setbacks * this.#mostInFlight;
    return [
      ...(repeats > mostRepeats ? [`${repeats} lines came again, more than ${mostRepeats}`] : []),
      ...(lost.length > 0 ? [listed('lost', lost)] : []),
      ...(twice.length > 0 ? [listed('twice', twice)] : []),
      ...(outOfOrder.length > 0 ? [listed('out of order', outOfOrder)] : []),
      ...(torn.length > 0
        ? [
            listed(
              'torn',
              torn.map((text) => `\n  ${text.slice(0, 300)}\n`),
            ),
          ]
        : []),
      ...(leaks.length > 0 ? [listed('leaks', leaks)] : []),
    ];
  }

  /** Puts everything right, and expects that all that is promised comes. */
  async #end(): Promise<void> {
    this.#note('the end');
    if (this.#isFull) this.#makeRoom();
    if (this.#isFolderLocked) this.#lockFolder(false);
    if (this.#folder !== 'in') this.#moveFolder();
    this.#resume();
    for (const writer of this.#writers) {
      writer.unlockAll();
      writer.finishLine();
    }
    if (this.#process === undefined) await this.#start();
    await this.#process?.shows('stderr', FOLLOWS);
    let missing = Infinity;
    let since = performance.now();
    while (missing > 0) {
      // A file that is found as late as this has to be read to its end.
      this.#reclaim();
      const now = this.#ledger.missing;
      if (now !== missing) since = performance.now();
      missing = now;
      if (performance.now() - since > STUCK) break;
      this.#expectRunning();
      await delay(50);
    }
    const isDone = missing === 0;
    // Nothing more is promised of a file that this stop finds: no run follows that would read its rest.
    const { code } = await this.#stop();
    if (!isDone) return;
    if (code !== 0) throw new Error(`the last stop has the exit code ${code}`);
    if (!this.#backfill) return;
    const { repeats } = this.#ledger;
    await this.#runOnce();
    const more = this.#ledger.repeats - repeats;
    if (more > 0) throw new Error(`after a stop, a run with --once brought ${more} lines again`);
  }

  async #actAtRandom(): Promise<void> {
    const writer = this.#oneOf(this.#writers);
    const possible = this.#acts(writer).filter(([, , isPossible]) => isPossible());
    const [, act, , run] = this.#oneByShare(possible);
    this.#note(`${act}`);
    if (this.#process !== undefined) this.#expectRunning();
    await run();
  }

  /** What may happen, and how often in proportion. A number in a description is that of the next line. */
  #acts(writer: LogWriter): readonly Share[] {
    const isRunning = () => this.#process !== undefined;
    const isStopped = () => !isRunning();
    const always = () => true;
    const { name } = writer;
    const next = `${name} from ${this.#ledger.written}`;
    const between = (least: number, most: number) => this.#oracle.between(least, most);
    return [
      [8, `append lines to ${next}`, always, () => writer.append(between(1, 60))],
      [4, `append blocks to ${next}`, always, () => writer.appendBlocks(between(1, 100))],
      [3, `append a part of a line to ${next}`, always, () => writer.appendPart(this.#oracle.random())],
      [
        this.#truncates ? 1 : 4,
        `rename ${name}`,
        () => writer.isCurrent,
        () => this.#rotate(writer, between(0, 2)),
      ],
      [this.#truncates ? 4 : 0, `truncate ${name}`, () => writer.isCurrent, () => this.#truncate(writer)],
      [8, `reopen ${name}`, () => !writer.isCurrent, () => writer.reopen()],
      [0.7, `remove ${name}`, () => writer.isCurrent, () => this.#remove(writer)],
      [0.7, `compress a file of ${name}`, () => writer.rotated.length > 0, () => this.#compress(writer)],
      [isRoot ? 0.7 : 0, `lock ${name}`, () => writer.isCurrent, () => this.#lock(writer)],
      [0.7, 'unlock all files', () => this.#isAnyLocked, () => this.#unlockAll()],
      [
        isRoot ? 0.5 : 0,
        'lock the folder',
        () => !this.#isFolderLocked && this.#folder === 'in',
        () => this.#lockFolder(true),
      ],
      [2, 'unlock the folder', () => this.#isFolderLocked, () => this.#lockFolder(false)],
      [
        0.5,
        'move the folder away',
        () => this.#folder === 'in' && !this.#isFolderLocked,
        () => this.#moveFolder(),
      ],
      [2, 'move the folder back', () => this.#folder !== 'in', () => this.#moveFolder()],
      [12, 'start', isStopped, () => this.#start()],
      [3, 'start, and wait until it follows', isStopped, () => this.#startFollowing()],
      [
        this.#truncates ? 0 : 3,
        'start, and rotate meanwhile',
        () => isStopped() && writer.isCurrent,
        () => this.#rotateDuringStart(writer),
      ],
      [2, 'run once', () => this.#canRunOnce, () => this.#runOnce()],
      [2, 'kill', isRunning, () => this.#kill()],
      [1, 'stop', isRunning, () => this.#stop().then(() => this.#unwatch())],
      [1, 'suspend', () => isRunning() && !this.#isSuspended, () => this.#suspend()],
      [3, 'resume', () => this.#isSuspended, () => this.#resume()],
      [
        1,
        'fill the disk',
        () => this.#disk !== undefined && !this.#isFull,
        () => this.#fill(between(0, 2) * 2048),
      ],
      [3, 'make room', () => this.#isFull, () => this.#makeRoom()],
      [1.5, 'rename the output', () => this.#hasOutput, () => this.#renameOutput()],
      [0.7, 'compress a renamed output', () => this.#renamedOutput !== undefined, () => this.#removeOutput()],
      [1, 'hang up', isRunning, () => this.#hangUp()],
      [1.5, 'wait for a poll', always, () => delay(1100)],
      [
        LONG_ABSENCES,
        'wait for a long time',
        () => this.#isFolderLocked || this.#folder !== 'in',
        () => this.#waitLong(),
      ],
    ];
  }

  // The programs that write, and logrotate.

  async #rotate(writer: LogWriter, how: number, { isHasty = false } = {}): Promise<void> {
    if (!isHasty) await this.#mayBeRead(writer);
    const delivered = this.#ledger.delivered();
    const isSeen = this.#paths === 'rotated too' || writer.file.ids.some((id) => delivered.has(id));
    writer.file.isUnseen = !isSeen && this.#findsSiblings(writer, delivered);
    const isKnown = isSeen || writer.file.isUnseen;
    writer.rotate({ isKnown });
    if (how > 0) writer.create();
    if (how > 1) writer.reopen();
    this.#figures.rotations++;
  }

  /** Mostly waits until a file is read that is about to go, as far as it can be: otherwise most lines would be lost. */
  async #mayBeRead(writer: LogWriter): Promise<void> {
    const isHasty = this.#oracle.random() < 0.3;
    if (isHasty || !this.#canWatch || this.#isFull || this.#isAnyLocked) return;
    const end = performance.now() + HASTE;
    while (performance.now() < end) {
      const delivered = this.#ledger.delivered();
      if (writer.file.ids.every((id) => delivered.has(id))) return;
      await delay(20);
    }
  }

  /** Whether a file is found that is rotated now, unseen: the process knows the one before it at the same, literal, path. */
  #findsSiblings({ rotated: [last] }: LogWriter, delivered: ReadonlySet<number>): boolean {
    if (this.#paths !== 'literal' || this.#ledger.banner !== '' || !this.#canWatch || last === undefined)
      return false;
    return last.isUnseen || last.ids.some((id) => id >= this.#writtenAtStart && delivered.has(id));
  }

  get #canWatch(): boolean {
    return (
      this.#process !== undefined && !this.#isSuspended && !this.#isFolderLocked && this.#folder === 'in'
    );
  }

  /** The process no longer watches: what it has not seen it may never see. */
  #unwatch(): void {
    const delivered = this.#ledger.delivered();
    for (const writer of this.#writers) writer.forsakeUnseen(delivered);
    this.#reclaim();
  }

  #reclaim(): void {
    const delivered = this.#ledger.delivered();
    for (const writer of this.#writers) if (writer.reclaim(delivered)) this.#mayReorder = true;
  }

  async #truncate(writer: LogWriter): Promise<void> {
    await this.#mayBeRead(writer);
    writer.truncate();
    this.#figures.rotations++;
  }

  async #remove(writer: LogWriter): Promise<void> {
    await this.#mayBeRead(writer);
    writer.remove();
  }

  #compress(writer: LogWriter): void {
    writer.compress(this.#oracle.between(0, writer.rotated.length - 1));
  }

  // The administrator, and the machine.

  #lock(writer: LogWriter): void {
    this.#unwatch();
    writer.setReadable(false);
    this.#mayReorder = true;
  }

  get #isAnyLocked(): boolean {
    return this.#writers.some(({ file, rotated }) => [file, ...rotated].some(({ isLocked }) => isLocked));
  }

  #unlockAll(): void {
    for (const writer of this.#writers) writer.unlockAll();
  }

  #lockFolder(isLocked: boolean): void {
    this.#unwatch();
    this.#mayReorder = true;
    fs.chmodSync(this.#trial.path(this.#folder), isLocked ? 0 : 0o755);
    this.#isFolderLocked = isLocked;
  }

  #moveFolder(): void {
    this.#unwatch();
    this.#mayReorder = true;
    const to = this.#folder === 'in' ? 'away' : 'in';
    this.#trial.rename(this.#folder, to);
    this.#folder = to;
  }

  async #waitLong(): Promise<void> {
    // What is written for so long to a file that was rotated away is not read.
    this.#unwatch();
    for (const writer of this.#writers) writer.reopen();
    await delay(LONG_ABSENCE);
  }

  #fill(room: number): void {
    this.#disk?.leave(room);
    this.#isFull = true;
  }

  #makeRoom(): void {
    this.#disk?.leave(Number.MAX_SAFE_INTEGER);
    this.#isFull = false;
  }

  get #hasOutput(): boolean {
    return fs.existsSync(this.#trial.path('out', OUTPUT));
  }

  #renameOutput(): void {
    this.#trial.rename(`out/${OUTPUT}`, `out/${OUTPUT}.${++this.#outputs}`);
  }

  get #renamedOutput(): string | undefined {
    return fs.readdirSync(this.#trial.path('out')).find((name) => name.startsWith(`${OUTPUT}.`));
  }

  /** Copies a renamed output to another folder and removes it, as compression does. */
  async #removeOutput(): Promise<void> {
    // After a crash, `exactly_once` asks for the output of before.
    const hasBegun = this.#process !== undefined && FOLLOWS.test(this.#process.stderr);
    if (this.#isExactlyOnce && !(hasBegun && this.#canWatch)) return;
    const name = this.#renamedOutput as string;
    fs.copyFileSync(this.#trial.path('out', name), this.#trial.path('kept', name));
    fs.rmSync(this.#trial.path('out', name));
    // What is not acknowledged is written again, to a new file.
    this.#mayRepeat();
    if (this.#isExactlyOnce) await delay(COMMITTED);
  }

  // The process.

  async #start(): Promise<void> {
    this.#writtenAtStart = this.#ledger.written;
    const args = ['run', 'p.yaml', '--state-dir', 'state', '--drain-timeout', '2'];
    this.#process = await this.#trial.start(...args);
    this.#said.push(this.#process);
  }

  async #startFollowing(): Promise<void> {
    await this.#start();
    await this.#process?.shows('stderr', FOLLOWS);
  }

  /** Some of the rotations come between the looks at the folder, and at what is in it, with which a run begins. */
  async #rotateDuringStart(writer: LogWriter): Promise<void> {
    await this.#start();
    await this.#process?.shows('stderr', /running/);
    for (let rotations = this.#oracle.between(1, 5); rotations > 0 && writer.isCurrent; rotations--) {
      await this.#rotate(writer, 2, { isHasty: true });
      writer.append(this.#oracle.between(1, 60));
      await delay(this.#oracle.between(0, 20));
    }
  }

  get #canRunOnce(): boolean {
    return this.#process === undefined && this.#backfill && !this.#isFull;
  }

  async #runOnce(): Promise<void> {
    const child = await this.#trial.start('run', 'p.yaml', '--state-dir', 'state', '--once');
    this.#said.push(child);
    const timer = setTimeout(() => child.kill('SIGKILL'), PATIENCE);
    const { code } = await child.ended();
    clearTimeout(timer);
    this.#note(`  exit code ${code}`);
    if (code === null || code > 1) throw new Error(`a run with --once ended with ${code}`);
    this.#ledger.stopped();
  }

  #suspend(): void {
    this.#process?.kill('SIGSTOP');
    this.#isSuspended = true;
  }

  #resume(): void {
    this.#process?.kill('SIGCONT');
    this.#isSuspended = false;
  }

  #hangUp(): void {
    // Before Node.js runs the program, the signal ends the process.
    if (this.#process?.stderr !== '') this.#process?.kill('SIGHUP');
  }

  async #kill(): Promise<void> {
    const child = this.#process as CliProcess;
    this.#process = undefined;
    this.#isSuspended = false;
    await kill(child);
    this.#unwatch();
    this.#figures.kills++;
    if (!this.#isExactlyOnce) this.#mayRepeat();
  }

  async #stop(): Promise<{ code: number }> {
    const child = this.#process as CliProcess;
    this.#resume();
    this.#process = undefined;
    const end = await kill(child, 'SIGTERM');
    this.#figures.stops++;
    this.#note(`  exit code ${end.code}`);
    // What a stop gives up may have been written.
    const hasBegun = FOLLOWS.test(child.stderr);
    const isDrained = end.code === 0 && !end.stderr.includes('given up');
    if (isDrained && hasBegun && !this.#isFull) this.#ledger.stopped();
    else if (!this.#isExactlyOnce) this.#mayRepeat();
    return end;
  }

  #mayRepeat(): void {
    this.#ledger.mayRepeat();
    this.#setbacks++;
  }

  #expectRunning(): void {
    const { exitCode, signalCode } = (this.#process as CliProcess).child;
    const end = exitCode ?? signalCode;
    if (end !== null) throw new Error(`the process ended by itself, with ${end}`);
  }

  // The report.

  #note(text: string): void {
    this.#log.push(`${((performance.now() - this.#started) / 1000).toFixed(2)} ${text}`);
  }

  /** Copies everything to a folder that outlives the test, with what the processes said. Returns its path. */
  #keep(): string {
    const folder = fs.mkdtempSync(join(tmpdir(), 'millrace-life-'));
    const filter = (path: string) => !fs.statSync(path, { throwIfNoEntry: false })?.isSocket();
    fs.cpSync(this.#trial.folder, folder, { recursive: true, dereference: true, filter });
    for (const [n, { stderr }] of this.#said.entries()) fs.writeFileSync(join(folder, `${n}.log`), stderr);
    return folder;
  }

  #oneByShare(possible: readonly Share[]): Share {
    let left = this.#oracle.random() * possible.reduce((sum, [share]) => sum + share, 0);
    for (const act of possible) {
      left -= act[0];
      if (left < 0) return act;
    }
    return possible[0] as Share;
  }

  #oneOf<T>(all: readonly T[]): T {
    return all[this.#oracle.between(0, all.length - 1)] as T;
  }
}
