import type { Peer } from './peer.ts';

export interface FoundPeers {
  readonly there: readonly { readonly peer: Peer; readonly version: string }[];
  readonly missing: readonly { readonly peer: Peer; readonly reason: string }[];
}

/** Which peers can be measured on this machine. */
export async function findPeers(peers: readonly Peer[]): Promise<FoundPeers> {
  const there = [];
  const missing = [];
  for (const peer of peers) {
    const answer = await peer.find();
    if ('version' in answer) there.push({ peer, version: answer.version });
    else missing.push({ peer, reason: answer.missing });
  }
  return { there, missing };
}
