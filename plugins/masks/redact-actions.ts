import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { nameOfRule } from '../../operators/internal-masks.ts';
import { globToExpression } from '../packs/load-packs.ts';

/** What replaces a value: its rule's name, with or without something of the value. */
export type RedactAction =
  | 'name'
  | { readonly keep_last: number }
  | { readonly mask_char: string }
  | {
      readonly hmac: {
        /** The environment variable with the key, or the key itself. */
        readonly key_env?: string | undefined;
        readonly key?: string | undefined;
        /** Hexadecimal digits: 12 by default. */
        readonly length?: number | undefined;
      };
    };

const HMAC_LENGTH = 12;
/** No more of a value is shown than this share of it. */
const SHOWN_SHARE = 1 / 4;

/**
 * Replaces values as `action` says for their rules. A rule's own entry comes first, then the first pattern that matches
 * it, then `default`.
 *
 * @throws Error if the key of an `hmac` is not in the environment.
 */
export function replaceByActions(
  actions: Readonly<Record<string, RedactAction>>,
): (value: string, id: string) => string {
  const patterns = Object.entries(actions)
    .filter(([pattern]) => pattern.includes('*'))
    .map(([pattern, action]) => [globToExpression(pattern), action] as const);
  const actionOf = (id: string): RedactAction => {
    if (id !== 'default' && Object.hasOwn(actions, id)) return actions[id] as RedactAction;
    return patterns.find(([expression]) => expression.test(id))?.[1] ?? actions.default ?? 'name';
  };
  const known = new Map<string, (value: string) => string>();
  return (value, id) => {
    let replace = known.get(id);
    if (replace === undefined) {
      replace = replaceBy(actionOf(id), nameOfRule(id));
      known.set(id, replace);
    }
    return replace(value);
  };
}

/** Whether one of these actions adds this to the name of a rule: `1111` of `<:card:1111:>`. */
export function additionsOf(actions: Readonly<Record<string, RedactAction>>): (text: string) => boolean {
  let mostKept = 0;
  const hmacLengths = new Set<number>();
  for (const action of Object.values(actions)) {
    if (action === 'name') continue;
    if ('keep_last' in action) mostKept = Math.max(mostKept, action.keep_last);
    else if ('hmac' in action) hmacLengths.add(action.hmac.length ?? HMAC_LENGTH);
  }
  return (text) => [...text].length <= mostKept || (hmacLengths.has(text.length) && /^[0-9a-f]+$/.test(text));
}

function replaceBy(action: RedactAction, name: string): (value: string) => string {
  const fixed = `<:${name}:>`;
  if (action === 'name') return () => fixed;
  if ('mask_char' in action) return (value) => action.mask_char.repeat([...value].length);
  if ('keep_last' in action) {
    return (value) => {
      const characters = [...value];
      const shown = Math.min(action.keep_last, Math.floor(characters.length * SHOWN_SHARE));
      return shown === 0 ? fixed : `<:${name}:${characters.slice(-shown).join('')}:>`;
    };
  }
  const { key_env, length = HMAC_LENGTH } = action.hmac;
  const key = action.hmac.key ?? (key_env === undefined ? undefined : process.env[key_env]);
  if (key === undefined || key === '') throw new Error(`the environment variable ${key_env} is not set`);
  const keyed = hmac.create(sha256, utf8ToBytes(key));
  const digestOf = (value: string) => bytesToHex(keyed.clone().update(utf8ToBytes(value)).digest());
  return (value) => `<:${name}:${digestOf(value).slice(0, length)}:>`;
}
