import zlib from 'node:zlib';

// Not a named import, which would keep an older Node.js from loading the module that names the required version.
const { crc32 } = zlib;

/** The header of a record. */
export interface RecordHeader {
  /** The CRC-32 of the events. */
  readonly checksum: number;
  /** The length of the events. */
  readonly bytes: number;
  /** The number of events. */
  readonly events: number;
  /** Milliseconds since 1970. */
  readonly writtenAt: number;
}

/** The length of a header. */
export const HEADER_BYTES = 24;

/**
 * A record: a header, and events as JSON Lines, each with a newline after it. All numbers are little-endian.
 *
 * | Bytes    | Header                                              |
 * | -------- | --------------------------------------------------- |
 * | 0 to 3   | CRC-32 of the other 20 bytes                        |
 * | 4 to 7   | CRC-32 of the events                                |
 * | 8 to 11  | length of the events in bytes                       |
 * | 12 to 15 | number of events                                    |
 * | 16 to 23 | when it was written, in milliseconds since 1970     |
 */
export function encodeRecord(documents: Buffer, events: number, writtenAt: number): Buffer {
  const record = Buffer.concat([Buffer.alloc(HEADER_BYTES), documents]);
  record.writeUInt32LE(crc32(documents), 4);
  record.writeUInt32LE(documents.length, 8);
  record.writeUInt32LE(events, 12);
  record.writeDoubleLE(writtenAt, 16);
  record.writeUInt32LE(crc32(record.subarray(4, HEADER_BYTES)), 0);
  return record;
}

/** Undefined if these are not the bytes of a header: it was torn by a crash, or the disk has damaged it. */
export function decodeHeader(header: Buffer): RecordHeader | undefined {
  if (header.length < HEADER_BYTES) return undefined;
  if (crc32(header.subarray(4, HEADER_BYTES)) !== header.readUInt32LE(0)) return undefined;
  return {
    checksum: header.readUInt32LE(4),
    bytes: header.readUInt32LE(8),
    events: header.readUInt32LE(12),
    writtenAt: header.readDoubleLE(16),
  };
}

/** Whether these are the events that were written with this header. */
export function isWhole({ checksum, bytes }: RecordHeader, documents: Buffer): boolean {
  return documents.length === bytes && crc32(documents) === checksum;
}
