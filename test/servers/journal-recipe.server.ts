import fs from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { ROOT, upToDateBuild } from '../support/build.ts';
import { startProcess } from '../support/cli.ts';
import { writeJournal } from '../support/journals.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { skipWithout } from './support/start-server.ts';
import { startVictoriaLogs } from './support/victoria-logs.ts';

const folder = tempFolder();
const KILLS = 5;

/** The configuration of the recipe, for a folder of journals. */
function recipe(): string {
  const page = fs.readFileSync(join(ROOT, 'docs/recipes/journal-to-loki.md'), 'utf8');
  const [, yaml = ''] = /```yaml\n(.*?)```/s.exec(page) ?? [];
  return yaml.replace('plugin: journald', `plugin: journald\n    directory: ${folder('journal')}`);
}

skipWithout(
  'victoria-logs',
  'systemd-journal-remote',
  'journalctl',
)('the recipe docs/recipes/journal-to-loki.md', () => {
  it(`stores every entry of the units, masked and with its labels, over ${KILLS} kills`, async () => {
    const server = await startVictoriaLogs();
    fs.writeFileSync(folder('journal.yaml'), recipe());
    let written = 0;
    const write = (count: number) => {
      const entries = Array.from({ length: count }, () => [
        {
          MESSAGE: `line ${written++} password=hunter2`,
          ...{ _SYSTEMD_UNIT: 'nginx.service', _HOSTNAME: 'web1', PRIORITY: '6' },
        },
        { MESSAGE: 'password=hunter2', _SYSTEMD_UNIT: 'other.service', PRIORITY: '6' },
        { MESSAGE: 'too much', _SYSTEMD_UNIT: 'nginx.service', PRIORITY: '7' },
      ]).flat();
      writeJournal(folder('journal'), entries);
    };
    const start = async (...args: string[]) => {
      const command = [await upToDateBuild(), 'run', 'journal.yaml', '--state-dir', 'state', ...args];
      const env = { LOKI_URL: `${server.url}/insert` };
      return startProcess(process.execPath, command, { cwd: folder(), env });
    };
    write(500);
    for (let kill = 0; kill < KILLS; kill++) {
      const process = await start();
      await process.shows('stderr', /running/);
      write(300);
      await delay(Math.random() * 1000);
      process.kill('SIGKILL');
      await process.ended();
      write(10);
    }
    const end = await (await start('--once')).ended();
    expect(end).toMatchObject({ code: 0 });
    const rows = await server.rows();
    const numbers = rows.map(({ _msg = '' }) => Number(/^line (\d+) password=<:password:>$/.exec(_msg)?.[1]));
    expect(numbers).not.toContain(Number.NaN);
    expect(new Set(numbers).size).toBe(written);
    for (const row of rows.slice(0, 100))
      expect(row).toMatchObject({ unit: 'nginx.service', host: 'web1', priority: '6', job: 'journal' });
  });
});
