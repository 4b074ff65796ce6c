import { Writable } from 'node:stream';
import { asyncScheduler } from 'rxjs';
import type { Logger } from '../sdk/context.ts';
import { jsonLine, prettyLine } from './log-line.ts';
import type { Colours } from './terminal.ts';

export type LogLevel = 'error' | 'warn' | 'info' | 'debug';
export type LogFormat = 'pretty' | 'json';

const LEVELS = { error: 0, warn: 1, info: 2, debug: 3 } satisfies Record<LogLevel, number>;

/** winston has 80 files. A start must not wait for them: the first events are delivered before this time is over. */
const WINSTON_AFTER_MS = 500;

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

type Entry = Readonly<{ level: LogLevel; message: string; [field: string]: unknown }>;
type Log = (entry: Entry) => void;
type Print = (entry: Entry) => string;

/**
 * The logger of the process: every line goes to `write`. winston takes over shortly after the start; until then, and if
 * it cannot be loaded, the lines are written here, the same ones.
 */
export function createLogger(options: LoggerOptions): Logger {
  const { level, format, colours, terminal, write } = options;
  const print: Print = format === 'json' ? jsonLine : prettyLine(colours, terminal);
  let log: Log = (entry) => {
    if (LEVELS[entry.level] <= LEVELS[level]) write(`${print(entry)}\n`);
  };
  asyncScheduler.schedule(async () => {
    // It cannot be loaded while no file can be opened, or amid an update: the run goes on with the same lines.
    log = await winstonLog(options, print).catch(() => log);
  }, WINSTON_AFTER_MS);
  // winston's own methods return the logger, which is a stream: a plugin that ends in `return logger.info(…)`
  // would seem to return events.
  const logAt =
    (at: LogLevel): Logger['info'] =>
    (message, fields) =>
      log({ ...fields, level: at, message });
  return { error: logAt('error'), warn: logAt('warn'), info: logAt('info'), debug: logAt('debug') };
}

/** Logs with winston. */
async function winstonLog({ level, write }: LoggerOptions, print: Print): Promise<Log> {
  const [{ default: createWinstonLogger }, { default: StreamTransport }] = await Promise.all([
    // Not `winston` itself, which creates a default logger with all transports when it is loaded.
    import('winston/lib/winston/create-logger.js'),
    import('winston/lib/winston/transports/stream.js'),
  ]);
  const stream = new Writable({
    decodeStrings: false,
    write(line, _encoding, done) {
      write(line as string);
      done();
    },
  });
  const logger = createWinstonLogger({
    level,
    levels: LEVELS,
    format: { transform: (entry) => Object.assign(entry, { [MESSAGE]: print(entry as Entry) }) },
    transports: [new StreamTransport({ stream, eol: '\n' })],
  });
  return (entry) => void logger.log({ ...entry });
}
