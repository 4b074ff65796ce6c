import { describe, expect, it } from '@jest/globals';
import { lastValueFrom, of, toArray } from 'rxjs';
import * as operators from '../../operators/index.ts';
import { upToDateBuild } from '../support/build.ts';
import { bundle } from './bundle.ts';
import { itInChromium, runInChromium, skipped } from './chromium.ts';

describe('millrace/operators in a browser', () => {
  it('bundles without Node', async () => {
    const { code } = await bundle("export * from './operators/index.ts';");
    expect(code).not.toMatch(/\brequire\(["']|from ["']node:|\bprocess\.|\bBuffer\./);
  });

  it('bundles only what is used', async () => {
    const { files } = await bundle("export { delayRange } from './operators/index.ts';");
    expect(files).toContain('operators/delay-range.ts');
    expect(files.filter((file) => /mask|python|entropy|poll|dedupe/.test(file))).toEqual([]);
  });

  it('bundles only what is used of the package as it is published', async () => {
    await upToDateBuild();
    const { code } = await bundle("export { delayRange } from 'millrace/operators';");
    expect(code).toContain('function delayRange');
    // Comments name the files that the code is from.
    expect(code.replace(/^\s*\/\/.*$/gm, '')).not.toMatch(/mask|entropy|poll|dedupe/i);
  });

  it('shares RxJS with the page, as it is published too', async () => {
    await upToDateBuild();
    const { code } = await bundle("export * from 'millrace/operators'; export * from 'rxjs';");
    expect(code.match(/\bvar Observable\d* =/g)).toHaveLength(1);
  });

  it('would not bundle with Node', async () => {
    await expect(bundle("export * from './operators/node.ts';")).rejects.toThrow(
      /Could not resolve "(?:node:)?\w+"/,
    );
  });

  itInChromium(`works in headless Chromium${skipped}`, async () => {
    const { code } = await bundle(`
      import { work } from './test/browser/page.ts';
      const report = await work().catch((error) => ({ error: String(error.stack) }));
      await fetch('/report', { method: 'POST', body: JSON.stringify(report) });
    `);
    // Sampling by a hash takes the same keys here and there.
    const thinnedHere = await lastValueFrom(
      of('a', 'b', 'a', 'a', 'c').pipe(
        operators.sampleRate({ rate: 0.5, key: (letter) => letter }),
        toArray(),
      ),
    );
    expect(await runInChromium(code)).toEqual({
      names: Object.keys(operators).sort(),
      strings: ['call <:PHONE:>, PIN **', 'session <:HIGH-ENTROPY:> and aaaaaaaaaaaaaaaaaaaa'],
      event: {
        timestamp: '2026-01-01T00:00:00Z',
        data: {
          user: '<:EMAIL:>',
          keys: ['<:KEY:>'],
          link: 'https://example.com/?token=<:TOKEN:>',
          tries: 1,
        },
      },
      refused: 'MaskError',
      delayed: { value: 'late', after20ms: true },
      ordered: [30, 10, 20],
      gathered: [[1], [2, 3]],
      pulled: { rows: ['a', 'b', 'c'], mostOpen: 1 },
      polled: ['up', 'up', 'up'],
      thinned: [['a', 'b', 'c'], ['a', 'b'], ['a', 'b', 'a', 'c'], thinnedHere],
      batched: [['ab'], ['cd'], ['é', 'f']],
      restarted: 'run 3',
      retried: 'run 3',
      aborted: ['tick'],
      children: [{ data: {} }, { data: { 'part-child-count': 1 } }, { data: { 'part-child-count': 2 } }],
    });
  });
});
