import { Writable } from 'node:stream';
import winston from 'winston';
import { isoNow } from '../models/clock.ts';
import type { Logger } from '../models/logger.ts';
import type { Colours } from './colours.ts';
import { printable } from './format.ts';

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

type Entry = Readonly<{ level: string; message: unknown; [field: string]: unknown }>;

/** One JSON object: timestamp, level, message, then the fields. */
export function jsonLine({ level, message, ...fields }: Entry): string {
  const entries = Object.entries({ timestamp: isoNow(), level, message, ...fields });
  const parts = entries.flatMap(([key, value]) => (value === undefined ? [] : `${json(key)}:${json(value)}`));
  return `{${parts.join(',')}}`;
}

/** `12:00:03 info  web: running attempt=2` */
export function prettyLine(colours: Colours, terminal: boolean): (entry: Entry) => string {
  const paint: Record<string, (text: string) => string> = {
    error: colours.red,
    warn: colours.yellow,
    info: colours.green,
    debug: colours.blue,
  };
  return ({ level, message, ...fields }) => {
    const time = colours.dim(terminal ? timeOfDay(isoNow()) : isoNow());
    const name = (paint[level] ?? String)(level.padEnd(5));
    const text = printable(String(message)).replaceAll('\n', '\n  ');
    return `${time} ${name} ${text}${colours.dim(fieldsText(fields))}`;
  };
}

function timeOfDay(iso: string): string {
  return new Date(iso).toTimeString().slice(0, 8);
}

/** ` key=value …` */
function fieldsText(fields: Readonly<Record<string, unknown>>): string {
  let text = '';
  for (const [key, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    const shown = typeof value === 'string' && /^[^\s"=]+$/.test(value) ? value : json(value);
    text += ` ${key}=${shown}`;
  }
  return printable(text);
}

/** JSON of anything a plugin may log. */
function json(value: unknown): string {
  try {
    return JSON.stringify(value, (_key, part) => (typeof part === 'bigint' ? String(part) : part)) ?? 'null';
  } catch {
    return '"(not serialisable)"';
  }
}
