import { isNativeError } from 'node:util/types';
import type { Logger } from '../sdk/models.ts';

/** What of a state folder cannot be written. */
type Part = 'journal' | 'copy';

/** Reports that a state folder cannot be written to, once, and that it can again. */
export class StateTrouble {
  readonly #folder: string;
  readonly #logger: Logger;
  readonly #parts = new Set<Part>();

  constructor(folder: string, logger: Logger) {
    this.#folder = folder;
    this.#logger = logger;
  }

  has(part: Part): boolean {
    return this.#parts.has(part);
  }

  report(part: Part, error: unknown): void {
    const isKnown = this.#parts.size > 0;
    this.#parts.add(part);
    if (isKnown) return;
    const reason = isNativeError(error) ? error.message : 'an unknown error';
    this.#logger.error(
      `cannot write checkpoints to ${this.#folder}: ${reason}. ` +
        'Delivery goes on; until this is over, a crash makes lines come twice. With `exactly_once` none does: a crash ' +
        `undoes what was written meanwhile, and no new file is begun. Free space, or make it writable`,
    );
  }

  over(part: Part): void {
    if (this.#parts.delete(part) && this.#parts.size === 0) {
      this.#logger.info(`${this.#folder}: checkpoints are written again`);
    }
  }
}
