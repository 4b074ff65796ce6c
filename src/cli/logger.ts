import { Writable } from 'node:stream';
// Not `winston` itself, which creates a default logger with all transports when it is loaded.
import createWinstonLogger from 'winston/lib/winston/create-logger.js';
import StreamTransport from 'winston/lib/winston/transports/stream.js';
import type { Logger } from '../sdk/context.ts';
import { jsonLine, prettyLine } from './log-line.ts';
import type { Colours } from './terminal.ts';

export type LogLevel = 'error' | 'warn' | 'info' | 'debug';
export type LogFormat = 'pretty' | 'json';

/** Where winston looks for the formatted line. */
const MESSAGE = Symbol.for('message');

export interface LoggerOptions {
  readonly level: LogLevel;
  readonly format: LogFormat;
  readonly colours: Colours;
  /** Lines on a terminal are read at once and get the local time of day; others get the whole date in UTC. */
  readonly terminal: boolean;
  /** Takes one line, newline included. */
  write(line: string): void;
}

/** A winston logger of the process: every line goes to `write`. */
export function createLogger({ level, format, colours, terminal, write }: LoggerOptions): Logger {
  const stream = new Writable({
    decodeStrings: false,
    write(line, _encoding, done) {
      write(line as string);
      done();
    },
  });
  const print = format === 'json' ? jsonLine : prettyLine(colours, terminal);
  const logger = createWinstonLogger({
    level,
    levels: { error: 0, warn: 1, info: 2, debug: 3 },
    format: { transform: (entry) => Object.assign(entry, { [MESSAGE]: print(entry) }) },
    transports: [new StreamTransport({ stream, eol: '\n' })],
  });
  // winston's own methods return the logger, which is a stream: a plugin that ends in `return logger.info(…)`
  // would seem to return events.
  return {
    error: (message, fields) => void logger.error(message, fields),
    warn: (message, fields) => void logger.warn(message, fields),
    info: (message, fields) => void logger.info(message, fields),
    debug: (message, fields) => void logger.debug(message, fields),
  };
}
