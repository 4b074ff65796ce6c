import fs from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeAll, it } from '@jest/globals';
import { byForm } from '../../faults/support/form.ts';
import { kill } from '../../faults/support/trial.ts';
import type { CliProcess } from '../../support/cli.ts';
import { skipWithout } from '../support/start-server.ts';
import { Gateway } from './gateway.ts';

/** Where the events of one test come from. */
export interface Source {
  /** The entry of `collectors`, in the flow style of YAML without braces. */
  readonly collector: string;
  write(lines: readonly string[]): unknown;
  /** Breaks what millrace reads from while it reads; it comes back by itself. */
  readonly faults: Readonly<Record<string, (child: CliProcess) => unknown>>;
  close?(): unknown;
}

/** A collector under test that reads from a source which it can ask again, or which sends again what was not acknowledged. */
export interface PullInput<S> {
  readonly name: string;
  /** Programs that the tests need. */
  readonly needs: readonly string[];
  start(): Promise<S>;
  /** @param name a name for this test: letters and digits. */
  source(server: S, name: string): Source | Promise<Source>;
  /** What the log says when it reads. */
  readonly ready: RegExp;
  readonly faults: readonly string[];
  /** Writes what is not as the plugin expects it, with secrets in it. Returns whether some of it goes to the dead letter. */
  readonly writeMalformed?: (server: S, name: string) => boolean | Promise<boolean>;
}

const LINES = byForm({ short: 10_000, long: 50_000 });
const KILLS = byForm({ short: 4, long: 10 });
const BATCH = 500;

/** A collector that reads from a source, with a buffer on disk: everything arrives, and what is in flight may come again. */
export function testPullInput<S>(input: PullInput<S>): void {
  skipWithout(...input.needs)(`${input.name} (collect): nothing is lost and nothing leaks`, () => {
    let server: S;
    let tests = 0;
    const closing: (() => unknown)[] = [];
    beforeAll(async () => {
      server = await input.start();
    });
    afterEach(async () => {
      for (const close of closing.splice(0)) await close();
    });

    async function prepare() {
      const name = `test${tests++}`;
      const source = await input.source(server, name);
      const gateway = await Gateway.prepare(input.name, source.collector, input.ready);
      closing.push(
        () => source.close?.(),
        () => gateway.close(),
      );
      const { oracle } = gateway.trial;
      const write = async (count: number) => {
        for (let left = count; left > 0; left -= BATCH)
          await source.write(Array.from({ length: Math.min(BATCH, left) }, () => oracle.line()));
      };
      return { name, source, gateway, trial: gateway.trial, write };
    }

    const sizeOf = (folder: string) =>
      fs.existsSync(folder)
        ? fs
            .readdirSync(folder)
            .reduce(
              (sum, file) => sum + (fs.statSync(`${folder}/${file}`, { throwIfNoEntry: false })?.size ?? 0),
              0,
            )
        : 0;

    it(`is killed ${KILLS} times between receipt and delivery`, async () => {
      const { gateway, trial, write } = await prepare();
      // Nothing is delivered before the last life: everything depends on the buffer.
      gateway.refuse();
      const part = LINES / (KILLS + 1);
      let child = await gateway.run();
      for (let n = 1; n <= KILLS; n++) {
        const before = sizeOf(trial.path('buffer'));
        await write(part);
        await trial.until(() => sizeOf(trial.path('buffer')) > before);
        await delay(trial.oracle.between(0, 20));
        await kill(child);
        if (n === KILLS) gateway.take();
        child = await gateway.run();
      }
      await write(part);
      await gateway.expectAll(`killed ${KILLS} times`, child, { repeats: KILLS * part });
    });

    for (const fault of input.faults)
      it(fault, async () => {
        const { gateway, source, trial, write } = await prepare();
        const child = await gateway.run();
        await write(LINES / 4);
        await trial.until(() => trial.outputBytes > 0);
        await source.faults[fault]?.(child);
        await write(LINES / 4);
        await gateway.expectAll(fault, child, { repeats: LINES / 4 });
      });

    const { writeMalformed } = input;
    if (writeMalformed === undefined) return;
    it('what is malformed reveals nothing, and what follows arrives', async () => {
      const { gateway, name, trial, write } = await prepare();
      const child = await gateway.run();
      await write(100);
      const hasDead = await writeMalformed(server, name);
      await write(100);
      if (hasDead) await trial.until(() => trial.text('dead/dead.jsonl') !== '');
      await gateway.expectAll('malformed', child);
    });
  });
}
