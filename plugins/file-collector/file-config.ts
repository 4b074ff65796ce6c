import * as z from 'zod';
import { UNSURE_CHARACTERS } from '../../operators/internal-files.ts';
import { bytes, CollectConfigBase, path, seconds } from '../../src/sdk/index.ts';
import { encoding } from '../encoding.ts';

/** Above what is taken off the end of a line that is cut. */
export const LEAST_LINE_BYTES = 2 * UNSURE_CHARACTERS;
/** The longest that fits into a string, whatever its characters. */
const LONGEST_LINE_BYTES = 256 * 1024 * 1024;

/** docs/specification.md#27-collect-plugins-and-their-events. `paths` may be globs. The fields after `backfill` are additions. */
export const FileCollectConfig = CollectConfigBase.extend({
  paths: z.array(path()).describe('Paths of files, or glob patterns of paths.'),
  backfill: z.boolean().default(false).describe('Start with what is in the files. Default: at their end.'),
  exclude: z
    .array(z.string().min(1))
    .optional()
    .describe('Glob patterns of files that are not read. Default: compressed files.'),
  allow_missing: z.boolean().optional().describe('With `--once`: files may be missing. Default: false.'),
  max_line_bytes: bytes()
    .min(LEAST_LINE_BYTES)
    .max(LONGEST_LINE_BYTES)
    .optional()
    .describe('A longer line is cut there, and its event is marked `truncated: true`. Default: 4 MiB.'),
  flush_timeout: seconds()
    .min(1)
    .nullable()
    .optional()
    .describe('Seconds after which a last line without a newline is emitted; null: never. Default: 5.'),
  skip_empty_lines: z
    .boolean()
    .optional()
    .describe('Emit no event for a line without characters. Default: false.'),
  encoding: encoding()
    .optional()
    .describe('The encoding of the files, such as `windows-1252` or `utf-16le`. Default: utf-8.'),
  container_fields: z
    .boolean()
    .optional()
    .describe('Add what the path of a container log says of its pod and container. Default: false.'),
});
export type FileCollectConfig = Readonly<z.output<typeof FileCollectConfig>>;
