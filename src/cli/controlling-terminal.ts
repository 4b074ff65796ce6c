import fs from 'node:fs';

/** Whether this process has a terminal that is still open: when one is closed, its programs get a SIGHUP to end. */
export function hasTerminal(): boolean {
  try {
    fs.closeSync(fs.openSync('/dev/tty', 'r'));
    return true;
  } catch {
    return false;
  }
}
