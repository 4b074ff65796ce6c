import { printableLines } from '../sdk/printable.ts';
import type { LogFormat, LogLevel } from './logger.ts';

/** What is said on standard error beside the log: what is wrong, what to try, that there is nothing to list. */
export interface Notice {
  readonly level: LogLevel;
  /** For people, without the newline at its end. It may have several lines; what else is in it is made printable. */
  readonly text: string;
  /** What a line of JSON has in place of the text. */
  readonly message?: string;
  readonly fields?: Readonly<Record<string, unknown>>;
}

export type WriteNotice = (notice: Notice) => void;

/** As text, or with `--log-format json` as one object a line, so that standard error holds nothing else. */
export async function noticesIn(format: LogFormat): Promise<WriteNotice> {
  if (format !== 'json') return ({ text }) => process.stderr.write(`${printableLines(text)}\n`);
  // Loaded when it is needed: it brings RxJS's clock.
  const { jsonLine } = await import('./log-line.ts');
  return ({ level, text, message = text, fields }) =>
    process.stderr.write(`${jsonLine({ level, message, ...fields })}\n`);
}

/** The format that a command line asks for, be it wrong in other respects. */
export function askedFormat(args: readonly string[]): LogFormat {
  const isJson = args.some(
    (arg, i) => arg === '--log-format=json' || (arg === '--log-format' && args[i + 1] === 'json'),
  );
  return isJson ? 'json' : 'pretty';
}
