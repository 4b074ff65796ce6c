import { fstatSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { defer } from 'rxjs';
import type * as z from 'zod';
import { counted } from '../../operators/internal.ts';
import { CollectConfigBase, defineCollector } from '../../src/sdk/index.ts';
import { collectLines, lineTesting } from '../lines/collect-lines.ts';
import { lineFields } from '../lines/line-fields.ts';
import { LineInput, refusal } from '../lines/line-input.ts';
import { UnacknowledgedLines } from '../lines/unacknowledged-lines.ts';

/** `source` of the events, and how logs name where a line lies. */
const SOURCE = 'stdin';
const NAME = 'standard input';

const schema = CollectConfigBase.extend(lineFields);

/** One for each stream: what a run leaves unread, or has in flight when it fails, is there for the next one. */
const inputs = new WeakMap<Readable, { readonly input: LineInput; readonly left: UnacknowledgedLines }>();

/** Its settings are those with which it was first read. */
function inputOf(stream: Readable, maxLineBytes: number, encoding: string) {
  const known = inputs.get(stream);
  if (known !== undefined) return known;
  if (isFolder(stream)) {
    const why = `${NAME} is a folder; expected a file or a pipe. To read the files of a folder, use a \`file\` collector`;
    throw refusal(why);
  }
  const input = new LineInput(stream, { maxLineBytes, encoding, source: SOURCE, name: NAME });
  const made = { input, left: new UnacknowledgedLines() };
  inputs.set(stream, made);
  return made;
}

/** Node.js reads a folder as an input without lines. */
function isFolder(stream: Readable): boolean {
  const { fd } = stream as Readable & { readonly fd?: unknown };
  return typeof fd === 'number' && fstatSync(fd).isDirectory();
}

export default defineCollector({
  description: 'Reads the lines of standard input, from a pipe, a file or a terminal, until it ends.',
  example: `
piped:
  plugin: stdin
`,
  schema,
  shownSettings: {},
  traits: { usesState: false, waits: true, emitsLines: true, readsStdin: true },
  testing: lineTesting((config: z.output<typeof schema>) => ({
    source: SOURCE,
    backfill: false,
    maxLineBytes: config.max_line_bytes,
    skipEmptyLines: config.skip_empty_lines,
  })),
  /**
   * Emits one event for each line, in batches, and completes at the end of the input. The input is paused while there
   * is no room in the window. A run that follows a failed one first emits what that one had in flight: standard input
   * cannot be read again.
   */
  collect({ ctx }) {
    const { max_line_bytes, skip_empty_lines: skipEmptyLines, encoding } = ctx.config;
    const onBacklog = (bytes: number) => ctx.stats.backlog(bytes);
    const onHole = (bytes: number) =>
      ctx.logger.warn(`standard input starts with ${counted(bytes, 'NUL byte')}, which were skipped`, {
        bytes,
      });
    const onInvalidByte = (offset: number) =>
      ctx.logger.warn(
        `standard input is not UTF-8: the byte at offset ${offset} and others like it become U+FFFD. If it has another ` +
          'encoding, set `encoding`, for example `encoding: windows-1252`',
        { offset },
      );
    const settings = { skipEmptyLines, onBacklog, onHole, onInvalidByte };
    return collectLines(ctx, (demand) =>
      defer(() => {
        const { input, left } = inputOf(process.stdin, max_line_bytes, encoding);
        return left.around(input.read({ demand, ...settings }), demand);
      }),
    );
  },
});
