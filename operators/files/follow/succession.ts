import type { FollowedFile } from './followed-file.ts';

/** A file that took the path of another one, which something may still be written to. */
interface Successor {
  readonly predecessor: FollowedFile;
  /** It is not read until the predecessor is read to its end. */
  isHeldBack: boolean;
  /**
   * It may be read up to this offset. It was as long when the predecessor was last read to its end, so what was written to
   * the predecessor before these bytes has been read.
   */
  readableEnd: number;
}

/**
 * The order of files that were at one path, one after the other: the lines of each come before those of its successors,
 * because a program that has it open may go on writing to it before it writes to them.
 */
export class Succession {
  readonly #successors = new Map<FollowedFile, Successor>();
  readonly #byPredecessor = new Map<FollowedFile, FollowedFile[]>();

  add(file: FollowedFile, predecessor: FollowedFile): void {
    this.#successors.set(file, { predecessor, isHeldBack: false, readableEnd: 0 });
    const others = this.#byPredecessor.get(predecessor) ?? [];
    this.#byPredecessor.set(predecessor, [...others, file]);
  }

  isHeldBack(file: FollowedFile): boolean {
    return this.#successors.get(file)?.isHeldBack === true;
  }

  /** The offset up to which `file` may be read; undefined if nothing comes before it. */
  readableEndOf(file: FollowedFile): number | undefined {
    return this.#successors.get(file)?.readableEnd;
  }

  /** `file` was this long before its predecessor is read to its end once more. */
  measured(file: FollowedFile, size: number): void {
    const successor = this.#successors.get(file);
    if (successor !== undefined) successor.readableEnd = size;
  }

  /** Returns the predecessor, which is to be read first; undefined if there is none. */
  holdBack(file: FollowedFile): FollowedFile | undefined {
    const successor = this.#successors.get(file);
    if (successor !== undefined) successor.isHeldBack = true;
    return successor?.predecessor;
  }

  /** Returns the successors that were held back, and may be read for now. */
  release(predecessor: FollowedFile): readonly FollowedFile[] {
    const released: FollowedFile[] = [];
    for (const file of this.#byPredecessor.get(predecessor) ?? []) {
      const successor = this.#successors.get(file);
      if (successor?.isHeldBack !== true) continue;
      successor.isHeldBack = false;
      released.push(file);
    }
    return released;
  }

  /** Nothing more is expected in `predecessor`. Returns the successors that were held back. */
  end(predecessor: FollowedFile): readonly FollowedFile[] {
    const successors = this.#byPredecessor.get(predecessor);
    if (successors === undefined) return [];
    const released = this.release(predecessor);
    for (const file of successors) this.#successors.delete(file);
    this.#byPredecessor.delete(predecessor);
    return released;
  }

  /** `file` is not read any more. Returns the successors that were held back. */
  remove(file: FollowedFile): readonly FollowedFile[] {
    const predecessor = this.#successors.get(file)?.predecessor;
    this.#successors.delete(file);
    if (predecessor !== undefined) {
      const others = (this.#byPredecessor.get(predecessor) ?? []).filter((other) => other !== file);
      if (others.length === 0) this.#byPredecessor.delete(predecessor);
      else this.#byPredecessor.set(predecessor, others);
    }
    return this.end(file);
  }
}
