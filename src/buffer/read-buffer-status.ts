import type { BufferStatus } from './event-buffer.ts';
import { ReleasedPosition } from './released-position.ts';
import { type FoundSegment, findSegments } from './segment.ts';

/**
 * How full a buffer is by its files, also while a process is using it. A folder that is not there is an empty buffer.
 *
 * Rejects if the files cannot be read.
 */
export async function readBufferStatus(folder: string): Promise<BufferStatus> {
  const segments = await findAll(folder);
  return {
    bytes: segments.reduce((sum, { bytes }) => sum + bytes, 0),
    events: segments.reduce((sum, { unread }) => sum + unread, 0),
    oldest: segments.find(({ oldest }) => oldest !== undefined)?.oldest,
  };
}

async function findAll(folder: string): Promise<readonly FoundSegment[]> {
  for (;;) {
    try {
      const { position } = ReleasedPosition.open(folder);
      return await findSegments(folder, position);
    } catch (error) {
      const { code, path } = error as NodeJS.ErrnoException;
      if (code !== 'ENOENT') throw error;
      if (path === folder) return [];
      // The process that is using the buffer has removed a segment meanwhile.
    }
  }
}
