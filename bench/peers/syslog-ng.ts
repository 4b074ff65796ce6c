import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { THREE_RULES } from '../log-generator.ts';
import type { Command } from '../measure/run-command.ts';
import { installed } from './installed.ts';
import { type Job, type Peer, replacement } from './peer.ts';
import type { Fields, StructuredPeer } from './structured-peer.ts';

const find = () => installed('syslog-ng', ['--version'], /^syslog-ng \d+ \((\S+?)(?:-\d+\+.*)?\)/m);

export const syslogNg: Peer = {
  name: 'syslog-ng',
  writes: 'events',
  isOrdered: true,
  isDaemon: true,
  leavesOut: 'an fsync each second, dead letters',
  find,
  command: (job) => run(job.folder, configuration(job)),
};

/** The job `json` of the part `structured`: it masks the fields that its configuration names. */
export const syslogNgStructured: StructuredPeer = {
  name: 'syslog-ng',
  isDaemon: true,
  note: 'masks the fields that its configuration names',
  find,
  command: (input, output, folder) => run(folder, structuredConfiguration(input, output)),
  // It masks numbers, booleans and lists as strings.
  fieldsOf: ({ client, http, ...fields }) => {
    const { user, addresses } = client as Fields;
    const { bytes, cached, ...rest } = http as Fields;
    return {
      ...fields,
      client: { user, addresses: [addresses] },
      http: { ...rest, bytes: Number(bytes), cached: cached === 'true' },
    };
  },
};

function run(folder: string, config: string): Command {
  const own = (name: string) => join(folder, name);
  writeFileSync(own('syslog-ng.conf'), config);
  return {
    command: 'syslog-ng',
    args: [
      ...['--foreground', '--no-caps', '--cfgfile', own('syslog-ng.conf')],
      ...['--persist-file', own('syslog-ng.persist'), '--pidfile', own('syslog-ng.pid')],
      ...['--control', own('syslog-ng.ctl')],
    ],
  };
}

const head = (input: string) => `@version: 3.38
options { stats-freq(0); use-dns(no); dns-cache(no); frac-digits(3); };
source s_log {
  file("${input}" flags(no-parse) read-old-records(yes) follow-freq(0.1)
    log-fetch-limit(1000) log-iw-size(100000));
};
`;

/** `flow-control`, because without it syslog-ng drops what it reads faster than it writes. */
function configuration({ input, output, rules }: Job): string {
  const masks = Object.entries(rules).map(
    ([name, expression]) =>
      `  subst('${expression}', '${replacement(name)}', value("MESSAGE") type(pcre) flags(global));`,
  );
  return `${head(input)}rewrite r_mask {
${masks.join('\n')}
};
destination d_events {
  file("${output}" flush-lines(1000) log-fifo-size(200000)
    template("$(format-json --scope none timestamp=$R_ISODATE data.line=$MESSAGE data.source=${input} backfill=boolean(true))\\n"));
};
log { source(s_log); rewrite(r_mask); destination(d_events); flags(flow-control); };
`;
}

/** The string fields of the lines. */
const FIELDS = ['time', 'level', 'message', 'client.user', 'client.addresses', 'http.id', 'http.request'];

function structuredConfiguration(input: string, output: string): string {
  const masks = FIELDS.flatMap((field) =>
    Object.entries(THREE_RULES).map(
      ([name, expression]) =>
        `  subst('${expression}', '${replacement(name)}', value(".json.${field}") type(pcre) flags(global));`,
    ),
  );
  return `${head(input)}parser p_json { json-parser(prefix(".json.")); };
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
