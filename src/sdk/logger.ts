/** What the engine and its plugins log to. A winston logger fits. Never pass an event's content. */
export interface Logger {
  error(message: string, fields?: Record<string, unknown>): void;
  warn(message: string, fields?: Record<string, unknown>): void;
  info(message: string, fields?: Record<string, unknown>): void;
  debug(message: string, fields?: Record<string, unknown>): void;
}

const ignore = () => {};

/** Logs nothing: the default of an embedded Manager, whose `states$` and `stats` tell all that is logged. */
export const silentLogger: Logger = { error: ignore, warn: ignore, info: ignore, debug: ignore };
