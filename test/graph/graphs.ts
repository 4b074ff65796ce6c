import { buildGraph } from '../../src/graph/build-graph.ts';
import type { PipelineGraph } from '../../src/graph/graph.ts';
import type { WrittenSections } from '../../src/sdk/checks/shown-values.ts';
import { parseNow } from '../support/parse-now.ts';

/** Shared entries, a fan-out, a dead letter, a disabled pipeline, and an unused entry. */
export const SHARED = {
  collectors: {
    access_log: { plugin: 'file', paths: ['/var/log/nginx/*.log'], backfill: true },
    uptime: { plugin: 'host_exec', fn: 'status.uptime', interval: 60, args: ['s3cret'] },
    spare: { plugin: 'test', interval: 1 },
  },
  processors: {
    known_secrets: { plugin: 'regex_mask', rules: { EMAIL: 's3cret@[a-z]+', TOKEN: 's3cret' } },
    random_secrets: { plugin: 'entropy_mask', h_threshold: 0.85 },
    slow: { plugin: 'test', delay_range: { minimum: 0.1, maximum: 0.5 } },
  },
  forwarders: {
    archive: { plugin: 'disk', path: 'out/web', filename: 'events.jsonl' },
    screen: { plugin: 'stdout' },
    failed: { plugin: 'disk', path: 'out/failed' },
  },
  pipelines: {
    web: {
      collect: 'access_log',
      process: ['known_secrets', 'random_secrets'],
      forward: ['archive', 'screen'],
      max_in_flight: 500,
      delivery: { attempts: 5, timeout: 10, dead_letter: 'failed' },
    },
    host: { collect: ['uptime'], forward: 'screen', ordered: false },
    experiment: {
      collect: 'access_log',
      process: ['slow', 'known_secrets'],
      forward: 'screen',
      enabled: false,
    },
  },
  host_config: {},
};

/** Names that are not easy to write in any of the formats. */
export const ODD_NAMES = [
  "quo\"te 'single' <b>&amp; #1; `x`",
  'line\nbreak\u001b[31m\u202e',
  'back\\slash \\n end',
  ']]; }); --> %% {a|b} $x',
  '日志😀',
  '\ud800',
  '-- comment',
];

/** A configuration whose names are given. */
export function named(collectors: readonly string[]): object {
  return {
    collectors: Object.fromEntries(collectors.map((name) => [name, { plugin: 'test' }])),
    forwarders: { out: { plugin: 'noop' } },
    pipelines: { main: { collect: collectors, forward: 'out' } },
    host_config: {},
  };
}

export function graphOf(config: object, written?: WrittenSections): PipelineGraph {
  return buildGraph(parseNow(config), written);
}
