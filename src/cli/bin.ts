#!/usr/bin/env node
import { version } from '../version.ts';
import { requireCompiled } from './compiled-modules.ts';

/** Where the build puts them. */
const CHUNKS = new URL('../chunks', import.meta.url);

const args = process.argv.slice(2);
// Answered before anything else is loaded: scripts ask for it often.
if (args.length === 1 && (args[0] === '--version' || args[0] === '-V')) {
  process.stdout.write(`${version()}\n`);
} else {
  const { main } = requireCompiled(CHUNKS, '../cli/main.cjs') as typeof import('./main.ts');
  await main(args);
}
