import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { StateValue } from '../models/index.ts';

/** The version of all that is written below. A store of a later one is refused, never rewritten. */
export const FORMAT = 1;

/** The key of the header, which no record has: those are hexadecimal. */
export const HEADER_KEY = 'header';

/** One thing that one collector of one pipeline remembers. */
export interface StateEntry {
  readonly pipeline: string;
  readonly collector: string;
  readonly key: string;
  readonly value: StateValue;
}

/** Stands in every transaction, so that records that vanished are missed. */
export interface Header {
  readonly format: number;
  /** The number of records. */
  readonly entries: number;
  /** The boot of the machine that wrote it: what was not flushed does not outlive it. */
  readonly boot: string;
  /** In a copy that was made at a stop: the digest of the store as it was left. */
  readonly store?: string | undefined;
}

/** Keys have a fixed length, since LMDB limits theirs and names are free. */
export function recordKey({ pipeline, collector, key }: Omit<StateEntry, 'value'>): string {
  return createHash('sha256')
    .update(JSON.stringify([pipeline, collector, key]))
    .digest('hex')
    .slice(0, 32);
}

/** JSON behind its checksum: LMDB has none of its own. */
export function encode(content: StateEntry | Header): string {
  const text = JSON.stringify(content);
  return `${checksum(text)} ${text}`;
}

/** Undefined for what is damaged. */
export function decodeEntry(record: string): StateEntry | undefined {
  const content = decode(record);
  const isEntry = typeof content?.pipeline === 'string' && typeof content.collector === 'string';
  return isEntry && typeof content.key === 'string' ? (content as unknown as StateEntry) : undefined;
}

/** Undefined for what is damaged. */
export function decodeHeader(record: string): Header | undefined {
  const content = decode(record);
  return typeof content?.format === 'number' ? (content as unknown as Header) : undefined;
}

function decode(record: string): Record<string, unknown> | undefined {
  const text = record.slice(9);
  if (record.slice(0, 9) !== `${checksum(text)} `) return undefined;
  return JSON.parse(text);
}

function checksum(text: string): string {
  return crc32(text).toString(16).padStart(8, '0');
}
