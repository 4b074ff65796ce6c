import * as z from 'zod';
import { DEFAULT_ALPHABET } from '../../operators/index.ts';
import {
  integer,
  oneCharacter,
  type PipelinePlace,
  type PipelineProblem,
  ProcessConfigBase,
} from '../../src/sdk/index.ts';
import { brokenPairs } from '../masks/around-parse.ts';
import { entropyMasking } from '../masks/entropy-masking.ts';

export const description =
  'Masks tokens that look random, such as keys and passwords, in all text of an event.';

export const example = `
mask-unknown-secrets:
  plugin: entropy_mask
  h_threshold: 0.85
  length_threshold: 20
`;

export const exampleEvents = [
  {
    given: { line: 'session 8fK2mQ9xZr4Lw7Tn3Vb6 opened' },
    gives: [{ line: 'session <:HIGH-ENTROPY:> opened' }],
  },
];

export const shownSettings = { h_threshold: '', length_threshold: '', mask_char: '' };

export const traits = { masks: 'strings', pure: true };

/** docs/specification.md#28-process-plugins */
export const EntropyMaskProcessConfig = ProcessConfigBase.extend({
  mask_str: z.string().default('HIGH-ENTROPY').describe('The name that replaces a token.'),
  mask_char: oneCharacter()
    .optional()
    .describe('A character that replaces each character of a token. Default: `mask_str`.'),
  mask_prefix: z.string().default('<:').describe('The string before the name.'),
  mask_suffix: z.string().default(':>').describe('The string after the name.'),
  h_threshold: z
    .number()
    .min(0)
    .max(1)
    .default(0.9)
    .describe('Tokens with an index of randomness of at least this are masked.'),
  length_threshold: integer().gt(1).default(16).describe('The least number of characters of such a token.'),
  delimeter: oneCharacter().default(' ').describe('The character between tokens.'),
  alphabet: z.string().min(1).default(DEFAULT_ALPHABET).describe('The characters that count.'),
});
export type EntropyMaskProcessConfig = Readonly<z.output<typeof EntropyMaskProcessConfig>>;

export function get_config_schema(): typeof EntropyMaskProcessConfig {
  return EntropyMaskProcessConfig;
}

/** A token is a key with its value, unless `=` separates tokens. The few digits of a number do not look random. */
export function checkPipeline(place: PipelinePlace<EntropyMaskProcessConfig>): readonly PipelineProblem[] {
  return brokenPairs(place, () => (place.config.delimeter === '=' ? undefined : 'a token that looks random'));
}

/** `process` emits the event with every token that looks random masked, in every field. Fails on what cannot be masked. */
export const { process, mapLines, mapRows } = entropyMasking;
