import type { FollowedFile } from './followed-file.ts';

/** How many bytes are known of and not read, over all files. */
export class Backlog {
  readonly #unread = new Map<FollowedFile, number>();
  readonly #onChange: (bytes: number) => void;
  #bytes = 0;
  #reported = 0;

  constructor(onChange: (bytes: number) => void) {
    this.#onChange = onChange;
  }

  /** `file` was found, or something about it has changed. */
  count(file: FollowedFile): void {
    const { unread } = file;
    this.#bytes += unread - (this.#unread.get(file) ?? 0);
    this.#unread.set(file, unread);
  }

  remove(file: FollowedFile): void {
    this.#bytes -= this.#unread.get(file) ?? 0;
    this.#unread.delete(file);
  }

  /** Reports the sum if it is not the one that was reported last. */
  report(): void {
    if (this.#bytes === this.#reported) return;
    this.#reported = this.#bytes;
    this.#onChange(this.#bytes);
  }
}
