/** Names of this process, so that what another one with the same pid left behind is told apart. */
const inUse = new Set<string>();
let count = 0;

/**
 * A name for a file that is not complete yet: hidden, so that patterns for the final names do not match it. It is
 * in use until it is given back.
 */
export function temporaryName(prefix: string): { readonly name: string; release(): void } {
  const name = `.${prefix}${process.pid}-${count++}.tmp`;
  inUse.add(name);
  return { name, release: () => inUse.delete(name) };
}

/** Whether a name is that of a file whose process was killed before it was complete. */
export function isAbandoned(name: string, prefix: string): boolean {
  if (!name.startsWith(`.${prefix}`) || inUse.has(name)) return false;
  const pid = /^(\d{1,10})-\d+\.tmp$/.exec(name.slice(prefix.length + 1))?.[1];
  return pid !== undefined && (Number(pid) === process.pid || !isAlive(Number(pid)));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
