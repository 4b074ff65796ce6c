import * as z from 'zod';
import { counted, MAX_LINE_BYTES } from '../../operators/internal.ts';
import { bytes, CollectConfigBase, defineCollector } from '../../src/sdk/index.ts';
import { encoding } from '../encoding.ts';
import { collectLines, lineTesting } from '../lines/collect-lines.ts';
import { inputOf, SOURCE } from '../lines/stdin-input.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

const schema = CollectConfigBase.extend({
  max_line_bytes: bytes()
    .min(128 * KIB)
    .max(256 * MIB)
    .default(MAX_LINE_BYTES)
    .describe('A longer line is cut there, and its event is marked `truncated: true`.'),
  skip_empty_lines: z.boolean().default(false).describe('Emit no event for a line without characters.'),
  encoding: encoding()
    .default('utf-8')
    .describe('The encoding of the input, such as `windows-1252` or `utf-16le`.'),
});

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
    ...{ source: SOURCE, backfill: false },
    ...{ maxLineBytes: config.max_line_bytes, skipEmptyLines: config.skip_empty_lines },
  })),
  /**
   * Emits one event for each line, in batches, and completes at the end of the input. The input is paused while there
   * is no room in the window. A run that follows a failed one first emits what that one had in flight: standard input
   * cannot be read again.
   */
  collect({ ctx }) {
    const { max_line_bytes, skip_empty_lines: skipEmptyLines, encoding } = ctx.config;
    const input = inputOf(process.stdin, max_line_bytes, encoding);
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
    return collectLines(ctx, (demand) =>
      input.read({ demand, skipEmptyLines, onBacklog, onHole, onInvalidByte }),
    );
  },
});
