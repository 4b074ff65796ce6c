import { isoNow } from '../../operators/internal.ts';
import { printable, printableJson } from '../sdk/printable.ts';
import type { Colours } from './terminal.ts';

/** One entry of a log. */
type Entry = Readonly<{ level: string; message: unknown; [field: string]: unknown }>;

/** One JSON object: timestamp, level, message, then the fields. */
export function jsonLine({ level, message, ...fields }: Entry): string {
  const entries = Object.entries({ timestamp: isoNow(), level, message, ...fields });
  const parts = entries.flatMap(([key, value]) => (value === undefined ? [] : `${json(key)}:${json(value)}`));
  return printableJson(`{${parts.join(',')}}`);
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
    // A line break would let a name in a message start a line that looks like another entry.
    return `${time} ${name} ${printable(String(message))}${colours.dim(fieldsText(fields))}`;
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
