import fs from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { byForm } from './support/form.ts';
import { median, residentMemory } from './support/memory.ts';
import { fileToDisk, kill, Trial } from './support/trial.ts';

const SECONDS = byForm({ short: 40, long: 3600 });
/** By default. */
const MAX_IN_FLIGHT = 1000;
/** Lines that are written at a time; the next ones when these have come out. */
const BURST = 2000;
/** Bursts from one rotation to the next, of the input and of the output. */
const BURSTS_PER_FILE = 15;
/** Megabytes of garbage that V8 lets gather before it collects, at most, and then starts over. */
const SAWTOOTH = 40;

/**
 * Follows an output over its rotations, which it removes when they are read, and expects every line in order. What was
 * read as its file was renamed may come again in the next file: see docs/reliability.md.
 */
class OutputReader {
  readonly #trial: Trial;
  #offset = 0;
  #rest = '';
  #rotated: string | undefined;
  #rotations = 0;
  /** Lines that came again. */
  again = 0;
  /** The number of the line that comes next. */
  next = 0;
  /** The first thing that is not as it should be. */
  wrong: string | undefined;

  constructor(trial: Trial) {
    this.#trial = trial;
  }

  /** As logrotate does. The next `read` finishes the old file once there is a new one. */
  rotate(): void {
    this.#rotated = 'out/old.jsonl';
    this.#rotations++;
    this.#trial.rename('out/out.jsonl', this.#rotated);
  }

  read(): void {
    const isNew = fs.existsSync(this.#trial.path('out/out.jsonl'));
    if (this.#rotated !== undefined) {
      this.#readOn(this.#rotated);
      if (!isNew) return;
      fs.rmSync(this.#trial.path(this.#rotated));
      this.#rotated = undefined;
      this.#offset = 0;
      // Of a line that was taken back, and comes whole in the new file.
      this.#rest = '';
    }
    if (isNew) this.#readOn('out/out.jsonl');
  }

  #readOn(name: string): void {
    const fd = fs.openSync(this.#trial.path(name), 'r');
    const buffer = Buffer.alloc(Math.max(0, fs.fstatSync(fd).size - this.#offset));
    fs.readSync(fd, buffer, 0, buffer.length, this.#offset);
    fs.closeSync(fd);
    this.#offset += buffer.length;
    const lines = (this.#rest + buffer.toString()).split('\n');
    this.#rest = lines.pop() as string;
    for (const line of lines) this.#take((JSON.parse(line) as { data: { line: string } }).data.line);
  }

  #take(line: string): void {
    const number = Number(/^id:(\d+):/.exec(line)?.[1]);
    if (number < this.next && this.again < this.#rotations * MAX_IN_FLIGHT) {
      this.again++;
      return;
    }
    const isNext = line.startsWith(`id:${this.next}:${this.next};`) && line.endsWith(`end:${this.next};`);
    if (!isNext) this.wrong ??= `wanted line ${this.next}, not ${line.slice(0, 30)}`;
    if (/key_[0-9a-f]|[0-9a-f]_yek/.test(line)) this.wrong ??= `line ${this.next} is not masked`;
    this.next++;
  }
}

it(
  `${SECONDS} s at a high rate with rotations of input and output: every line, in order, in memory that stays flat`,
  async () => {
    const trial = new Trial(fileToDisk({ paths: 'in/a.log', pipeline: `max_in_flight: ${MAX_IN_FLIGHT}` }));
    trial.append('in/a.log', '');
    const child = await trial.run();
    const output = new OutputReader(trial);
    const resident: number[] = [];
    const readUpTo = async (line: number) => {
      await trial.until(() => {
        output.read();
        return output.next >= line;
      });
      expect(output.wrong).toBeUndefined();
    };
    const end = performance.now() + SECONDS * 1000;
    for (let burst = 1; performance.now() < end; burst++) {
      trial.append('in/a.log', trial.oracle.lines(BURST));
      if (burst % BURSTS_PER_FILE === 0) {
        fs.rmSync(trial.path('in/a.log.1'), { force: true });
        trial.rename('in/a.log', 'in/a.log.1');
        output.rotate();
        child.kill('SIGHUP');
      }
      // One burst ahead, so that there is always something to do.
      await readUpTo(trial.oracle.written - BURST);
      resident.push(residentMemory(child).now);
      await delay(1);
    }
    await readUpTo(trial.oracle.written);
    expect(output.next).toBe(trial.oracle.written);
    expect(await kill(child, 'SIGTERM')).toMatchObject({ code: 0 });
    expect(trial.verdict().leaks).toEqual([]);

    const quarter = Math.floor(resident.length / 4);
    const second = median(resident.slice(quarter, 2 * quarter));
    const last = median(resident.slice(-quarter));
    process.stderr.write(
      `${trial.oracle.written} lines in ${SECONDS} s, ${output.again} of them again; resident: ${second.toFixed(0)} MB in the second quarter, ` +
        `${last.toFixed(0)} MB in the last\n`,
    );
    expect(last - second).toBeLessThan(SAWTOOTH);
  },
  (SECONDS + 120) * 1000,
);
