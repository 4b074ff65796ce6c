import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';
import { ROOT } from '../support/build.ts';
import { CHROMIUM } from './chromium.ts';

const itInChromium = CHROMIUM === undefined ? it.skip : it;
const skipped = CHROMIUM === undefined ? ' (SKIPPED: there is no chromium; apt-get install chromium)' : '';

itInChromium(
  `the playground runs, draws, steps and shares configurations${skipped}`,
  async () => {
    // A runner of tests must not take this for one of its own.
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const args = ['--test', '--test-reporter=tap', 'test/browser/playground-checks.mjs'];
    const options = { cwd: ROOT, env: { ...env, CHROMIUM } };
    const { stdout } = await promisify(execFile)(process.execPath, args, options).catch((error) => error);
    // All of what is reported, to see what has failed.
    if (!/^# fail 0$/m.test(stdout)) expect(stdout).toBe('no failures');
    expect(stdout).toMatch(/^# pass [1-9]/m);
  },
  300_000,
);
