import { isUtf8 } from 'node:buffer';
import {
  type CollectedEvent,
  collectedEvent,
  isEvent,
  PluginError,
  parseJson,
  toUtc,
  WrittenEvents,
} from '../../src/sdk/index.ts';

/** How a message of a broker, or the body of a request, holds its events. */
type MessageFormat = 'events' | 'json' | 'lines';

/**
 * The events of a message. An empty line is none.
 *
 * @param source of lines.
 * @throws PluginError if the message does not have that format; it quotes nothing of the message.
 */
export function readEvents(
  data: Uint8Array,
  source: string,
  format: MessageFormat,
): WrittenEvents | readonly CollectedEvent[] {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  const written = format === 'events' ? WrittenEvents.recognise(bytes) : undefined;
  if (written !== undefined) return written;
  if (!isUtf8(data)) throw new PluginError('the message is not UTF-8');
  const lines = bytes.toString().split('\n');
  if (lines.at(-1) === '') lines.pop();
  if (format === 'lines') {
    return lines.map((line) => collectedEvent({ line: line.replace(/\r$/, ''), source }));
  }
  if (format === 'json') {
    return lines.flatMap((line, index) =>
      line.trim() === '' ? [] : [collectedEvent(objectOf(line, index))],
    );
  }
  let isWritten = true;
  // Lines that were read together have the same one.
  let known: { readonly text: string; readonly utc: string | undefined } | undefined;
  const events = lines.flatMap((line, index): CollectedEvent[] => {
    if (line.trim() === '') {
      isWritten = false;
      return [];
    }
    const value = objectOf(line, index);
    if (!isEvent(value))
      throw new PluginError(`line ${index + 1} of the message is not an event: no object \`data\``);
    const text = value.timestamp;
    if (typeof text === 'string' && known?.text !== text) known = { text, utc: toUtc(text) };
    const timestamp = typeof text === 'string' ? known?.utc : undefined;
    if (timestamp === undefined) {
      throw new PluginError(`line ${index + 1} of the message is not an event: no ISO 8601 \`timestamp\``);
    }
    if (timestamp === value.timestamp) return [value];
    isWritten = false;
    return [{ ...value, timestamp }];
  });
  if (!isWritten) return events;
  const documents = bytes.at(-1) === LF ? bytes : Buffer.concat([bytes, NEWLINE]);
  return new WrittenEvents(documents, events.length, events);
}

const LF = 0x0a;
const NEWLINE = Buffer.from('\n');

function objectOf(line: string, index: number): Record<string, unknown> {
  let value: unknown;
  try {
    value = parseJson(line);
  } catch {
    throw new PluginError(`line ${index + 1} of the message is not JSON`);
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw new PluginError(`line ${index + 1} of the message is not a JSON object`);
}
