#!/usr/bin/env node
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { version } from '../version.ts';
import { requireChunk } from './compiled-modules.ts';
import { holdSignals } from './held-signals.ts';

const args = process.argv.slice(2);
// Answered before anything else is loaded: scripts ask for it often.
if (args.length === 1 && (args[0] === '--version' || args[0] === '-V')) {
  process.stdout.write(`${version()}\n`);
} else {
  const releaseSignals = holdSignals();
  const here = fileURLToPath(new URL('.', import.meta.url));
  const { main } = requireChunk(
    join(here, '../chunks'),
    join(here, 'main.cjs'),
  ) as typeof import('./main.ts');
  await main(args, releaseSignals);
}
