import { readFileSync } from 'node:fs';
import { availableParallelism, cpus, release, totalmem, type } from 'node:os';
import { version } from '../../src/version.ts';

/** One sentence on where and when something was measured. */
export function machine(now: Date, mode: string): string {
  const [cpu] = cpus();
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  const system = /^PRETTY_NAME="(.+)"$/m.exec(read('/etc/os-release'))?.[1] ?? type();
  return [
    `Measured on ${now.toISOString().slice(0, 10)} by \`${mode}\`:`,
    `millrace ${version()}, Node.js ${process.versions.node}, ${system}, Linux ${release()},`,
    `${availableParallelism()} cores of ${cpu?.model ?? 'an unknown processor'}, ${memory} of memory.`,
  ].join(' ');
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
