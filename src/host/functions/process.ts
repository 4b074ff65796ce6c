import * as z from 'zod';
import { MillraceError } from '../../sdk/errors.ts';
import { systemInformation } from '../system-information.ts';
import { builtIn } from './host-function.ts';

/** A process, without its command line: secrets stand there. */
export interface ProcessInfo {
  readonly pid: number;
  readonly parent_pid: number;
  readonly name: string;
  readonly user: string;
  /** `running`, `sleeping`, `stopped`, `zombie`, `blocked` or `unknown`. */
  readonly state: string;
  /** Of all processors' time since the last list, or since the process was started. */
  readonly cpu_percent: number;
  readonly memory_percent: number;
  /** Bytes in memory. */
  readonly memory_rss: number;
}

/**
 * All processes of the machine. A promise, because systeminformation offers nothing else.
 *
 * Errors: MillraceError `MILLRACE_HOST_READING` if they cannot be listed.
 */
export async function readProcesses(): Promise<ProcessInfo[]> {
  const { processes } = await systemInformation();
  const { list } = await processes();
  // systeminformation turns a failure into an empty list, but there is always the process that asks.
  if (list.length === 0) {
    const message = 'the processes of this machine cannot be listed; is the command `ps` installed?';
    throw new MillraceError('MILLRACE_HOST_READING', message);
  }
  return list.map((entry) => ({
    pid: entry.pid,
    parent_pid: entry.parentPid,
    name: entry.name,
    user: entry.user,
    state: entry.state,
    cpu_percent: entry.cpu,
    memory_percent: entry.mem,
    memory_rss: entry.memRss * 1024,
  }));
}

/** `process.list()`: a list of {@link ProcessInfo}. */
export const list = builtIn({ name: 'process.list', parameters: z.strictObject({}), run: readProcesses });
