import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from '../measure/run-command.ts';
import { UNPACKED_PEERS } from '../places.ts';
import { installed } from './installed.ts';
import { type Peer, replacement } from './peer.ts';
import { SECRETS } from './secrets.ts';
import type { Fields, StructuredPeer } from './structured-peer.ts';

/** Where its package and install-peers.sh put it. */
const PLACES = ['/opt/fluent-bit/bin/fluent-bit', join(UNPACKED_PEERS, 'bin/fluent-bit')];

const program = () => PLACES.find((path) => existsSync(path)) ?? 'fluent-bit';
const find = () => installed(program(), ['--version'], /^Fluent Bit v(\S+)/);

/** A pattern of Lua, and what replaces its matches, where `%1` is a group. */
interface Replacement {
  readonly pattern: string;
  readonly to: string;
}

const DIGITS = '%d%d?%d?';
/** The three rules of the main job: patterns of Lua have neither alternatives nor counted repetitions. */
const THREE_RULES: readonly Replacement[] = [
  { pattern: `KEY::${'%d'.repeat(10)}`, to: replacement('SECRET') },
  {
    pattern: `%f[%w_]${DIGITS}%.${DIGITS}%.${DIGITS}%.${DIGITS}%f[^%w_]`,
    to: replacement('IP'),
  },
  // The frontier keeps the pattern from being tried again at every character of a word, which takes twice as long.
  { pattern: '%f[%w._%%+-][%w._%%+-]+@[%w.-]+%.%a%a+', to: replacement('EMAIL') },
];

const NOTE = 'masks with patterns of Lua in its `lua` filter, because it cannot replace by expressions';

/** `tail`, `lua` and `stdout`. */
export const fluentBit: Peer = {
  name: 'Fluent Bit',
  writes: 'events',
  isOrdered: true,
  isDaemon: true,
  leavesOut: `checkpoints, an fsync each second, dead letters; ${NOTE}`,
  find,
  command: ({ input, output, folder }) =>
    run(input, output, folder, {
      lua: `${mask(THREE_RULES)}
function process(tag, timestamp, record)
  return 2, timestamp, { data = { line = mask(record.log), source = record.source }, backfill = true }
end
`,
    }),
};

const JSON_PARSER = { name: 'parsed', format: 'json' };
/** `apache2` of its parsers.conf, with the protocol, and with numbers. */
const ACCESS_PARSER = {
  name: 'parsed',
  format: 'regex',
  regex: [
    String.raw`^(?<host>[^ ]*) [^ ]* (?<user>[^ ]*) \[(?<time>[^\]]*)\] `,
    String.raw`"(?<method>\S+)(?: +(?<path>[^ ]*) +(?<protocol>\S*))?" (?<code>[^ ]*) (?<size>[^ ]*)`,
    String.raw`(?: "(?<referer>[^\"]*)" "(?<agent>.*)")?$`,
  ].join(''),
  types: 'code:integer size:integer',
};

/** The jobs of the part `structured`, by their names. */
export const fluentBitStructured = {
  json: structured({ parser: JSON_PARSER, drop: 'record.level == "DEBUG"', rules: THREE_RULES }),
  access: structured({ parser: ACCESS_PARSER, drop: 'record.code == 304', rules: THREE_RULES }, accessFields),
  packs: structured({
    parser: JSON_PARSER,
    rules: SECRETS.map(({ lua, to }) => ({ pattern: lua, to: to.replace('${1}', '%1') })),
  }),
};

interface StructuredJob {
  readonly parser: object;
  /** A condition in Lua for records that are left out: `grep` sees only strings. */
  readonly drop?: string;
  readonly rules: readonly Replacement[];
}

function structured(
  { parser, drop, rules }: StructuredJob,
  fieldsOf?: StructuredPeer['fieldsOf'],
): StructuredPeer {
  return {
    name: 'Fluent Bit',
    isDaemon: true,
    note: NOTE,
    find,
    command: (input, output, folder) =>
      run(input, output, folder, {
        parser,
        lua: `${mask(rules)}
local function all(value)
  local kind = type(value)
  if kind == 'string' then return mask(value) end
  if kind == 'table' then
    for key, field in pairs(value) do value[key] = all(field) end
  end
  return value
end
function process(tag, timestamp, record)
${drop === undefined ? '' : `  if ${drop} then return -1, 0, 0 end\n`}  return 2, timestamp, { data = all(record), backfill = true }
end
`,
      }),
    ...(fieldsOf && { fieldsOf }),
  };
}

function accessFields({ host, code, size, agent, ...fields }: Fields): Fields {
  return { ...fields, remote_addr: host, status: code, bytes: size, user_agent: agent };
}

function mask(rules: readonly Replacement[]): string {
  const steps = rules.map(({ pattern, to }) => `  text = gsub(text, '${pattern}', '${to}')`);
  return `local gsub = string.gsub
local function mask(text)
${steps.join('\n')}
  return text
end`;
}

interface Settings {
  readonly parser?: object;
  /** Defines `process`. */
  readonly lua: string;
}

/** JSON is YAML too. */
function run(input: string, output: string, folder: string, { parser, lua }: Settings): Command {
  const own = (name: string) => join(folder, name);
  writeFileSync(own('process.lua'), lua);
  const config = {
    service: { flush: 0.2, log_level: 'warn' },
    ...(parser && { parsers: [parser] }),
    pipeline: {
      inputs: [
        {
          name: 'tail',
          path: input,
          read_from_head: true,
          ...(parser ? { parser: 'parsed' } : { path_key: 'source' }),
        },
      ],
      filters: [{ name: 'lua', match: '*', script: own('process.lua'), call: 'process' }],
      outputs: [
        {
          name: 'stdout',
          match: '*',
          format: 'json_lines',
          json_date_key: 'timestamp',
          json_date_format: 'iso8601',
        },
      ],
    },
  };
  writeFileSync(own('fluent-bit.yaml'), JSON.stringify(config));
  return { command: program(), args: ['--quiet', '--config', own('fluent-bit.yaml')], stdout: output };
}
