import type { LoopName } from '../loops/index.ts';
import { program } from '../places.ts';
import type { Peer } from './peer.ts';

export const nodeLoops: readonly Peer[] = [
  nodeLoop('Node, line by line', 'lineByLine', 1),
  nodeLoop('Node, line by line, 2 threads', 'lineByLine', 2),
  nodeLoop('Node, whole chunks', 'wholeChunks', 1),
  nodeLoop('Node, literals first, tuned by hand', 'literalsFirst', 1),
];

function nodeLoop(name: string, loop: LoopName, threads: number): Peer {
  return {
    name,
    writes: 'events',
    isOrdered: true,
    isDaemon: false,
    leavesOut: 'following, checkpoints, rules from a configuration',
    find: () => ({ version: process.versions.node }),
    command: ({ input, output }) => ({
      command: process.execPath,
      args:
        threads === 1
          ? [program('loop'), loop, input, output]
          : [program('loop-in-threads'), loop, input, output, String(threads)],
    }),
  };
}
