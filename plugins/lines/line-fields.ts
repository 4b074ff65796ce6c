import * as z from 'zod';
import { MAX_LINE_BYTES } from '../../operators/internal.ts';
import { bytes } from '../../src/sdk/index.ts';
import { encoding } from '../encoding.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

/** Fields of a collector that cuts a stream into lines. */
export const lineFields = {
  max_line_bytes: bytes()
    .min(128 * KIB)
    .max(256 * MIB)
    .default(MAX_LINE_BYTES)
    .describe('A longer line is cut there, and its event is marked `truncated: true`.'),
  skip_empty_lines: z.boolean().default(false).describe('Emit no event for a line without characters.'),
  encoding: encoding()
    .default('utf-8')
    .describe('The encoding of the input, such as `windows-1252` or `utf-16le`.'),
};
