// Operators and creation functions about files and streams: they need Node. All others: `index.ts`.

// Reading: lines of files as they are written.

export { AcknowledgedPositions } from './files/follow/acknowledged-positions.ts';
export type { FileStatus } from './files/follow/file-system.ts';
export type { FollowLog } from './files/follow/follow-settings.ts';
export { MemoryBudget, readMemory } from './files/follow/process-limits.ts';
export {
  type FileId,
  type FollowSettings,
  type FoundFile,
  followFiles,
  type LineBatch,
  type Positions,
} from './files/follow-files.ts';

// Writing: each write completes when the operating system has it.

export {
  type AppenderOptions,
  type AppendOptions,
  FileAppender,
  type FsyncPolicy,
} from './files/append/file-appender.ts';
export { NumberedFiles, type NumberedFilesOptions } from './files/numbered-files.ts';
export { writeToStream } from './write-to-stream.ts';

// Streams of Node, by demand.

export { fromNodeStream } from './from-node-stream.ts';
