import fs from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { folderWith, runCli, startCli } from '../support/cli.ts';
import { byForm } from './support/form.ts';

const KILLS = byForm({ short: 8, long: 60 });

/** Two files whose events have a line and up to four lines that continue it. `seconds` is long: no time cuts an event. */
const CONFIG = `
collectors: { log: { plugin: file, paths: ['*.log'], backfill: true } }
processors:
  join: { plugin: multiline, continue: '^ ', seconds: 60 }
forwarders: { out: { plugin: disk, path: out, filename: events.jsonl } }
pipelines: { main: { collect: log, process: join, forward: out } }
host_config: {}
`;

function linesOf(name: string, start: number, events: number): string[] {
  return Array.from({ length: events }, (_, i) => {
    const id = `${name}-${start + i}`;
    return [id, ...Array.from({ length: (start + i) % 5 }, (_, n) => ` ${id}.${n}`)];
  }).flat();
}

it(`kill -9 at ${KILLS} points while lines are joined: no line is lost`, async () => {
  const cwd = folderWith({ 'p.yaml': CONFIG });
  const written: string[] = [];
  let next = 0;
  const append = () => {
    for (const name of ['a', 'b']) {
      const lines = linesOf(name, next, 700);
      written.push(...lines);
      fs.appendFileSync(join(cwd, `${name}.log`), `${lines.join('\n')}\n`);
    }
    next += 700;
  };
  append();
  for (let turn = 0; turn < KILLS; turn++) {
    const child = await startCli(['run', 'p.yaml', '--state-dir', 'state'], { cwd });
    append();
    await delay(300 + ((turn * 137) % 700));
    await child.killUntilEnded('SIGKILL');
  }
  const end = await runCli(['run', 'p.yaml', '--once', '--state-dir', 'state'], { cwd });
  expect(end).toMatchObject({ code: 0 });
  const events = fs
    .readFileSync(join(cwd, 'out/events.jsonl'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((text) => JSON.parse(text).data.line as string);
  const delivered = new Set(events.flatMap((event) => event.split('\n')));
  expect(written.filter((line) => !delivered.has(line))).toEqual([]);
  // Whole, at least once: a crash can only repeat the end of an event.
  const whole = new Set(events);
  const expected = ['a', 'b'].flatMap((name) =>
    Array.from({ length: next }, (_, id) => linesOf(name, id, 1).join('\n')),
  );
  expect(expected.filter((event) => !whole.has(event))).toEqual([]);
});
