import fs from 'node:fs';
import { join } from 'node:path';
import type { CliProcess } from '../../support/cli.ts';
import { writeJournal } from '../../support/journals.ts';
import { serverFolder } from '../support/start-server.ts';
import { STRAY_KEY } from './input-connector.ts';
import { testPullInput } from './pull-scenarios.ts';

/** The processes that a process has started. */
const childrenOf = ({ child }: CliProcess): number[] =>
  fs
    .readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')
    .split(' ')
    .filter(Boolean)
    .map(Number);

testPullInput<string>({
  name: 'journald',
  needs: ['systemd-journal-remote', 'journalctl'],
  start: async () => serverFolder('journals'),
  ready: /running/,
  faults: ['journalctl is killed'],
  source(root, name) {
    const folder = join(root, name);
    writeJournal(folder, [{ MESSAGE: 'the first entry' }]);
    return {
      collector: `plugin: journald, directory: '${folder}', backfill: true`,
      write: (lines) =>
        writeJournal(
          folder,
          lines.map((MESSAGE) => ({ MESSAGE })),
        ),
      faults: {
        'journalctl is killed': (child) => {
          for (const pid of childrenOf(child)) process.kill(pid, 'SIGKILL');
        },
      },
    };
  },
  writeMalformed(root, name) {
    writeJournal(join(root, name), [
      { MESSAGE: Buffer.from([0xff, 0xfe, 0x00, 0x80]) },
      { PRIORITY: STRAY_KEY },
      { MESSAGE: [`${STRAY_KEY} a`, `${STRAY_KEY} b`] },
      { MESSAGE: `${STRAY_KEY} ${'x'.repeat(2 * 1024 * 1024)}` },
    ]);
    // All of them are entries.
    return false;
  },
});
