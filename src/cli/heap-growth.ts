import v8 from 'node:v8';

/**
 * Lets V8 collect its old memory less often. The flag applies to the whole process, so only the command line sets it, and no
 * program that imports millrace gets it. It is for the time after the start: once a flag has changed, V8 compiles those
 * modules of Node anew that it would otherwise have taken from Node's cache.
 */
export function letHeapGrow(): void {
  // V8 counts buffers as old memory, which here is small: the messages of `nats` made it collect all garbage several times
  // a second, for a third of the processor time. Now the old memory may grow to four times its size first, unless Node was
  // started with this flag. NODE_OPTIONS cannot have it: Node refuses it there.
  const isGiven = process.execArgv.some((flag) => /^--heap[-_]growing[-_]percent\b/.test(flag));
  if (!isGiven) v8.setFlagsFromString('--heap-growing-percent=300');
}
