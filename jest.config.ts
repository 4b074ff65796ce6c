/** @jest-config-loader esbuild-register */
import { availableParallelism } from 'node:os';
import type { Config } from 'jest';

// Tests connect to servers of this machine, which a proxy of its network does not reach.
const { env } = process;
if (
  env.http_proxy ||
  env.HTTP_PROXY ||
  env.https_proxy ||
  env.HTTPS_PROXY ||
  env.all_proxy ||
  env.ALL_PROXY
) {
  env.no_proxy = `${env.no_proxy || env.NO_PROXY || ''},localhost,127.0.0.1,::1`;
}

const base: Config = {
  testEnvironment: '<rootDir>/test/support/environment.mjs',
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '/plugins/packs/pack-files\\.ts$': '<rootDir>/test/support/built-packs.mjs',
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
        module: { type: 'es6' },
        sourceMaps: true,
      },
    ],
  },
  // RxJS as one file, as the command line loads it: as 223, it takes a third of the time that a test file needs to load.
  moduleNameMapper: {
    '^rxjs$': '<rootDir>/node_modules/rxjs/dist/bundles/rxjs.umd.js',
    '^rxjs/testing$': '<rootDir>/test/support/rxjs-testing.cjs',
  },
  modulePathIgnorePatterns: [
    '<rootDir>/dist/',
    '<rootDir>/operators/dist/',
    '<rootDir>/redact/dist/',
    '<rootDir>/out/',
  ],
};

const config: Config = {
  testSequencer: '<rootDir>/test/support/slow-first.mjs',
  // Jest leaves one core to itself and would take one worker on a machine with two. Tests of processes and files wait often.
  maxWorkers: Math.ceil(availableParallelism() * 1.5),
  // Node keeps the modules of test files that are done. Without a limit, a worker spends its time in garbage collection.
  workerIdleMemoryLimit: '600MB',
  // A busy machine may take ten times as long as a quiet one. A test that takes longer than this hangs.
  testTimeout: 600_000,
  projects: [
    { ...base, displayName: 'unit', testMatch: ['<rootDir>/test/**/*.test.ts'] },
    { ...base, displayName: 'long', testMatch: ['<rootDir>/test/**/*.long.ts'] },
    { ...base, displayName: 'package', testMatch: ['<rootDir>/test/package/*.package.ts'] },
    { ...base, displayName: 'servers', testMatch: ['<rootDir>/test/servers/**/*.server.ts'] },
    {
      ...base,
      displayName: 'faults',
      testMatch: ['<rootDir>/test/faults/**/*.fault.ts'],
      globalSetup: '<rootDir>/test/faults/support/choose-seed.mjs',
    },
  ],
};

export default config;
