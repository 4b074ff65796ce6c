import type { Positions } from './follow-settings.ts';
import type { FoundFile } from './followed-file.ts';
import type { LineBatch } from './line-batch.ts';
import type { FileId } from './regular-file.ts';

/**
 * Where each file is settled up to, so that following can begin again there without losing a line.
 * `offsets` outlives a run: a run with the same map resumes, and files that it does not know are then new ones.
 *
 * @example
 * const offsets = new Map();
 * const positions = new SettledPositions(offsets, { backfill: true });
 * fs.writeFileSync(`${folder}/app.log`, 'one\ntwo\n');
 * const batch$ = followFiles([`${folder}/app.log`], { positions, once: true });
 * await lastValueFrom(batch$.pipe(tap((batch) => positions.settle(batch, true))));
 * [...offsets.values()]; // [8]
 */
export class SettledPositions implements Positions {
  readonly #offsets: Map<FileId, number>;
  readonly #isFromStart: boolean;
  /** Files with lines that were not delivered: what comes after those must not be taken for settled. */
  readonly #stuck = new Set<FileId>();

  constructor(offsets: Map<FileId, number>, { backfill }: { backfill: boolean }) {
    this.#isFromStart = backfill || offsets.size > 0;
    this.#offsets = offsets;
  }

  startAt(file: FoundFile): number {
    const settled = this.#offsets.get(file.id);
    if (settled !== undefined) return settled;
    const offset = file.existed && !this.#isFromStart ? file.size : 0;
    this.#offsets.set(file.id, offset);
    return offset;
  }

  /** To be called in the order of emission. `isDelivered` is false if the lines have to be read again. */
  settle({ id, endOffset }: LineBatch, isDelivered: boolean): void {
    if (!isDelivered) this.#stuck.add(id);
    if (!this.#stuck.has(id)) this.#offsets.set(id, endOffset);
  }

  forget(id: FileId): void {
    if (!this.#stuck.has(id)) this.#offsets.delete(id);
  }
}
