import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { version } from '../../src/version.ts';
import type { Command } from '../measure/run-command.ts';
import { MILLRACE, withFolder } from '../places.ts';
import { maskingConfig } from './masking-config.ts';
import type { Found, Job, Peer } from './peer.ts';

type Settings = Readonly<Record<string, unknown>>;
/** In place of the one with the rules. */
type Processors = Readonly<Record<'mask', object>>;

export const millrace = millraceWith('millrace', {});
export const millraceWithWorkers = millraceWith('millrace, `workers: 2`', { workers: 2 });

/** With `redact` and its default packs in place of the rules. */
export const millraceWithPacks = millraceWith('millrace, default packs', {}, { mask: { plugin: 'redact' } });

/** `millrace run --once` with deliveries and checkpoints, which are on always. */
function millraceWith(name: string, settings: Settings, processors?: Processors): Peer {
  return {
    name,
    writes: 'events',
    isOrdered: true,
    isDaemon: false,
    leavesOut: 'nothing',
    find: () => withFolder(async (folder) => accepts(folder, settings, processors)),
    command: (job) => runCommand(job.folder, configuration(job, settings, processors), '--once'),
  };
}

/** `millrace run` of a configuration, which is put into `folder` beside the state. */
export function runCommand(folder: string, config: object, ...options: readonly string[]): Command {
  return {
    command: process.execPath,
    args: [MILLRACE, 'run', save(folder, config), ...options, '--state-dir', join(folder, 'state')],
  };
}

/** JSON is YAML too. */
function save(folder: string, config: object): string {
  const path = join(folder, 'millrace.json');
  writeFileSync(path, JSON.stringify(config));
  return path;
}

/** Whether this version's configuration knows the settings. */
function accepts(folder: string, settings: Settings, processors: Processors | undefined): Found {
  const job = { input: join(folder, 'in.log'), output: join(folder, 'out.jsonl'), folder, rules: {} };
  const { status } = spawnSync(process.execPath, [
    MILLRACE,
    'validate',
    save(folder, configuration(job, settings, processors)),
  ]);
  if (status === 0) return { version: version() };
  if (processors !== undefined) return { missing: 'this version has no such processor' };
  return { missing: `this version has no \`${Object.keys(settings).join(', ')}\` for a pipeline` };
}

function configuration(
  { input, output, rules }: Job,
  settings: Settings,
  processors: Processors | undefined,
): object {
  const config = maskingConfig(dirname(output), { [basename(output, '.jsonl')]: [input] }, rules, settings);
  return processors === undefined ? config : { ...config, processors };
}
