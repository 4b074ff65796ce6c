import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll } from '@jest/globals';
import { build } from 'esbuild';
import { ROOT } from './build.ts';

/**
 * A TypeScript program of the tests as one file for a process of its own, of the sources as they are now. Returns the
 * path; valid inside of tests. It lies where the packages of the repository are found.
 */
export function bundledProgram(source: string): () => string {
  let folder = '';
  const file = () => join(folder, 'program.mjs');
  beforeAll(async () => {
    folder = mkdtempSync(join(ROOT, 'node_modules/.millrace-test-'));
    await build({
      entryPoints: [join(ROOT, source)],
      outfile: file(),
      bundle: true,
      platform: 'node',
      format: 'esm',
      target: 'node20',
      packages: 'external',
      logLevel: 'silent',
    });
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return file;
}
