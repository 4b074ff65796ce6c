import type { FollowedFile } from './followed-file.ts';

/** Where bytes lie in a file. */
export interface Span {
  readonly start: number;
  readonly length: number;
}

/** What is read of a file before it is asked for. */
export class ReadAhead {
  readonly file: FollowedFile;
  readonly span: Span;
  #isFull: boolean | undefined;
  #ended: ((isFull: boolean) => void) | undefined;

  constructor(file: FollowedFile, span: Span) {
    this.file = file;
    this.span = span;
  }

  get isUnderWay(): boolean {
    return this.#isFull === undefined;
  }

  /** `isFull`: all of it was there. */
  end(isFull: boolean): void {
    this.#isFull = isFull;
    this.#ended?.(isFull);
  }

  /** Calls back at once if it has ended. */
  whenEnded(callback: (isFull: boolean) => void): void {
    if (this.#isFull === undefined) this.#ended = callback;
    else callback(this.#isFull);
  }
}

/** Whether two spans are the same bytes. */
export function isSame(one: Span, other: Span): boolean {
  return one.start === other.start && one.length === other.length;
}
