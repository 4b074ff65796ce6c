import * as z from 'zod';
import { DEFAULT_ALPHABET } from '../../operators/masks/entropy-mask.ts';
import { integer, oneCharacter, ProcessConfigBase } from '../../src/sdk/index.ts';
import { entropyMasking } from '../masks/entropy_mask.ts';

export const description =
  'Masks tokens that look random, such as keys and passwords, in all text of an event.';

export const example = `
mask-unknown-secrets:
  plugin: entropy_mask
  h_threshold: 0.85
  length_threshold: 20
`;

export const shownSettings = { h_threshold: '', length_threshold: '', mask_char: '' };

/** This plugin removes secrets. */
export const masks = true;

export const runsInWorkers = true;

/** docs/specification.md#28-process-plugins */
export const EntropyMaskProcessConfig = ProcessConfigBase.extend({
  mask_str: z.string().default('HIGH-ENTROPY'),
  mask_char: oneCharacter().optional(),
  mask_prefix: z.string().default('<:'),
  mask_suffix: z.string().default(':>'),
  h_threshold: z.number().min(0).max(1).default(0.9),
  length_threshold: integer().gt(1).default(16),
  delimeter: oneCharacter().default(' '),
  alphabet: z.string().min(1).default(DEFAULT_ALPHABET),
});
export type EntropyMaskProcessConfig = Readonly<z.output<typeof EntropyMaskProcessConfig>>;

export function get_config_schema(): typeof EntropyMaskProcessConfig {
  return EntropyMaskProcessConfig;
}

/** `process` emits the event with every token that looks random masked, in every field. Fails on what cannot be masked. */
export const { process, mapLines } = entropyMasking;
