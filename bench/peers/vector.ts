import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { THREE_RULES } from '../log-generator.ts';
import type { Command } from '../measure/run-command.ts';
import { UNPACKED_PEERS } from '../places.ts';
import { installed } from './installed.ts';
import { type Peer, replacement } from './peer.ts';
import { SECRETS } from './secrets.ts';
import type { Fields, StructuredPeer } from './structured-peer.ts';

/** Where install-peers.sh puts it. */
const UNPACKED = join(UNPACKED_PEERS, 'bin/vector');

export const vectorProgram = () => (existsSync(UNPACKED) ? UNPACKED : 'vector');
export const findVector = () => installed(vectorProgram(), ['--version'], /^vector (\S+)/);

/** `file`, `remap` and `console`. Its file source never ends, so it counts as a daemon. */
export const vector: Peer = {
  name: 'Vector',
  writes: 'events',
  isOrdered: true,
  isDaemon: true,
  leavesOut: 'acknowledgements, which are off by default, an fsync each second, dead letters',
  find: findVector,
  command: ({ input, output, folder, rules }) =>
    run(
      input,
      output,
      folder,
      `line = string!(.message)
${replacements('line', ruleReplacements(rules))}
${event('{ "line": line, "source": .file }')}`,
    ),
};

/** The jobs of the part `structured`, by their names. */
export const vectorStructured = {
  json: structured(`. = object!(parse_json!(string!(.message)))
if .level == "DEBUG" { abort }
${inAllStrings(ruleReplacements(THREE_RULES))}`),
  access: structured(
    `. = parse_apache_log!(string!(.message), format: "combined")
if .status == 304 { abort }
del(.message)
${inAllStrings(ruleReplacements(THREE_RULES))}`,
    ({ host, size, referrer, agent, timestamp, ...fields }: Fields) => ({
      ...fields,
      remote_addr: host,
      bytes: size,
      referer: referrer,
      user_agent: agent,
    }),
  ),
  packs: structured(`. = object!(parse_json!(string!(.message)))
${inAllStrings(SECRETS)}`),
};

function structured(remap: string, fieldsOf?: StructuredPeer['fieldsOf']): StructuredPeer {
  return {
    name: 'Vector',
    isDaemon: true,
    find: findVector,
    command: (input, output, folder) => run(input, output, folder, `${remap}\n${event('.')}`),
    ...(fieldsOf && { fieldsOf }),
  };
}

interface Replacement {
  readonly expression: string;
  readonly to: string;
}

function ruleReplacements(rules: Readonly<Record<string, string>>): Replacement[] {
  return Object.entries(rules).map(([name, expression]) => ({ expression, to: replacement(name) }));
}

function replacements(variable: string, all: readonly Replacement[]): string {
  return all
    .map(({ expression, to }) => `${variable} = replace(${variable}, r'${expression}', "${to}")`)
    .join('\n');
}

/** In the strings of an event at any depth. */
function inAllStrings(all: readonly Replacement[]): string {
  return `. = map_values(., recursive: true) -> |value| {
  if is_string(value) {
    text = string!(value)
${replacements('text', all)}
    text
  } else {
    value
  }
}`;
}

/** A time of a fixed length, so that each run writes the same number of bytes. */
function event(data: string): string {
  return `. = {
  "timestamp": format_timestamp!(now(), format: "%Y-%m-%dT%H:%M:%S%.3fZ"),
  "data": ${data},
  "backfill": true
}`;
}

/** The program is in a file of its own: in the configuration, Vector would replace `${1}` by a variable. */
function run(input: string, output: string, folder: string, remap: string): Command {
  const own = (name: string) => join(folder, name);
  mkdirSync(own('vector'));
  writeFileSync(own('remap.vrl'), `${remap}\n`);
  const config = {
    data_dir: own('vector'),
    sources: { log: { type: 'file', include: [input], read_from: 'beginning' } },
    transforms: { mask: { type: 'remap', inputs: ['log'], file: own('remap.vrl') } },
    sinks: { out: { type: 'console', inputs: ['mask'], encoding: { codec: 'json' } } },
  };
  writeFileSync(own('vector.json'), JSON.stringify(config));
  return {
    command: vectorProgram(),
    args: ['--quiet', '--config', own('vector.json')],
    stdout: output,
  };
}
