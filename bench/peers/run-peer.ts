import { join } from 'node:path';
import { lineCounter } from '../lines-of.ts';
import { type Command, type Run, runToEnd, runUntil, sizeOf } from '../measure/run-command.ts';
import { withFolder } from '../places.ts';
import { type Reference, verify } from '../reference.ts';
import type { Peer } from './peer.ts';

export interface PeerRun extends Run {
  /** Bytes of output: the same in each run of a peer, because its timestamps are of one length. */
  readonly size: number;
}

/**
 * Runs a peer once over the input of `reference`, and compares its output.
 *
 * @param size of a daemon's complete output: see {@link Complete}
 */
export function runPeer(
  peer: Peer,
  reference: Reference,
  rules: Readonly<Record<string, string>>,
  size?: number,
): Promise<PeerRun> {
  return withFolder(async (folder) => {
    const output = join(folder, 'events.jsonl');
    const command = peer.command({ input: reference.input, output, folder, rules });
    const run = await runWithOutput(command, output, peer, { lines: reference.lines, size });
    verify(peer, output, reference);
    return { ...run, size: sizeOf(output) };
  });
}

/** A complete output. */
interface Complete {
  readonly lines: number;
  /** Bytes, as a run before has found it. Without, the lines are counted, which takes time from the run: not for measuring. */
  readonly size?: number | undefined;
}

/** Runs a command to its end, or a daemon until its output is complete. */
export function runWithOutput(
  command: Command,
  output: string,
  { isDaemon }: { readonly isDaemon?: boolean },
  { lines, size }: Complete,
): Promise<Run> {
  if (isDaemon !== true) return runToEnd(command);
  const counted = lineCounter(output);
  const isComplete = (written: number) =>
    size === undefined ? written > 0 && counted() >= lines : written >= size;
  return runUntil(command, () => sizeOf(output), isComplete);
}
