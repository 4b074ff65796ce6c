import { installed } from './installed.ts';
import { type Peer, quoted, replacement } from './peer.ts';

const OPTIONS = '--no-config --no-unicode --no-line-number --no-filename --color=never --passthru';

export const ripgrep: Peer = {
  name: 'three ripgreps in a pipe',
  writes: 'text',
  isOrdered: true,
  isDaemon: false,
  leavesOut: 'events, JSON, following, checkpoints; three processes, on both cores',
  find: () => installed('rg', ['--version'], /^ripgrep (\S+)/),
  command: ({ input, output, rules }) => ({
    command: 'sh',
    args: ['-c', pipe(input, rules)],
    stdout: output,
  }),
};

/** One for each rule, because ripgrep has one replacement for all its expressions. */
function pipe(input: string, rules: Readonly<Record<string, string>>): string {
  return Object.entries(rules)
    .map(([name, expression], index) => {
      const from = index === 0 ? quoted(input) : '-';
      return `rg ${OPTIONS} -r ${quoted(replacement(name))} -e ${quoted(expression)} ${from}`;
    })
    .join(' | ');
}
