// What millrace shares with its operators for files, and its users do not see: see `internal.ts`. It needs Node.js.

// The file system, which tests replace.

export {
  closeFile,
  type FileSystem,
  type FileWatch,
  fileSystem,
  fsCall,
  perFileSystem,
  readAt,
  removeFile,
  replaceFileSystem,
  writeAll,
} from './support/file-system.ts';

// Paths.

export { loadGlob } from './files/follow/expand-paths.ts';
export { toRawPath } from './files/follow/file-status.ts';
export { GLOB_OPTIONS, isGlob, toPicomatch } from './files/follow/glob-pattern.ts';

// Reading: blocks of lines, and where a reader of a file is.

export type { GoneFile } from './files/follow/acknowledged-positions.ts';
export { nonTextFormat } from './files/follow/file-fingerprint.ts';
export { findLost } from './files/follow/find-lost.ts';
export { BlockLease, BlockMemory, LineBlock } from './files/follow/line-block.ts';
export { LineFramer } from './files/follow/line-framer.ts';
export { encodingOf, isEncoding, type TextEncoding } from './files/follow/text-encoding.ts';
export { UNSURE_CHARACTERS, withoutUnsureTail } from './files/follow/truncated-event.ts';

// Writing.

export { ExactFile } from './files/append/exact-file.ts';
export { leaseAppender } from './files/append/file-appender.ts';
export { makeFolder, syncFolder } from './files/append/output-file.ts';
export {
  APPEND_FLAGS,
  FILE_MODE,
  makeFolderSync,
  OUTPUT_FLAGS,
  openToAppendSync,
} from './files/append/output-rules.ts';
export { ResumingWriter } from './files/append/resuming-writer.ts';
export { writeError } from './files/append/write-error.ts';
