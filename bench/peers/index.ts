import { fluentBit } from './fluent-bit.ts';
import { millrace, millraceWithWorkers } from './millrace.ts';
import { nodeLoops } from './node-loops.ts';
import type { Peer } from './peer.ts';
import { perl } from './perl.ts';
import { ripgrep } from './ripgrep.ts';
import { rsyslog } from './rsyslog.ts';
import { sed } from './sed.ts';
import { syslogNg } from './syslog-ng.ts';
import { vector } from './vector.ts';

/** Everyone who runs in the main job, in the order of a round. */
export const PEERS: readonly Peer[] = [
  millrace,
  millraceWithWorkers,
  perl,
  syslogNg,
  ...rsyslog,
  vector,
  fluentBit,
  sed,
  ripgrep,
  ...nodeLoops,
];
