import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { version } from '../../src/version.ts';
import type { Command } from '../measure/run-command.ts';
import { MILLRACE, withFolder } from '../places.ts';
import type { Found, Job, Peer } from './peer.ts';

export const millrace = millraceWith('millrace', {});
export const millraceWithWorkers = millraceWith('millrace, `workers: 2`', { workers: 2 });

function millraceWith(name: string, pipeline: Readonly<Record<string, unknown>>): Peer {
  return {
    name,
    writes: 'events',
    isOrdered: true,
    isDaemon: false,
    leavesOut: 'nothing',
    find: () => accepts(pipeline),
    command: (job) => millraceCommand(job, pipeline),
  };
}

/** `millrace run --once` on the main job: deliveries and checkpoints are on, as they always are. */
export function millraceCommand(job: Job, pipeline: Readonly<Record<string, unknown>> = {}): Command {
  const path = join(job.folder, 'millrace.json');
  writeFileSync(path, configuration(job, pipeline));
  const state = join(job.folder, 'state');
  return { command: process.execPath, args: [MILLRACE, 'run', path, '--once', '--state-dir', state] };
}

/** Whether this version's configuration knows the settings of the pipeline. */
function accepts(pipeline: Readonly<Record<string, unknown>>): Promise<Found> {
  return withFolder(async (folder) => {
    const job = { input: join(folder, 'in.log'), output: join(folder, 'out.jsonl'), folder, rules: {} };
    const path = join(folder, 'millrace.json');
    writeFileSync(path, configuration(job, pipeline));
    const { status } = spawnSync(process.execPath, [MILLRACE, 'validate', path]);
    const settings = Object.keys(pipeline).join(', ');
    return status === 0 ? { version: version() } : { missing: `this version has no \`${settings}\`` };
  });
}

/** JSON, which is YAML too. */
function configuration({ input, output, rules }: Job, pipeline: Readonly<Record<string, unknown>>): string {
  return JSON.stringify({
    collectors: { log: { plugin: 'file', paths: [input], backfill: true } },
    processors: { mask: { plugin: 'regex_mask', rules } },
    forwarders: { events: { plugin: 'disk', path: dirname(output), filename: basename(output) } },
    pipelines: { main: { collect: 'log', process: 'mask', forward: 'events', restart: false, ...pipeline } },
    host_config: {},
  });
}
