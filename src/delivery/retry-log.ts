import { counted } from '../../operators/counted.ts';
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

  /** `wait` is in milliseconds. `attempts` is how many there may be; undefined: any number. */
  failed(attempt: number, wait: number, error: unknown, attempts?: number): void {
    const text = safeReason(error);
    // A full disk fails now on writing and now on opening.
    const code = (error as { code?: unknown } | null | undefined)?.code;
    const reason = typeof code === 'string' && code.startsWith('E') ? code : text;
    const isNew = this.#reason !== reason;
    if (this.#reason === undefined) this.#troubles++;
    this.#attempts++;
    this.#reason = reason;
    if (!isNew || !isNoteworthy(this.#troubles)) return;
    const which = attempts === undefined ? `attempt ${attempt}` : `attempt ${attempt} of ${attempts}`;
    const next = wait === 0 ? 'trying again at once' : `trying again in ${Math.round(wait)} ms`;
    this.#logger.warn(`${this.#name}: ${which} failed, ${next}: ${text}`);
  }

  delivered(): void {
    if (this.#reason === undefined) return;
    if (isNoteworthy(this.#troubles)) {
      this.#logger.info(`${this.#name}: works again, after ${counted(this.#attempts, 'failed attempt')}`);
    }
    this.#reason = undefined;
    this.#attempts = 0;
  }
}
