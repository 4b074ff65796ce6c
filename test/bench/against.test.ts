import { describe, expect, it } from '@jest/globals';
import { against, comparedRow } from '../../bench/against.ts';
import { tempFolder } from '../support/temp-folder.ts';

const temp = tempFolder();

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
    const context = { quick: true, progress: () => {} };
    await expect(against(temp('.'), ['main'], context)).rejects.toThrow(
      /bin\.js does not exist; run `npm ci`/,
    );
  });
});
