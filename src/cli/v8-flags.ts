import v8 from 'node:v8';

/**
 * What the command line asks of V8, unless Node was started with the flag. NODE_OPTIONS cannot have them: Node refuses
 * them there.
 */
const FLAGS = [
  // V8 counts buffers as old memory, which here is small: the messages of `nats` made it collect all garbage several times
  // a second, for a third of the processor time. Now the old memory may grow to four times its size first.
  ['heap-growing-percent', 300],
  // A function runs nine times as long before it is optimised. Node 20 optimises many that a run of seconds hardly uses,
  // in threads that take the cores from workers. Later versions of Node wait by themselves, and lack the flag.
  ...(process.version.startsWith('v20.') ? ([['interrupt-budget', 600_000]] as const) : []),
] as const;

/** The flags apply to the whole process, so only the command line sets them, and no program that imports millrace gets them. */
export function setV8Flags(): void {
  const given = process.execArgv.map((flag) => flag.replaceAll('_', '-').split('=')[0]);
  for (const [name, value] of FLAGS) {
    if (!given.includes(`--${name}`)) v8.setFlagsFromString(`--${name}=${value}`);
  }
}
