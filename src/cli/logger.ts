import { Writable } from 'node:stream';
import winston from 'winston';
import type { Logger } from '../models/logger.ts';
import type { Colours } from './colours.ts';
import { jsonLine, prettyLine } from './log-line.ts';

export type LogLevel = 'error' | 'warn' | 'info' | 'debug';
export type LogFormat = 'pretty' | 'json';
export const LOG_LEVELS: readonly LogLevel[] = ['error', 'warn', 'info', 'debug'];
export const LOG_FORMATS: readonly LogFormat[] = ['pretty', 'json'];

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
  const logger = winston.createLogger({
    level,
    levels: { error: 0, warn: 1, info: 2, debug: 3 },
    format: winston.format.printf(print),
    transports: [new winston.transports.Stream({ stream, eol: '\n' })],
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
