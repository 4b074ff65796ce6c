// The rules that find secrets, for programs that are bundled: a bundle with these has no packs of personal data.

import { type KeyedRule, type RedactRule, STRINGS } from '../operators/internal-redact.ts';
import { DEFAULT_PACKS, readBuiltPack, rulesById } from '../plugins/packs/built-pack.ts';
import { defaultPackFiles } from '../plugins/packs/default-pack-files.ts';
import { rulesOfPack } from '../plugins/packs/rules-of-pack.ts';
import { checkArgument } from './check-redactor.ts';

let packs: (readonly [name: string, pack: { readonly rules: ReturnType<typeof rulesOfPack> }])[] | undefined;

/**
 * Returns what `packRules()` returns: the rules of the default packs by their ids, `pack:rule`, for operators such as `redactStream`.
 *
 * @param disable ids of rules to leave out; `*` stands for any characters.
 * @example
 * secretRules()['secrets/keys:private-key'].confidence; // 'high'
 */
export function secretRules(disable: readonly string[] = []): Record<string, RedactRule | KeyedRule> {
  checkArgument('secretRules', 'disable', disable, STRINGS);
  packs ??= DEFAULT_PACKS.map((name) => [
    name,
    { rules: rulesOfPack(readBuiltPack(name, defaultPackFiles()[name] as string)) },
  ]);
  return rulesById(packs, disable);
}
