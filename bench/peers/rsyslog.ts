import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { UNPACKED_PEERS } from '../places.ts';
import { installed } from './installed.ts';
import { type Job, type Peer, replacement } from './peer.ts';

/** Its state file is written when it stops, and its queue is in memory. */
const GUARANTEES = 'checkpoints after each write, an fsync each second, dead letters';

export const rsyslog: readonly Peer[] = [
  rsyslogWith('rsyslog, 1 worker', 1, GUARANTEES),
  rsyslogWith('rsyslog, 2 workers', 2, `the order of lines, ${GUARANTEES}`),
];

function rsyslogWith(name: string, workers: number, leavesOut: string): Peer {
  return {
    name,
    writes: 'events',
    isOrdered: workers === 1,
    isDaemon: true,
    leavesOut: `${leavesOut}; of a rule it masks the first match in a line alone`,
    find: () => {
      const { command, env } = program();
      return installed(command, ['-v'], /^rsyslogd +(\S+)/m, env);
    },
    command: (job) => {
      const { command, env, modules } = program();
      const path = join(job.folder, 'rsyslog.conf');
      mkdirSync(workFolder(job));
      writeFileSync(path, configuration(job, workers));
      return {
        command,
        args: ['-n', '-f', path, '-i', join(job.folder, 'rsyslog.pid'), ...modules],
        env,
      };
    },
  };
}

/** The installed one; else what install-peers.sh unpacked, with its own libraries and modules. */
function program(): { command: string; env: Record<string, string>; modules: readonly string[] } {
  const unpacked = join(UNPACKED_PEERS, 'root');
  const command = join(unpacked, 'usr/sbin/rsyslogd');
  if (existsSync('/usr/sbin/rsyslogd') || !existsSync(command)) {
    return { command: 'rsyslogd', env: {}, modules: [] };
  }
  const libraries = readdirSync(join(unpacked, 'usr/lib')).map((name) => join(unpacked, 'usr/lib', name));
  const modules = libraries.map((folder) => join(folder, 'rsyslog')).filter((folder) => existsSync(folder));
  return { command, env: { LD_LIBRARY_PATH: libraries.join(':') }, modules: ['-M', modules.join(':')] };
}

/** What is replaced where nothing matches: no line has it in it. */
const NO_MATCH = '\\n';

function workFolder({ folder }: Job): string {
  return join(folder, 'rsyslog.work');
}

/**
 * RainerScript cannot replace by an expression. The way of its users is to extract the first match, and to replace
 * that text wherever it stands; as one term, because each variable that is set costs more than an expression. A queue
 * of the ruleset's own gives it threads of its own beside the reader.
 */
function configuration(job: Job, workers: number): string {
  const masked = Object.entries(job.rules).reduce(
    (text, [name, expression]) =>
      `replace(${text}, re_extract($msg, '${expression.replaceAll('\\', '\\\\')}', 0, 0, "${NO_MATCH}"), "${replacement(name)}")`,
    '$msg',
  );
  return `global(workDirectory="${workFolder(job)}")
module(load="imfile")
template(name="event" type="list") {
  constant(value="{")
  property(outname="timestamp" name="timegenerated" dateFormat="rfc3339" format="jsonf")
  constant(value=",\\"data\\":{")
  property(outname="line" name="$.line" format="jsonf")
  constant(value=",\\"source\\":\\"${job.input}\\"},\\"backfill\\":true}\\n")
}
input(type="imfile" file="${job.input}" tag="log" ruleset="mask")
ruleset(name="mask" queue.type="LinkedList" queue.size="200000" queue.dequeueBatchSize="2048"
    queue.workerThreads="${workers}" queue.workerThreadMinimumMessages="2048") {
  set $.line = ${masked};
  action(type="omfile" file="${job.output}" template="event" ioBufferSize="128k")
}
`;
}
