#!/usr/bin/env node
import module from 'node:module';
import { isAbsolute, join } from 'node:path';
import { version } from '../version.ts';
import { holdSignals } from './held-signals.ts';

const args = process.argv.slice(2);
// Answered before anything else is loaded: scripts ask for it often.
if (args.length === 1 && (args[0] === '--version' || args[0] === '-V')) {
  process.stdout.write(`${version()}\n`);
} else {
  const releaseSignals = holdSignals();
  keepCompiledCode();
  const { main } = await import('./main.ts');
  await main(args, releaseSignals);
}

/**
 * Lets Node keep what V8 compiles for the next start. In a folder of the user: in the system's temporary one, which is
 * Node's default, another user could put code there first.
 */
function keepCompiledCode(): void {
  // Node has it since 22.1; the types are those of Node 20.
  const { enableCompileCache } = module as { enableCompileCache?: (folder: string) => unknown };
  const { XDG_CACHE_HOME = '', HOME = '' } = process.env;
  const base = [XDG_CACHE_HOME, join(HOME, '.cache')].find(isAbsolute);
  if (base !== undefined) enableCompileCache?.(join(base, 'millrace'));
}
