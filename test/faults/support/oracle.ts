import fs from 'node:fs';
import { join } from 'node:path';
import { seededRandom } from '../../support/context.ts';
import { SEED } from './form.ts';

/** What the pipelines of the suite mask, as a rule of `regex_mask`. */
export const KEY_RULE = 'key_[0-9a-f]{8}-[0-9a-f]{8}_yek';
/** Any part of a key: its start, its end, its middle. */
const KEY_PART = /key_[0-9a-f]|[0-9a-f]_yek|[0-9a-f]{8}-[0-9a-f]{8}/g;
const ID = /\bid:(\d+):\d+;/g;

/** What became of the lines. A test expects all of it, so that a failure shows the seed. */
export interface Verdict {
  readonly seed: number;
  /** Lines that did not come. */
  readonly lost: number;
  /** How many came too often, over all outputs together. */
  readonly doubled: number;
  /** Documents that are no JSON, and lines that are not as they were written. */
  readonly torn: number;
  /** Files, or logs, with a part of a key that was not masked. */
  readonly leaks: readonly string[];
}

/** Where to look: files, or folders with all that is in them. */
export interface Places {
  /** JSON, one document a line or one a file. */
  readonly outputs: readonly string[];
  /** Searched for keys alone. */
  readonly others: readonly string[];
  /** What processes said, by name. */
  readonly logs: Readonly<Record<string, string>>;
  /** How often a line is to be there, by its number. Default: once. */
  readonly copies?: (id: number) => number;
}

/** Writes lines that can be told apart, every third with a key in it, and judges what came of them. */
export class Oracle {
  readonly seed: number;
  readonly random: () => number;
  #written = 0;

  constructor(seed = SEED) {
    this.seed = seed;
    this.random = seededRandom(seed);
  }

  /** How many lines there are so far. */
  get written(): number {
    return this.#written;
  }

  /** A whole number from `least` to `most`. */
  between(least: number, most: number): number {
    return least + Math.floor(this.random() * (most - least + 1));
  }

  /** The next `count` lines, each with its newline. */
  lines(count: number): string {
    let text = '';
    for (let n = 0; n < count; n++) text += `${this.line()}\n`;
    return text;
  }

  /** The next line, without a newline. `pad` is what it has between its halves. */
  line(pad = 'x'.repeat(this.between(0, 60))): string {
    const id = this.#written++;
    const secret = id % 3 === 0 ? ` ${this.key()} ` : ' ';
    // The same number twice: a line that lost its middle is seen.
    return `id:${id}:${id};${pad}${secret}end:${id};`;
  }

  /** A key of its own. */
  key(): string {
    const half = () => this.between(0, 0xffffffff).toString(16).padStart(8, '0');
    return `key_${half()}-${half()}_yek`;
  }

  /** How often each line is in the outputs, by number. */
  found(outputs: readonly string[]): ReadonlyMap<number, number> {
    return count(outputs.flatMap(filesIn)).found;
  }

  verdict({ outputs, others, logs, copies = () => 1 }: Places): Verdict {
    const files = outputs.flatMap(filesIn);
    const { found, torn } = count(files);
    let lost = 0;
    let doubled = 0;
    for (let id = 0; id < this.#written; id++) {
      const tooMany = (found.get(id) ?? 0) - copies(id);
      if (tooMany < 0) lost -= tooMany;
      else doubled += tooMany;
    }
    const unknown = [...found.keys()].filter((id) => id >= this.#written).length;
    const texts = [...files, ...others.flatMap(filesIn)].map((path) => [path, read(path)] as const);
    const leaks = [...texts, ...Object.entries(logs)].flatMap(([name, text]) =>
      [...text.matchAll(KEY_PART)].slice(0, 1).map(({ index }) => `${name}, at ${index}`),
    );
    return { seed: this.seed, lost, doubled, torn: torn + unknown, leaks };
  }
}

function count(files: readonly string[]): { found: Map<number, number>; torn: number } {
  const found = new Map<number, number>();
  let torn = 0;
  for (const file of files) {
    const text = fs.readFileSync(file, 'utf8');
    for (const document of text.split('\n')) {
      if (document === '') continue;
      const ids = [...document.matchAll(ID)].map(([, id]) => Number(id));
      for (const id of ids) found.set(id, (found.get(id) ?? 0) + 1);
      if (!isWhole(document, ids)) torn++;
    }
  }
  return { found, torn };
}

/** Whether a document is JSON and holds the lines that it begins, to their ends. */
function isWhole(document: string, ids: readonly number[]): boolean {
  try {
    JSON.parse(document);
  } catch {
    return false;
  }
  return ids.every((id) => document.includes(`id:${id}:${id};`) && document.includes(`end:${id};`));
}

function filesIn(path: string): string[] {
  const stats = fs.statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return [];
  if (!stats.isDirectory()) return [path];
  return fs
    .readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

/** Raw bytes, one character each: a key is found whatever else the file is. */
function read(path: string): string {
  return fs.readFileSync(path, 'latin1');
}
