import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from '../measure/run-command.ts';
import { UNPACKED_PEERS } from '../places.ts';
import { installed } from './installed.ts';
import type { Found } from './peer.ts';

/** A program that finds the matches of many rules in a log, and writes no masked lines. */
export interface Scanner {
  readonly name: string;
  find(): Found;
  /** Prepares `folder` and says what to run. */
  command(input: string, folder: string): Command;
}

const GITLEAKS = join(UNPACKED_PEERS, 'bin/gitleaks');

/** With its own rules. It looks for their keywords first, and uses all processors. */
export const gitleaks: Scanner = {
  name: 'gitleaks, its own rules, scanning only',
  find: () => installed(GITLEAKS, ['version'], /^(\S+)/),
  command: (input, folder) => ({
    command: GITLEAKS,
    args: [
      ...['detect', '--no-git', '--no-banner', '--log-level', 'error', '--exit-code', '0'],
      ...['--source', input, '--report-path', join(folder, 'report.json')],
    ],
  }),
};

/** ripgrep with many expressions at once, which counts lines with a match. */
export function ripgrepWith(name: string, rules: Readonly<Record<string, string>>): Scanner {
  // It knows no look-around.
  const expressions = Object.values(rules).filter((expression) => !/\(\?<?[=!]/.test(expression));
  return {
    name: `ripgrep, ${expressions.length} of ${name}, counting only`,
    find: () => installed('rg', ['--version'], /^ripgrep (\S+)/),
    command: (input, folder) => {
      const file = join(folder, 'expressions');
      writeFileSync(file, expressions.map((expression) => `${expression}\n`).join(''));
      // A code of 1 says that nothing matches.
      const script = `rg --no-config --no-unicode --count -f '${file}' '${input}' || [ $? = 1 ]`;
      return { command: 'sh', args: ['-c', script] };
    },
  };
}
