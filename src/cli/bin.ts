#!/usr/bin/env node
import { version } from '../version.ts';

const args = process.argv.slice(2);
// Answered before anything else is loaded: scripts ask for it often.
if (args.length === 1 && (args[0] === '--version' || args[0] === '-V')) {
  process.stdout.write(`${version()}\n`);
} else {
  const { main } = await import('./main.ts');
  await main(args);
}
