import { join } from 'node:path';
import { lineCounter } from '../lines-of.ts';
import { type Run, runToEnd, runUntil, sizeOf } from '../measure/run-command.ts';
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
 * @param size of a daemon's complete output, as a run before has found it. Without, its lines are counted, which
 * takes time from it: not for measuring.
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
    const lines = lineCounter(output);
    const isComplete = (written: number) =>
      size === undefined ? written > 0 && lines() >= reference.lines : written >= size;
    const run = peer.isDaemon
      ? await runUntil(command, () => sizeOf(output), isComplete)
      : await runToEnd(command);
    verify(peer, output, reference);
    return { ...run, size: sizeOf(output) };
  });
}
