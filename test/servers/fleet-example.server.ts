import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { ROOT, upToDateBuild } from '../support/build.ts';
import { startProcess } from '../support/cli.ts';
import { eventually } from '../support/eventually.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { skipWithout } from './support/start-server.ts';

const temp = tempFolder();

skipWithout('nats-server')('examples/fleet', () => {
  it('delivers every line of two agents once, masked, to three workers', async () => {
    await upToDateBuild();
    // Elsewhere, because it writes to out/fleet.
    mkdirSync(temp('examples/data'), { recursive: true });
    cpSync(join(ROOT, 'examples/fleet'), temp('examples/fleet'), { recursive: true });
    cpSync(join(ROOT, 'examples/data/access.log'), temp('examples/data/access.log'));
    for (const name of ['dist', 'node_modules']) symlinkSync(join(ROOT, name), temp(name));
    const log = readFileSync(temp('examples/data/access.log'), 'utf8').trimEnd().split('\n');
    const fleet = startProcess(process.execPath, ['examples/fleet/fleet.mjs'], { cwd: temp() });
    const out = () =>
      existsSync(temp('out/fleet'))
        ? readdirSync(temp('out/fleet'))
            .filter((name) => name.endsWith('.jsonl'))
            .map((name) => readFileSync(temp(`out/fleet/${name}`), 'utf8'))
            .join('')
        : '';
    await eventually(() => out().split('\n').length - 1 >= 2 * log.length);
    fleet.kill('SIGINT');
    expect((await fleet.ended()).code).toBe(0);
    expect(out().split('\n').length - 1).toBe(2 * log.length);
    expect(out()).toContain('<:');
  });
});
