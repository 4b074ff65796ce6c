import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { countLines, linesOf } from '../lines-of.ts';
import { structuredFile } from '../log-file.ts';
import { THREE_RULES } from '../log-generator.ts';
import { rounds } from '../measure/rounds.ts';
import { type Command, type Run, runToEnd, runUntil, sizeOf } from '../measure/run-command.ts';
import { median, ratio } from '../measure/statistics.ts';
import { runCommand } from '../peers/millrace.ts';
import { replacement } from '../peers/peer.ts';
import { syslogNg } from '../peers/syslog-ng.ts';
import { program, withFolder } from '../places.ts';
import { count, microseconds, perSecond, seconds, times } from './figures.ts';
import { atLeast, type Part } from './part.ts';

const LEAST = 0.9;

/** NDJSON to NDJSON: parse, filter, mask three rules in all strings. */
export const structured: Part = {
  name: 'structured',
  title: 'the structured job: NDJSON, parsed, filtered, and masked in all strings',
  async run({ quick, progress }) {
    // With fewer lines, the 0.3 s in which millrace starts would count more than the work.
    const lines = quick ? 300_000 : 1_000_000;
    const input = structuredFile(lines);
    const found = await syslogNg.find();
    const peers = [MILLRACE, BY_HAND, ...('missing' in found ? [] : [SYSLOG_NG])];
    const digests = new Map<string, string>();
    const runs = await rounds(peers, quick ? 2 : 5, async (peer, round) => {
      progress(`${peer.name}, round ${round + 1}`);
      const { run, digest } = await runOnce(peer, input, lines);
      digests.set(peer.name, digest);
      return run;
    });
    if (digests.get(MILLRACE.name) !== digests.get(BY_HAND.name))
      throw new Error('the outputs of millrace and of the loop differ');
    const speeds = (peer: Peer) => (runs.get(peer) ?? []).map(({ wallMs }) => perSecond(lines, wallMs));
    const cpu = (peer: Peer) => (runs.get(peer) ?? []).map(({ cpuMs }) => cpuMs);
    return {
      tables: [
        {
          cells: 'figures',
          columns: ['', 'lines a second', 'processor time', 'for each line', '× the loop'],
          rows: peers.map((peer) => [
            peer.name,
            count(median(speeds(peer))),
            seconds(median(cpu(peer))),
            microseconds((median(cpu(peer)) / lines) * 1000),
            times(ratio(speeds(peer), speeds(BY_HAND))),
          ]),
        },
      ],
      targets: [
        atLeast('speed, against the loop by hand', ratio(speeds(MILLRACE), speeds(BY_HAND)), LEAST, times),
        atLeast('the same by processor time', ratio(cpu(BY_HAND), cpu(MILLRACE)), LEAST, times),
      ],
      notes: [
        `${count(lines)} lines of ${count(sizeOf(input) / lines)} bytes. The loop does the same with JSON.parse, ` +
          'String.replace for each rule and string, and JSON.stringify, in blocks of 256 KiB; the two outputs are compared, ' +
          'without the timestamps. syslog-ng masks the fields that are named in its configuration.',
        ...('missing' in found ? [`Not measured: syslog-ng, because ${found.missing}.`] : []),
      ],
    };
  },
};

interface Peer {
  readonly name: string;
  readonly isDaemon: boolean;
  command(input: string, output: string, folder: string): Command;
}

const MILLRACE: Peer = {
  name: 'millrace',
  isDaemon: false,
  command: (input, _, folder) => {
    const config = {
      collectors: { log: { plugin: 'file', paths: [input], backfill: true } },
      processors: {
        parsed: { plugin: 'parse', format: 'json' },
        relevant: { plugin: 'filter', drop: 'data.level == "DEBUG"' },
        mask: { plugin: 'regex_mask', rules: THREE_RULES },
      },
      forwarders: { out: { plugin: 'disk', path: folder, filename: 'out.jsonl' } },
      pipelines: { main: { collect: 'log', process: ['parsed', 'relevant', 'mask'], forward: 'out' } },
      host_config: {},
    };
    return runCommand(folder, config, '--once');
  },
};

const BY_HAND: Peer = {
  name: 'Node, by hand',
  isDaemon: false,
  command: (input, output) => ({
    command: process.execPath,
    args: [program('loop'), 'structured', input, output],
  }),
};

const SYSLOG_NG: Peer = {
  name: 'syslog-ng',
  isDaemon: true,
  command: (input, output, folder) => {
    const own = (name: string) => join(folder, name);
    writeFileSync(own('syslog-ng.conf'), syslogNgConfig(input, output));
    return {
      command: 'syslog-ng',
      args: [
        ...[
          '--foreground',
          '--no-caps',
          '--cfgfile',
          own('syslog-ng.conf'),
          '--persist-file',
          own('persist'),
        ],
        ...['--pidfile', own('syslog-ng.pid'), '--control', own('syslog-ng.ctl')],
      ],
    };
  },
};

/** The string fields of the lines. */
const FIELDS = ['time', 'level', 'message', 'client.user', 'client.addresses', 'http.id', 'http.request'];

function syslogNgConfig(input: string, output: string): string {
  const masks = FIELDS.flatMap((field) =>
    Object.entries(THREE_RULES).map(
      ([name, expression]) =>
        `  subst('${expression}', '${replacement(name)}', value(".json.${field}") type(pcre) flags(global));`,
    ),
  );
  return `@version: 3.38
options { stats-freq(0); use-dns(no); dns-cache(no); frac-digits(3); };
source s_log {
  file("${input}" flags(no-parse) read-old-records(yes) follow-freq(0.1)
    log-fetch-limit(1000) log-iw-size(100000));
};
parser p_json { json-parser(prefix(".json.")); };
filter f_relevant { not match("DEBUG" value(".json.level") type(string)); };
rewrite r_mask {
${masks.join('\n')}
};
destination d_events {
  file("${output}" flush-lines(1000) log-fifo-size(200000)
    template("$(format-json timestamp=$R_ISODATE --rekey .json.* --shift 6 --add-prefix data. --key .json.* backfill=boolean(true))\\n"));
};
log { source(s_log); parser(p_json); filter(f_relevant); rewrite(r_mask); destination(d_events); flags(flow-control); };
`;
}

/** The bytes that a daemon writes, as its first run has found. */
const sizes = new Map<string, number>();

function runOnce(peer: Peer, input: string, lines: number): Promise<{ run: Run; digest: string }> {
  return withFolder(async (folder) => {
    const output = join(folder, 'out.jsonl');
    const command = peer.command(input, output, folder);
    if (!peer.isDaemon) return { run: await runToEnd(command), digest: digestOf(output) };
    const size = sizes.get(input);
    const kept = size === undefined ? countKept(input) : 0;
    const run = await runUntil(
      command,
      () => sizeOf(output),
      (written) => (size === undefined ? written > 0 && countLines(output) >= kept : written >= size),
    );
    sizes.set(input, sizeOf(output));
    // The first run looks at its output all the time, which takes time from it.
    return size === undefined ? runOnce(peer, input, lines) : { run, digest: '' };
  });
}

function countKept(input: string): number {
  let kept = 0;
  for (const line of linesOf(input)) if (!line.includes('"level":"DEBUG"')) kept++;
  return kept;
}

/** Of all events, without their timestamps. */
function digestOf(output: string): string {
  const hash = createHash('sha256');
  for (const line of linesOf(output)) hash.update(line.replace(/^\{"timestamp":"[^"]*"/, '')).update('\n');
  return hash.digest('hex');
}
