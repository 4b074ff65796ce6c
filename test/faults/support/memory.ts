import fs from 'node:fs';
import type { CliProcess } from '../../support/cli.ts';

/** Megabytes of a process that are resident: now, and the most so far. Linux. */
export function residentMemory({ child }: CliProcess): { now: number; peak: number } {
  const status = fs.readFileSync(`/proc/${child.pid}/status`, 'utf8');
  const megabytes = (field: string) =>
    Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024;
  return { now: megabytes('VmRSS'), peak: megabytes('VmHWM') };
}

/** The middle of some figures. */
export function median(figures: readonly number[]): number {
  return figures.toSorted((a, b) => a - b)[Math.floor(figures.length / 2)] as number;
}
