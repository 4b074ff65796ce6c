import { installed } from './installed.ts';
import { type Peer, replacement } from './peer.ts';

export const sed: Peer = {
  name: 'sed -E',
  writes: 'text',
  isOrdered: true,
  isDaemon: false,
  leavesOut: 'events, JSON, following, checkpoints',
  find: () => installed('sed', ['--version'], /^sed \(GNU sed\) (.+)$/m),
  command: ({ input, output, rules }) => ({
    command: 'sed',
    args: [
      '-E',
      ...Object.entries(rules).flatMap(([name, expression]) => ['-e', script(name, expression)]),
      input,
    ],
    stdout: output,
  }),
};

function script(name: string, expression: string): string {
  return `s/${expression}/${replacement(name)}/g`;
}
