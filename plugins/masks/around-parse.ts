import type { PipelineEntry, PipelinePlace, PipelineProblem } from '../../src/sdk/index.ts';

type Place = Pick<PipelinePlace<unknown>, 'name' | 'before' | 'after'>;

const parses = (entry: PipelineEntry, format: string) =>
  entry.plugin === 'parse' && entry.config.format === format;

/**
 * Warns of JSON that is parsed in front of masks that all leave numbers and keys as they are.
 *
 * @param findRule a rule of this mask that would find a secret in the digits of a number
 */
export function overlookedNumbers(
  { name, before, after }: Place,
  findRule: () => string | undefined,
): PipelineProblem[] {
  const index = before.findIndex((entry) => parses(entry, 'json'));
  const parser = before[index];
  if (parser === undefined) return [];
  const isMaskedBefore = before.slice(0, index).some(({ traits }) => traits.masks);
  const masksNumbers = [...before, ...after].some(({ traits }) => traits.masks === true);
  const rule = isMaskedBefore || masksNumbers ? undefined : findRule();
  if (rule === undefined) return [];
  const message =
    `\`${parser.name}\` makes numbers and keys of fields, which \`${name}\` leaves as they are: what its rule ${rule} would ` +
    `find in the line is delivered if it is a number in JSON; put \`${name}\` in front of it, or use \`redact\`, which ` +
    'masks numbers and keys as well';
  return [{ at: parser, severity: 'warning', message }];
}

/**
 * Warns of logfmt that is parsed after a mask that can replace what separates its keys and values.
 *
 * @param findPart what of this mask can, such as `its rule TOKEN`
 */
export function brokenPairs({ name, after }: Place, findPart: () => string | undefined): PipelineProblem[] {
  const parser = after.find((entry) => parses(entry, 'logfmt'));
  const part = parser && findPart();
  if (parser === undefined || part === undefined) return [];
  const message =
    `\`${parser.name}\` reads keys and values of logfmt, and \`${name}\` in front of it can replace a key, a quote or a ` +
    `space with a value (${part}), so that fields are lost; put \`${parser.name}\` in front of \`${name}\``;
  return [{ at: parser, severity: 'warning', message }];
}
