import { installed } from './installed.ts';
import { type Peer, replacement } from './peer.ts';

export const perl: Peer = {
  name: 'perl -pe',
  writes: 'text',
  isOrdered: true,
  isDaemon: false,
  leavesOut: 'events, JSON, following, checkpoints',
  find: () => installed('perl', ['-e', 'print $^V'], /v(.+)/),
  command: ({ input, output, rules }) => ({
    command: 'perl',
    args: ['-pe', substitutions(rules), input],
    stdout: output,
  }),
};

/** In Perl, an `@` begins the name of an array. */
function substitutions(rules: Readonly<Record<string, string>>): string {
  return Object.entries(rules)
    .map(([name, expression]) => `s/${expression.replaceAll('@', String.raw`\@`)}/${replacement(name)}/g`)
    .join('; ');
}
