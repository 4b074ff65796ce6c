import { printableLines } from '../sdk/printable.ts';
import { loadRxjs } from './load-rxjs.ts';
import type { LogFormat, LogLevel } from './logger.ts';

/** A message on standard error that is not part of the log, such as a usage error. */
export interface Notice {
  readonly level: LogLevel;
  /** For people, without a final newline. It may have several lines; other control characters are escaped. */
  readonly text: string;
  /** Replaces the text with `--log-format json`. */
  readonly message?: string;
  readonly fields?: Readonly<Record<string, unknown>>;
}

export type WriteNotice = (notice: Notice) => void;

/** Writes text, or with `--log-format json` one object per line, so that standard error has only JSON. */
export async function noticesIn(format: LogFormat): Promise<WriteNotice> {
  if (format !== 'json') return ({ text }) => process.stderr.write(`${printableLines(text)}\n`);
  // Loaded on demand, because it imports RxJS.
  loadRxjs();
  const { jsonLine } = await import('./log-line.ts');
  return ({ level, text, message = text, fields }) =>
    process.stderr.write(`${jsonLine({ level, message, ...fields })}\n`);
}

/** The format that a command line asks for, even if the command line is wrong otherwise. */
export function askedFormat(args: readonly string[]): LogFormat {
  const isJson = args.some(
    (arg, i) => arg === '--log-format=json' || (arg === '--log-format' && args[i + 1] === 'json'),
  );
  return isJson ? 'json' : 'pretty';
}
