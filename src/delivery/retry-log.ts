import { safeReason } from '../errors.ts';
import type { Logger } from '../models/index.ts';
import { isNoteworthy } from '../noteworthy.ts';

/**
 * Logs that a forwarder fails, once for each reason and not once for each attempt, and that it works again. One that
 * fails every now and then is logged ever more rarely.
 */
export class RetryLog {
  readonly #name: string;
  readonly #logger: Logger;
  #reason: string | undefined;
  #attempts = 0;
  #troubles = 0;

  /** `name` is that of the pipeline and the forwarder, as in `main: forwarder archive`. */
  constructor(name: string, logger: Logger) {
    this.#name = name;
    this.#logger = logger;
  }

  /** `wait` is in milliseconds. */
  failed(attempt: number, wait: number, error: unknown): void {
    const text = safeReason(error);
    // A full disk fails now on writing and now on opening.
    const code = (error as { code?: unknown } | null | undefined)?.code;
    const reason = typeof code === 'string' && code.startsWith('E') ? code : text;
    const isNew = this.#reason !== reason;
    if (this.#reason === undefined) this.#troubles++;
    this.#attempts++;
    this.#reason = reason;
    if (!isNew || !isNoteworthy(this.#troubles)) return;
    this.#logger.warn(
      `${this.#name} failed (attempt ${attempt}), trying again in ${Math.round(wait)} ms: ${text}`,
    );
  }

  delivered(): void {
    if (this.#reason === undefined) return;
    if (isNoteworthy(this.#troubles)) {
      this.#logger.info(`${this.#name} works again, after ${this.#attempts} failed attempts`);
    }
    this.#reason = undefined;
    this.#attempts = 0;
  }
}
