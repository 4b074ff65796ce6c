/** @jest-config-loader esbuild-register */
import type { Config } from 'jest';
import short from './jest.faults.config.ts';

// Read by test/faults/support/form.ts in the workers, which inherit it.
process.env.MILLRACE_FAULTS = 'long';

const config: Config = { ...short, testTimeout: 30 * 60_000 };

export default config;
