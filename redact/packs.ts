import { type Check, type KeyedRule, type RedactRule, STRINGS } from '../operators/internal-redact.ts';
import * as packs from '../plugins/packs/load-packs.ts';
import { checkArgument } from './check-redactor.ts';

const NAMES: Check = (value) =>
  typeof value === 'string' || STRINGS(value) === true || 'the name of a pack, or an array of them';

/**
 * The names of the packs that come with millrace.
 *
 * @example
 * packNames().includes('secrets/keys'); // true
 */
export function packNames(): string[] {
  return packs.packNames();
}

/**
 * The rules of packs by their ids, `pack:rule`, for the operators `redact` and `redactStream`.
 *
 * @param names names of packs; `default` and `all` stand for several. Default: `default`, whose packs find secrets.
 * @param disable ids of rules to leave out; `*` stands for any characters.
 * @throws Error with the code `MILLRACE_ARGUMENT` if there is no pack of one of the names.
 * @example
 * Object.keys(packRules(['secrets/keys'], ['secrets/keys:*'])); // []
 */
export function packRules(
  names: string | readonly string[] = 'default',
  disable: readonly string[] = [],
): Record<string, RedactRule | KeyedRule> {
  checkArgument('packRules', 'names', names, NAMES);
  checkArgument('packRules', 'disable', disable, STRINGS);
  return packs.resolvePackRules([...new Set([names].flat().flatMap(packs.packsOf))], disable);
}
