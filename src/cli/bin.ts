#!/usr/bin/env node
import { nodeVersionProblem } from '../node-version.ts';

// Node.js would open a port for a debugger. With a listener it does nothing.
process.on('SIGUSR1', () => {});

// An older Node.js has to be able to parse this file, so it loads everything else later.
const problem = nodeVersionProblem(process.versions.node);
if (problem === undefined) {
  void import('./start.ts').then(({ start }) => start());
} else {
  process.stderr.write(`millrace: ${problem}\n`);
  process.exitCode = 2;
}
