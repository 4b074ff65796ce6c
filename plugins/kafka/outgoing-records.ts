import * as cel from '@marcbachmann/cel-js';
import { asyncScheduler } from 'rxjs';
import {
  type CollectedEvent,
  type FailedEvent,
  PluginError,
  serialise,
  toJson,
} from '../../src/sdk/index.ts';
import { encodeEach } from '../encode-each.ts';
import { CelExpression } from '../expressions/cel.ts';
import { fieldPath, getField } from '../expressions/fields.ts';
import { hasBytes } from '../has-bytes.ts';
import type { OutgoingRecord } from './record-writer.ts';
import { isTopic } from './settings.ts';

export const PAYLOADS = ['event', 'flat', 'line'] as const;

interface RecordSettings {
  readonly topic: string | { readonly cel: string };
  readonly key?: string | { readonly cel: string } | undefined;
  readonly payload: (typeof PAYLOADS)[number];
}

/** A record with the position of its event in the call. */
export interface EventRecord extends OutgoingRecord {
  readonly topic: string;
  readonly index: number;
}

/** The records of a call, and the events that have none. */
export interface EventRecords {
  readonly records: readonly EventRecord[];
  readonly failed: readonly FailedEvent[];
}

interface RecordSource {
  ofEvents(events: readonly CollectedEvent[]): EventRecords;
  /** Records of events that are JSON already; undefined if the events are needed. The lines may be written to again. */
  readonly ofLines: ((lines: Buffer) => EventRecords) | undefined;
}

/** How events become records. */
export function recordsFrom({ topic, key, payload }: RecordSettings): RecordSource {
  const topicOf = typeof topic === 'string' ? () => topic : evaluated(topic);
  const keyOf = key === undefined ? () => undefined : typeof key === 'string' ? fieldOf(key) : evaluated(key);
  const record = (event: CollectedEvent, index: number): EventRecord => ({
    topic: checkedTopic(topicOf(event)),
    key: keyBytes(keyOf(event)),
    value: Buffer.from(text(event, payload)),
    timestamp: recordTime(event.timestamp, asyncScheduler.now()),
    index,
  });
  const isPlain = typeof topic === 'string' && key === undefined && payload === 'event';
  return {
    ofEvents(events) {
      const { encoded: records, refused: failed } = encodeEach(events, record);
      return { records, failed };
    },
    ofLines: isPlain
      ? (lines) => {
          const timeOf = lineTimes();
          const records = linesIn(Buffer.from(lines)).map((value, index) => {
            const timestamp = timeOf(value);
            return { topic, key: undefined, value, timestamp, index };
          });
          return { records, failed: [] };
        }
      : undefined,
  };
}

function evaluated({ cel: source }: { readonly cel: string }): (event: CollectedEvent) => unknown {
  const compiled = new CelExpression(source, cel);
  return (event) => compiled.of(event);
}

function fieldOf(name: string): (event: CollectedEvent) => unknown {
  const path = fieldPath(name);
  return (event) => getField(event.data, path);
}

function checkedTopic(topic: unknown): string {
  if (isTopic(topic)) return topic;
  throw new PluginError(
    'the expression of `topic` gave what is no name of a topic: letters, digits, dots, `_` and `-`, up to 249 characters',
  );
}

function keyBytes(key: unknown): Buffer | undefined {
  if (key === undefined || key === null) return undefined;
  if (typeof key === 'object')
    throw new PluginError('`key` is an object or a list; it has to be a string or a number');
  return Buffer.from(String(key));
}

function text(event: CollectedEvent, payload: RecordSettings['payload']): string {
  if (payload === 'flat') return toJson({ timestamp: event.timestamp, ...event.data });
  const { line } = event.data;
  return payload === 'line' && typeof line === 'string' ? line : serialise(event);
}

/** The time of an event, or `now` if it is later: a broker refuses records of the future. */
function recordTime(timestamp: string, now: number): bigint {
  const time = Date.parse(timestamp);
  return BigInt(Number.isNaN(time) ? now : Math.min(time, now));
}

/** How a serialised event starts, before its time. */
const START = '{"timestamp":"';
const QUOTE = 0x22;
const NOTHING = Buffer.alloc(0);

/** Gives the times of serialised events. Those that follow each other often have the same one. */
function lineTimes(): (line: Buffer) => bigint {
  const now = asyncScheduler.now();
  let last: Buffer = NOTHING;
  let time = BigInt(now);
  return (line) => {
    if (last.length > 0 && hasBytes(line, last)) return time;
    last = line.subarray(0, line.indexOf(QUOTE, START.length) + 1);
    const start = last.toString('latin1', 0, last.length - 1);
    time = start.startsWith(START) ? recordTime(start.slice(START.length), now) : BigInt(now);
    return time;
  };
}

/** The lines, without a copy. */
function linesIn(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  for (let start = 0, end = 0; start < bytes.length; start = end + 1) {
    end = bytes.indexOf(0x0a, start);
    if (end < 0) end = bytes.length;
    lines.push(bytes.subarray(start, end));
  }
  return lines;
}
