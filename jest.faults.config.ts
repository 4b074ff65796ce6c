/** @jest-config-loader esbuild-register */
import type { Config } from 'jest';
import base from './jest.config.ts';

// Random in each run, and the workers inherit it.
process.env.FAULTS_SEED ??= String(Math.floor(Math.random() * 2 ** 31));
process.stderr.write(`FAULTS_SEED=${process.env.FAULTS_SEED} repeats what is random in this run\n`);

/** The faults, each by real processes: in the short form, which CI runs; see jest.faults.long.config.ts. */
const config: Config = {
  ...base,
  testMatch: ['<rootDir>/test/faults/**/*.fault.ts'],
  // A busy machine is no fault: what takes longer than this hangs.
  testTimeout: 120_000,
};

export default config;
