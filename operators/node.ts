// Operators and creation functions for files and streams, which need Node.js. `index.ts` has the others.

// Reading: the lines of files, as they are written.

export { AcknowledgedPositions } from './files/follow/acknowledged-positions.ts';
export type { FileStatus } from './files/follow/file-status.ts';
export type { FollowLog } from './files/follow/follow-settings.ts';
export { MemoryBudget, readMemory } from './files/follow/memory-budget.ts';
export {
  type FileId,
  type FollowSettings,
  type FoundFile,
  followFiles,
  type LineBatch,
  type Positions,
} from './files/follow-files.ts';

// Writing: a write completes when the operating system has the data.

export {
  type AppenderOptions,
  type AppendOptions,
  FileAppender,
  type FsyncPolicy,
} from './files/append/file-appender.ts';
export { NumberedFiles, type NumberedFilesOptions } from './files/numbered-files.ts';
export { writeToStream } from './write-to-stream.ts';

// Streams of Node.js: they are read by demand.

export { fromNodeStream } from './from-node-stream.ts';
