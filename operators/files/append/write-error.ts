const HINTS: Readonly<Record<string, string>> = {
  EACCES: 'give this process the right to write there',
  EDQUOT: 'raise the quota or make room',
  EIO: 'look at that disk',
  EISDIR: 'give the name of a file',
  ELOOP: 'it is a symbolic link, and none is followed: give the place that it leads to',
  ENAMETOOLONG: 'give a shorter path',
  ENOENT: 'its folder is missing',
  ENOSPC: 'make room on that disk',
  ENOTDIR: 'a part of the path is not a folder',
  ENXIO: 'it is not a regular file',
  EPERM: 'give this process the right to write there',
  EROFS: 'make that file system writable',
};

/** What no retry changes: the path that was asked for is none. */
const FATAL = new Set(['EISDIR', 'ELOOP', 'ENAMETOOLONG', 'ENOTDIR', 'ENXIO', 'NOT_A_FILE']);

/**
 * An error of the operating system that names the file and what to do, since its own message often does neither.
 * `fatal` if trying again is of no use.
 */
export function writeError(path: string, cause: NodeJS.ErrnoException): NodeJS.ErrnoException {
  const { code, syscall, message } = cause;
  // A file that is missing is only created again; a folder that cannot be made, with one above it, never is.
  const isUnmakeable = code === 'ENOENT' && syscall === 'mkdir';
  const hint = isUnmakeable ? 'no folder can be made there' : HINTS[code ?? ''];
  const text = `cannot write to ${path}: ${message}${hint === undefined ? '' : `; ${hint}`}`;
  const fatal = isUnmakeable || FATAL.has(code ?? '');
  // The path is one of the configuration: nothing of an event is in the message.
  return Object.assign(new Error(text, { cause }), { code, syscall, path, loggable: true, fatal });
}
