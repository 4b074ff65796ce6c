const LEVELS: Readonly<Record<string, readonly string[]>> = {
  trace: ['trace', 'trc', 'trce', 'verbose', 'silly', 'finer', 'finest', 't', 'v', '10'],
  debug: ['debug', 'dbg', 'dbug', 'fine', 'config', 'http', 'd', '7', '20'],
  info: ['info', 'information', 'informational', 'inf', 'notice', 'log', 'i', 'n', '5', '6', '30'],
  warn: ['warn', 'warning', 'wrn', 'w', '4', '40'],
  error: ['error', 'err', 'severe', 'fail', 'e', '3', '50'],
  fatal: [
    ...['fatal', 'ftl', 'critical', 'crit', 'alert', 'emerg', 'emergency', 'panic', 'f', 'c'],
    ...['0', '1', '2', '60'],
  ],
};
const BY_NAME = new Map(
  Object.entries(LEVELS).flatMap(([level, names]) => names.map((name) => [name, level])),
);

/** Characters. */
const LONGEST = 64;
export const ESCAPE = '\u001b';
/** Of terminals. */
export const COLOUR = new RegExp(String.raw`${ESCAPE}\[[\d;]*m`, 'g');
/** Spaces, and brackets or a colon around the word. */
const AROUND = /^[\s[(<]+|[\s\])>:]+$/g;
/** `debug1`, `trace8`, `INFO2`. */
const GRADE = /^([a-z]+)\d$/;

/**
 * `trace`, `debug`, `info`, `warn`, `error` or `fatal`, of the usual names, of their first letters as klog writes them, of
 * the severities 0 to 7 of syslog, and of pino's numbers.
 */
export function recogniseLevel(value: unknown): string | undefined {
  if (typeof value !== 'number' && typeof value !== 'string') return undefined;
  const text = String(value);
  if (text.length > LONGEST) return undefined;
  const name = text.toLowerCase();
  return BY_NAME.get(name) ?? byPlainName(name.replace(COLOUR, '').replace(AROUND, ''));
}

const byPlainName = (name: string) => BY_NAME.get(name) ?? BY_NAME.get(GRADE.exec(name)?.[1] ?? '');
