import { MillraceError } from '../../src/sdk/index.ts';
import { DEFAULT_PACKS, PackError, type PackRule, resolvePackRules } from './load-packs.ts';
import { readPacks } from './outside-packs.ts';

/**
 * The rules of packs by their ids, `pack:rule`, for the operator `redact`, in the order in which they are applied. It does not
 * depend on the order of the names.
 *
 * @param names names of packs, paths of YAML files such as `./packs/acme.yaml`, relative to the working folder, and npm
 * packages. The default packs of the processor if they are left out.
 * @param disable ids of rules that are left out; `*` stands for any characters.
 * @throws MillraceError `MILLRACE_ARGUMENT` if there is no pack of one of the names, or something is wrong with it.
 * @example
 * Object.keys(packRules(['secrets/keys'], ['secrets/keys:*'])); // []
 */
export function packRules(
  names: readonly string[] = DEFAULT_PACKS,
  disable: readonly string[] = [],
): Record<string, PackRule> {
  if (!Array.isArray(names)) {
    throw new MillraceError(
      'MILLRACE_ARGUMENT',
      "packRules: expected a list of packs, such as ['secrets/keys']",
    );
  }
  const { packs, problems } = readPacks(names, process.cwd());
  if (problems.length > 0) {
    throw new MillraceError('MILLRACE_ARGUMENT', problems.map(({ message }) => message).join('\n'));
  }
  try {
    return resolvePackRules(packs, disable);
  } catch (error) {
    if (error instanceof PackError) throw new MillraceError('MILLRACE_ARGUMENT', error.message);
    throw error;
  }
}
