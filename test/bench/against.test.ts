import { mkdirSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { against, comparedRow } from '../../bench/against.ts';
import { tempFolder } from '../support/temp-folder.ts';

const temp = tempFolder();
const CONTEXT = { quick: true, progress: () => {} };

describe('a build against that of another checkout', () => {
  const runs = (output: string | undefined, ...cpu: number[]) =>
    cpu.map((cpuMs) => ({ cpuMs, ...(output !== undefined && { output }) }));

  it('has the ratio of processor times of each pair', () => {
    const row = comparedRow('main', 1000, [runs('a', 1000, 2000, 4000), runs('a', 500, 1000, 3000)]);
    expect(row).toEqual(['main', '1,000', '2.00 s', '1.00 s', '0.50 (0.50–0.75)', 'the same']);
  });

  it('says whether the outputs differ', () => {
    const outputOf = (before?: string, now?: string) =>
      comparedRow('main', 1, [runs(before, 10), runs(now, 10)]).at(-1);
    expect(outputOf('a', 'b')).toBe('differs');
    expect(outputOf('a', 'a')).toBe('the same');
    expect(outputOf()).toBe('not compared');
  });

  it('refuses a checkout that is not built', async () => {
    await expect(against(temp('.'), ['main'], CONTEXT)).rejects.toThrow(
      /bin\.js does not exist; run `npm ci`/,
    );
  });

  it('refuses parts that it does not have', async () => {
    await expect(against(checkoutWith(''), ['rules'], CONTEXT)).rejects.toThrow(
      'none of these parts; it has main, stdin',
    );
  });

  it('leaves out a job that the other build cannot run, and says why', async () => {
    const checkout = checkoutWith('console.error("no such plugin"); process.exitCode = 2;');
    const { tables, notes } = await against(checkout, ['main'], CONTEXT);
    expect(tables[0]?.rows).toEqual([]);
    expect(notes.join('\n')).toMatch(/Not measured: main, because .* ended with 2:\nno such plugin/);
  });

  /** A checkout whose command line is a script. */
  function checkoutWith(script: string): string {
    mkdirSync(temp('dist/src/cli'), { recursive: true });
    writeFileSync(temp('dist/src/cli/bin.js'), script);
    return temp();
  }
});
