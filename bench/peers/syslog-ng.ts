import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { installed } from './installed.ts';
import { type Job, type Peer, replacement } from './peer.ts';

export const syslogNg: Peer = {
  name: 'syslog-ng',
  writes: 'events',
  isOrdered: true,
  isDaemon: true,
  leavesOut: 'an fsync each second, dead letters',
  find: () => installed('syslog-ng', ['--version'], /^syslog-ng \d+ \((\S+?)(?:-\d+\+.*)?\)/m),
  command: (job) => {
    const path = join(job.folder, 'syslog-ng.conf');
    writeFileSync(path, configuration(job));
    const own = (name: string) => join(job.folder, name);
    return {
      command: 'syslog-ng',
      args: [
        ...['--foreground', '--no-caps', '--cfgfile', path, '--persist-file', own('syslog-ng.persist')],
        ...['--pidfile', own('syslog-ng.pid'), '--control', own('syslog-ng.ctl')],
      ],
    };
  },
};

/** `flow-control`, because without it syslog-ng drops what it reads faster than it writes. */
function configuration({ input, output, rules }: Job): string {
  const masks = Object.entries(rules).map(
    ([name, expression]) =>
      `  subst('${expression}', '${replacement(name)}', value("MESSAGE") type(pcre) flags(global));`,
  );
  return `@version: 3.38
options { stats-freq(0); use-dns(no); dns-cache(no); frac-digits(3); };
source s_log {
  file("${input}" flags(no-parse) read-old-records(yes) follow-freq(0.1)
    log-fetch-limit(1000) log-iw-size(100000));
};
rewrite r_mask {
${masks.join('\n')}
};
destination d_events {
  file("${output}" flush-lines(1000) log-fifo-size(200000)
    template("$(format-json --scope none timestamp=$R_ISODATE data.line=$MESSAGE data.source=${input} backfill=boolean(true))\\n"));
};
log { source(s_log); rewrite(r_mask); destination(d_events); flags(flow-control); };
`;
}
