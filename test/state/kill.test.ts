import fs from 'node:fs';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { bundledProgram } from '../support/bundled-program.ts';
import { type CliProcess, startProcess } from '../support/cli.ts';
import { seededRandom } from '../support/context.ts';
import { eventually } from '../support/eventually.ts';
import { tempFolder } from '../support/temp-folder.ts';

const folder = tempFolder();
const program = bundledProgram('test/state/follow-program.ts');
/** `MILLRACE_KILLS=100` for the long form. */
const KILLS = Number(process.env.MILLRACE_KILLS ?? 20);
const WINDOW = 200;
jest.setTimeout(20_000 + KILLS * 3000);

let running: CliProcess | undefined;
afterEach(() => running?.kill('SIGKILL'));

const start = async (...patterns: string[]): Promise<CliProcess> => {
  const args = [program(), folder('state'), folder('out'), String(WINDOW), ...patterns.map(folder)];
  running = startProcess(process.execPath, args);
  await running.shows('stderr', /^ready$/m);
  return running;
};
const kill = async (child: CliProcess) => {
  child.kill('SIGKILL');
  await child.ended();
};
const written = () => (fs.existsSync(folder('out')) ? fs.readFileSync(folder('out'), 'utf8') : '');
/** What was written, by line; a line that the kill cut is none, and stands before the next one. */
const counts = () => {
  const counts = new Map<string, number>();
  for (const [id] of written().matchAll(/line \d+ end/g)) counts.set(id, (counts.get(id) ?? 0) + 1);
  return counts;
};

describe('kill -9', () => {
  it(`at ${KILLS} points, files being rotated: loses nothing, doubles no more than was open`, async () => {
    const random = seededRandom(7);
    let next = 0;
    let rotations = 0;
    const append = (count: number) => {
      let text = '';
      for (let n = 0; n < count; n++) text += `line ${next++} end\n`;
      // In two writes that part a line, as writers do.
      const at = Math.floor(random() * text.length);
      fs.appendFileSync(folder('app.log'), text.slice(0, at));
      fs.appendFileSync(folder('app.log'), text.slice(at));
    };
    const rotate = () => {
      for (let n = rotations; n > 0; n--) fs.renameSync(folder(`app.log.${n}`), folder(`app.log.${n + 1}`));
      fs.renameSync(folder('app.log'), folder('app.log.1'));
      rotations++;
      append(1 + Math.floor(random() * 100));
    };
    append(100);
    let turnWithRotationWhileDown = 0;
    for (let turn = 0; turn < KILLS; turn++) {
      const child = await start('app.log*');
      append(300 + Math.floor(random() * 1500));
      if (random() < 0.3) rotate();
      const goal = counts().size + Math.floor(random() * 400);
      await eventually(() => counts().size >= Math.min(goal, next), 15_000);
      await kill(child);
      append(Math.floor(random() * 50));
      if (random() < 0.4) {
        rotate();
        turnWithRotationWhileDown++;
      }
    }
    await start('app.log*');
    await eventually(() => expect(counts().size).toBe(next), 20_000);
    const doubled = [...counts().values()].reduce((sum, count) => sum + count - 1, 0);
    expect(turnWithRotationWhileDown).toBeGreaterThan(0);
    expect(doubled).toBeLessThanOrEqual(KILLS * WINDOW);
    process.stdout.write(`${KILLS} kills, ${next} lines, ${rotations} rotations: 0 lost, ${doubled} twice\n`);
  });

  it('leaves no lock, and the folder is refused by name while it is held', async () => {
    fs.writeFileSync(folder('app.log'), '');
    const first = await start('app.log');
    const args = [program(), folder('state'), folder('out'), '10', folder('app.log')];
    const second = await startProcess(process.execPath, args).ended();
    expect(second.code).toBe(1);
    expect(second.stderr).toContain(`${folder('state')} is in use by process ${first.child.pid}`);
    first.kill('SIGSTOP');
    const third = await startProcess(process.execPath, args).ended();
    expect(third.stderr).toContain('in use by a process that does not say its pid');
    await kill(first);
    await kill(await start('app.log'));
  });
});
