import { readFile, rm, writeFile } from 'node:fs/promises';
import { printable } from '../../sdk/printable.ts';
import { toJson } from '../../sdk/serialise.ts';
import { diffOf } from '../aligned-rows.ts';
import { timeText } from '../draw/value-text.ts';
import type { Finding, ReceivedEvent } from './received.ts';

const HEAD = '# Written by `millrace test --update`. Review its changes like those of code.\n';
/** Unchanged lines that are shown around a difference. */
const CONTEXT = 2;

/** The snapshots of the tests of a file: what entries got when they were last updated. */
export class Snapshots {
  readonly #path: string;
  readonly #stored: ReadonlyMap<string, readonly string[]>;
  readonly #received = new Map<string, readonly string[]>();
  readonly #isUpdating: boolean;

  private constructor(path: string, text: string, isUpdating: boolean) {
    this.#path = path;
    this.#stored = parse(text);
    this.#isUpdating = isUpdating;
  }

  /**
   * The snapshots next to a file of tests: `web.snapshot` for `web.yaml`.
   *
   * @param isUpdating whether received events replace the snapshot instead of being compared with it
   */
  static async beside(file: string, isUpdating: boolean): Promise<Snapshots> {
    const path = `${file.replace(/\.ya?ml$/, '')}.snapshot`;
    const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return '';
      throw error;
    });
    return new Snapshots(path, text, isUpdating);
  }

  /** How what an entry received differs from its snapshot. */
  check(test: string, entry: string, received: readonly ReceivedEvent[]): Finding[] {
    const key = printable(`${test}: ${entry}`);
    const lines = received.map(({ at, event }) => printable(`${timeText(at)}  ${toJson(event.data)}`));
    this.#received.set(key, lines);
    if (this.#isUpdating) return [];
    const stored = this.#stored.get(key);
    const path = ['snapshot'];
    if (stored === undefined) {
      const message = 'there is no snapshot yet; `millrace test --update` writes it';
      return [{ path, message, details: lines.map((line) => `+ ${line}`).join('\n') }];
    }
    if (stored.length === lines.length && stored.every((line, index) => line === lines[index])) return [];
    const message = `the events are not those of the snapshot in ${this.#path}; if they are right, run with --update`;
    return [{ path, message, details: diffOf(stored, lines, CONTEXT) }];
  }

  /**
   * Writes what was received.
   *
   * @param isComplete whether all tests ran, so that snapshots of others can go
   */
  async save(isComplete: boolean): Promise<void> {
    const all = new Map([...(isComplete ? [] : this.#stored), ...this.#received]);
    if (all.size === 0) {
      if (this.#stored.size > 0) await rm(this.#path);
      return;
    }
    const sections = [...all].map(
      ([key, lines]) => `${JSON.stringify(key)}\n${lines.map((line) => `  ${line}\n`).join('')}`,
    );
    await writeFile(this.#path, [HEAD, ...sections].join('\n'), { mode: 0o644 });
  }
}

/** Lines below their headings, which are JSON strings. */
function parse(text: string): Map<string, string[]> {
  const found = new Map<string, string[]>();
  let lines: string[] = [];
  for (const line of text.split(/\r?\n/)) {
    if (line.startsWith('  ')) lines.push(line.slice(2));
    else if (line.startsWith('"')) {
      lines = [];
      found.set(JSON.parse(line), lines);
    }
  }
  return found;
}
