import { logFile } from '../log-file.ts';
import { THREE_RULES } from '../log-generator.ts';
import { rounds } from '../measure/rounds.ts';
import { sizeOf } from '../measure/run-command.ts';
import { findPeers } from '../peers/find-peers.ts';
import { PEERS } from '../peers/index.ts';
import type { Peer } from '../peers/peer.ts';
import { runPeer } from '../peers/run-peer.ts';
import { masksInTurn, referenceOf } from '../reference.ts';
import { mainJobResult } from './main-job-result.ts';
import type { Part } from './part.ts';

/** A log from its start, three rules, one JSON event a line: millrace and everyone else, in one run. */
export const mainJob: Part = {
  name: 'main',
  title: 'the main job: three rules over a log, beside every peer',
  async run({ quick, progress }) {
    const input = logFile(quick ? 50_000 : 1_000_000);
    const { there, missing } = await findPeers(PEERS);
    const peers = there.map(({ peer }) => peer);
    const reference = referenceOf(input, masksInTurn(THREE_RULES));

    const sizes = new Map<Peer, number>();
    for (const peer of peers) {
      progress(`${peer.name}, once ahead`);
      sizes.set(peer, (await runPeer(peer, reference, THREE_RULES)).size);
    }
    const runs = await rounds(peers, quick ? 2 : 5, (peer, round) => {
      progress(`${peer.name}, round ${round + 1}`);
      return runPeer(peer, reference, THREE_RULES, sizes.get(peer));
    });
    return mainJobResult({ lines: reference.lines, bytes: sizeOf(input), there, missing, runs });
  },
};
