import fs from 'node:fs';
import { join } from 'node:path';
import type { Oracle } from './oracle.ts';
import { KEY_RULE } from './oracle.ts';

const KEY = new RegExp(KEY_RULE, 'g');
const ID = /^id:(\d+):/;
const KEY_PART = /key_[0-9a-f]|[0-9a-f]_yek/;
/** Numbers of lines that a message lists. */
const EXAMPLES = 8;

/** What is promised of one line. */
interface Line {
  readonly log: string;
  readonly masked: string;
  /** It was deleted, truncated or written before it was promised: it need not come. */
  mayMiss: boolean;
  /** How often it may come again: once for each kill that may have found it unacknowledged. */
  mayRepeat: number;
  /** A stop acknowledged it: nothing that happens later brings it again. */
  isAcknowledged: boolean;
}

/** What came of the lines of a life. Each list names the lines, at most {@link EXAMPLES} of them. */
export interface Outcome {
  readonly lost: readonly number[];
  readonly twice: readonly number[];
  readonly outOfOrder: readonly number[];
  /** Documents that are no JSON, or hold no line as it was written. */
  readonly torn: readonly string[];
}

interface Documents {
  readonly ids: readonly number[];
  readonly torn: readonly string[];
}

/** Every line of a life, with what the documentation promises of it after all that happened to its file. */
export class Ledger {
  /** Stands at the start of each file, to make files look alike. */
  readonly banner: string;
  readonly #oracle: Oracle;
  readonly #lines: Line[] = [];
  /** Folders with outputs. */
  readonly #outputs: readonly string[];

  constructor(oracle: Oracle, outputs: readonly string[], banner: string) {
    this.#oracle = oracle;
    this.#outputs = outputs;
    this.banner = banner;
  }

  get written(): number {
    return this.#lines.length;
  }

  /** Makes a line, which is `width` characters long at least. */
  line(log: string, width: number, mayMiss: boolean): { id: number; text: string } {
    const id = this.#lines.length;
    const text = this.#oracle.line().padEnd(width, '.');
    const masked = text.replaceAll(KEY, '<:KEY:>');
    this.#lines.push({ log, masked, mayMiss, mayRepeat: 0, isAcknowledged: false });
    return { id, text };
  }

  /** Lines that were deleted: those that no stop has acknowledged may be lost. */
  deleted(ids: Iterable<number>): void {
    for (const id of ids) {
      const line = this.#lines[id] as Line;
      line.mayMiss ||= !line.isAcknowledged;
    }
  }

  /** Lines of a file that was found although it need not have been. */
  promised(ids: Iterable<number>): void {
    for (const id of ids) (this.#lines[id] as Line).mayMiss = false;
  }

  /** What was not acknowledged may come again. */
  mayRepeat(): void {
    for (const line of this.#lines) if (!line.isAcknowledged) line.mayRepeat++;
  }

  /** After a stop that drained: what has come is acknowledged. */
  stopped(): void {
    for (const id of this.delivered()) (this.#lines[id] as Line).isAcknowledged = true;
  }

  /** The lines that have come, by number. */
  delivered(): ReadonlySet<number> {
    return new Set(this.#documents().ids);
  }

  /** How many lines have to come yet. */
  get missing(): number {
    return this.#lost(this.delivered()).length;
  }

  outcome({ isOrdered }: { isOrdered: boolean }): Outcome {
    const { ids, torn } = this.#documents();
    const counts = new Map<number, number>();
    const last = new Map<string, number>();
    const outOfOrder: number[] = [];
    for (const id of ids) {
      const count = (counts.get(id) ?? 0) + 1;
      counts.set(id, count);
      if (count > 1) continue;
      const { log, mayMiss } = this.#lines[id] as Line;
      // A file that need not be found may be found late.
      if (mayMiss) continue;
      if (isOrdered && id < (last.get(log) ?? -1)) outOfOrder.push(id);
      last.set(log, Math.max(id, last.get(log) ?? -1));
    }
    const twice = [...counts].filter(([id, count]) => count > 1 + (this.#lines[id] as Line).mayRepeat);
    return { lost: this.#lost(counts), twice: twice.map(([id]) => id), outOfOrder, torn };
  }

  /** Lines that came again, whether that was allowed or not. */
  get repeats(): number {
    const { ids } = this.#documents();
    return ids.length - new Set(ids).size;
  }

  #lost(found: { has(id: number): boolean }): number[] {
    return this.#lines.flatMap(({ mayMiss }, id) => (mayMiss || found.has(id) ? [] : [id]));
  }

  #documents(): Documents {
    const ids: number[] = [];
    const torn: string[] = [];
    for (const path of this.#outputs.flatMap(outputsIn)) {
      for (const document of fs.readFileSync(path, 'utf8').split('\n')) {
        if (document === '') continue;
        const id = this.#idOf(document);
        if (id === undefined) torn.push(document);
        else if (id >= 0) ids.push(id);
      }
    }
    return { ids, torn };
  }

  /** The number of the line in a document; -1 if it holds none, and needs none; undefined if it is not whole. */
  #idOf(document: string): number | undefined {
    let event: { data: { line: string }; truncated?: true };
    try {
      event = JSON.parse(document);
    } catch {
      return undefined;
    }
    const { line } = event.data;
    // What a truncation left of a line is marked, and masked.
    if (event.truncated) return KEY_PART.test(line) ? undefined : -1;
    if (line === this.banner) return -1;
    const id = Number(ID.exec(line)?.[1]);
    return this.#lines[id]?.masked === line ? id : undefined;
  }
}

/** The outputs in a folder in the order in which they were written: `out.jsonl.1`, `out.jsonl.2`, `out.jsonl`. */
function outputsIn(folder: string): string[] {
  if (!fs.existsSync(folder)) return [];
  const number = (name: string) => Number(/\.(\d+)$/.exec(name)?.[1] ?? Infinity);
  const names = fs.readdirSync(folder).filter((name) => name.includes('.jsonl'));
  return names.sort((a, b) => number(a) - number(b)).map((name) => join(folder, name));
}

/** Such as `3 lines (7, 8, 9)`. */
export function listed(what: string, items: readonly unknown[]): string {
  const more = items.length > EXAMPLES ? ', …' : '';
  return `${items.length} ${what} (${items.slice(0, EXAMPLES).join(', ')}${more})`;
}
