import fs from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { bundledProgram } from '../support/bundled-program.ts';
import { type CliProcess, startProcess } from '../support/cli.ts';
import { seededRandom } from '../support/context.ts';
import { eventually } from '../support/eventually.ts';
import { noSmallDisk, smallDisk } from '../support/small-disk.ts';
import { tempFolder } from '../support/temp-folder.ts';

const folder = tempFolder();
const program = bundledProgram('test/delivery/exact-program.ts');
/** `MILLRACE_KILLS=100` for the long form. */
const KILLS = Number(process.env.MILLRACE_KILLS ?? 20);
jest.setTimeout(30_000 + KILLS * 4000);

let running: CliProcess | undefined;
afterEach(() => running?.kill('SIGKILL'));

async function start(mode: 'once' | 'follow', where = folder()): Promise<CliProcess> {
  running = startProcess(process.execPath, [program(), where, mode]);
  await running.shows('stderr', /^ready$/m);
  return running;
}

/** What each line number gives: see the program. */
const copies = (n: number) => (n % 7 === 0 ? 0 : n % 11 === 0 ? 2 : 1);

function outputs(): string[] {
  if (!fs.existsSync(folder('out'))) return [];
  const names = fs.readdirSync(folder('out'));
  const age = (name: string) => Number(/\d+$/.exec(name)?.[0] ?? Number.POSITIVE_INFINITY);
  return names.sort((a, b) => age(a) - age(b)).map((name) => fs.readFileSync(folder(`out/${name}`), 'utf8'));
}

/** The numbers of the lines delivered, in order, by input. Fails on a line that is torn. */
function delivered(): Record<string, number[]> {
  const found: Record<string, number[]> = { in1: [], in2: [] };
  for (const text of outputs()) {
    for (const document of text.split('\n').slice(0, -1)) {
      const { line, source } = JSON.parse(document).data;
      expect(line).toMatch(/^line \d+ <:token:> end$/);
      found[/in\d/.exec(source)?.[0] ?? '']?.push(Number(/\d+/.exec(line)?.[0]));
    }
    expect(text === '' || text.endsWith('\n')).toBe(true);
  }
  return found;
}

describe('exactly once, by kill -9', () => {
  it(`at ${KILLS} points, inputs and output being rotated: loses nothing, doubles nothing`, async () => {
    const random = seededRandom(11);
    const written = { in1: 0, in2: 0 };
    const generations = { in1: 0, in2: 0, out: 0 };
    const append = (count: number) => {
      for (const name of ['in1', 'in2'] as const) {
        let text = '';
        for (let n = 0; n < count; n++) text += `line ${written[name]++} tok_secret${n} end\n`;
        const at = Math.floor(random() * text.length);
        fs.appendFileSync(folder(`${name}.log`), text.slice(0, at));
        fs.appendFileSync(folder(`${name}.log`), text.slice(at));
      }
    };
    const rotateInput = () => {
      const name = random() < 0.5 ? 'in1' : 'in2';
      fs.renameSync(folder(`${name}.log`), folder(`${name}.log.${++generations[name]}`));
      append(20);
    };
    const rotateOutput = () => {
      const path = folder('out/events.jsonl');
      if (fs.existsSync(path)) fs.renameSync(path, folder(`out/events.jsonl.${++generations.out}`));
    };
    let cuts = 0;
    let rotationsWhileDown = 0;
    append(300);
    for (let turn = 0; turn < KILLS; turn++) {
      const child = await start('follow');
      append(200 + Math.floor(random() * 1500));
      if (random() < 0.3) rotateInput();
      const size = () => outputs().join('').length;
      const goal = size() + random() * 100_000;
      const deadline = performance.now() + random() * 1500;
      await eventually(() => size() >= goal || performance.now() > deadline);
      if (random() < 0.3) rotateOutput();
      if (random() < 0.3) await eventually(() => fs.existsSync(folder('out/events.jsonl')) || append(1));
      child.kill('SIGKILL');
      await child.ended();
      if (/bytes that were not confirmed were cut off/.test(child.stderr)) cuts++;
      append(Math.floor(random() * 100));
      if (random() < 0.3) {
        rotateOutput();
        rotationsWhileDown++;
      }
    }
    const end = await (await start('once')).ended();
    expect(end.stderr).toMatch(/^ended$/m);
    const found = delivered();
    for (const name of ['in1', 'in2'] as const) {
      const wanted = Array.from({ length: written[name] }, (_, n) => Array(copies(n)).fill(n)).flat();
      // Files that were rotated while nobody read them have no order among them.
      const numbers = (found[name] as number[]).toSorted((a, b) => a - b);
      const lost = new Set(wanted).size - new Set(numbers).size;
      expect([name, lost, numbers.length - wanted.length]).toEqual([name, 0, 0]);
      expect(numbers).toEqual(wanted);
    }
    expect(cuts).toBeGreaterThan(KILLS / 4);
    expect(rotationsWhileDown).toBeGreaterThan(0);
    process.stdout.write(
      `${KILLS} kills, ${written.in1 + written.in2} lines, ${generations.out} output rotations, ${cuts} cuts: 0 lost, 0 twice\n`,
    );
  });
});

(noSmallDisk === undefined ? describe : describe.skip)('exactly once, on a full disk', () => {
  it('goes on when there is room again, also after a kill, and loses and doubles nothing', async () => {
    const disk = smallDisk(8192);
    const COUNT = 5000;
    const text = Array.from({ length: COUNT }, (_, n) => `line ${n} tok_x end\n`).join('');
    for (const name of ['in1.log', 'in2.log']) fs.writeFileSync(join(disk.path, name), text);
    for (const room of [150_000, 400_000]) {
      disk.leave(room);
      const child = await start('once', disk.path);
      await child.shows('stderr', /cannot write to .*events\.jsonl: ENOSPC/);
      child.kill('SIGKILL');
      await child.ended();
    }
    disk.leave(600_000);
    const last = await start('once', disk.path);
    await last.shows('stderr', /ENOSPC/);
    disk.leave(8_000_000);
    expect((await last.ended()).stderr).toMatch(/^ended$/m);
    const found: Record<string, number[]> = { in1: [], in2: [] };
    for (const document of fs
      .readFileSync(join(disk.path, 'out/events.jsonl'), 'utf8')
      .trimEnd()
      .split('\n')) {
      const { line, source } = JSON.parse(document).data;
      found[/in\d/.exec(source)?.[0] ?? '']?.push(Number(/\d+/.exec(line)?.[0]));
    }
    const wanted = Array.from({ length: COUNT }, (_, n) => Array(copies(n)).fill(n)).flat();
    expect(found).toEqual({ in1: wanted, in2: wanted });
  });
});
