/** Where followed files report to; any logger fits. Never given content. */
export interface FollowLog {
  warn(message: string, fields: Record<string, unknown>): void;
  info(message: string, fields: Record<string, unknown>): void;
}

/** Reports what is wrong with a path once, until it is over or something else is wrong. */
export class Problems {
  readonly #log: FollowLog;
  readonly #known = new Map<string, string>();

  constructor(log: FollowLog) {
    this.#log = log;
  }

  report(path: string, code: string, message: string): void {
    if (this.#known.get(path) === code) return;
    this.#known.set(path, code);
    this.#log.warn(message, { path, code });
  }

  over(path: string): void {
    this.#known.delete(path);
  }
}
