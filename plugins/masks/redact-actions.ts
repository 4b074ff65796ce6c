import { nameOfRule } from '../../operators/internal-masks.ts';
import { FieldPolicies, type FieldPolicy, ruleOfPattern } from '../../operators/internal-redact.ts';
import { globToExpression } from '../packs/load-packs.ts';
import { isPseudonym, keyedHash, keyedPseudonyms, SessionPseudonyms } from './pseudonyms.ts';

/** A key: the environment variable that has it, or the key itself. */
export interface HashKey {
  readonly key_env?: string | undefined;
  readonly key?: string | undefined;
}

/** A hash under a key, or under the first one of several: the others are those of events that were masked before. */
export interface HashAction extends HashKey {
  readonly keys?: readonly HashKey[] | undefined;
  /** Hexadecimal digits: 12 by default. */
  readonly length?: number | undefined;
}

/** What replaces a value: its rule's name, with or without something of the value. */
export type RedactAction =
  | 'name'
  | { readonly keep_last: number }
  | { readonly mask_char: string }
  | { readonly hmac: HashAction };

/** What becomes of a field: its value stays, it goes, its value is replaced by the name of the field, or as an action says. */
export type FieldAction = 'keep' | 'drop' | 'mask' | RedactAction;

/** Pseudonyms that are counted while the process runs, or hashes under a key. */
export type Pseudonyms = 'session' | HashAction;

/** What replaces values. `pseudonyms` are for those that have no action. */
export interface RedactActions {
  readonly action: Readonly<Record<string, RedactAction>>;
  readonly pseudonyms?: Pseudonyms | undefined;
}

export const HASH_LENGTH = 12;
/** No more of a value is shown than this share of it. */
const SHOWN_SHARE = 1 / 4;

type Replace = (value: string, id: string) => string;

/**
 * Replaces values as `action` says for their rules. A rule's own entry comes first, then the first pattern that matches
 * it, then `pseudonyms`, then `default`.
 *
 * @param session counts pseudonyms
 * @throws Error if the key of a hash is not in the environment.
 */
export function replaceByActions(
  { action: actions, pseudonyms }: RedactActions,
  session = () => new SessionPseudonyms(),
): Replace {
  const patterns = Object.entries(actions)
    .filter(([pattern]) => pattern.includes('*'))
    .map(([pattern, action]) => [globToExpression(pattern), action] as const);
  const replaceOthers = pseudonyms === undefined ? undefined : replaceByPseudonyms(pseudonyms, session);
  const replaceOf = (id: string): Replace => {
    const own = id !== 'default' && Object.hasOwn(actions, id) ? actions[id] : undefined;
    const action = own ?? patterns.find(([expression]) => expression.test(id))?.[1];
    if (action === undefined && replaceOthers !== undefined) return replaceOthers;
    return replaceBy(action ?? actions.default ?? 'name', nameOfRule(id));
  };
  const known = new Map<string, Replace>();
  return (value, id) => {
    let replace = known.get(id);
    if (replace === undefined) {
      replace = replaceOf(id);
      known.set(id, replace);
    }
    return replace(value, id);
  };
}

/** Whether one of these actions adds this to the name of a rule: `1111` of `<:card:1111:>`. */
export function additionsOf({ action }: RedactActions): (text: string) => boolean {
  let mostKept = 0;
  const hashLengths = new Set<number>();
  for (const one of Object.values(action)) {
    if (one === 'name') continue;
    if ('keep_last' in one) mostKept = Math.max(mostKept, one.keep_last);
    else if ('hmac' in one) hashLengths.add(one.hmac.length ?? HASH_LENGTH);
  }
  return (text) => [...text].length <= mostKept || (hashLengths.has(text.length) && /^[0-9a-f]+$/.test(text));
}

/** Whether a text is one of these pseudonyms, so that it is not masked again. Undefined if there are none. */
export function pseudonymsOf({ pseudonyms }: RedactActions): ((text: string) => boolean) | undefined {
  if (pseudonyms === undefined) return undefined;
  const kind = pseudonyms === 'session' ? 'session' : (pseudonyms.length ?? HASH_LENGTH);
  return (text) => isPseudonym(text, kind);
}

/**
 * Policies of fields by their patterns. The values of a field whose policy is `keep` for a key alone, rather than a path, also stay in
 * text: see {@link keptKeys}.
 *
 * @throws Error if the key of a hash is not in the environment.
 */
export function fieldPolicies(fields: Readonly<Record<string, FieldAction>>): FieldPolicies | undefined {
  const entries = Object.entries(fields).map(([pattern, action]): [string, FieldPolicy] => {
    if (action === 'keep' || action === 'drop') return [pattern, action];
    return [pattern, replaceField(pattern, action === 'mask' ? 'name' : action)];
  });
  return entries.length === 0 ? undefined : new FieldPolicies(Object.fromEntries(entries));
}

/** What is masked already stays, so that a hash is not that of a hash. */
function replaceField(pattern: string, action: RedactAction): (value: string) => string {
  const rule = ruleOfPattern(pattern);
  const replace = replaceBy(action, nameOfRule(rule));
  const isMask = fieldMasksOf({ [pattern]: action });
  return (value) => (isMask?.(value) === true ? value : replace(value, rule));
}

/** Keys of text whose values stay. */
export const keptKeys = (fields: Readonly<Record<string, FieldAction>>): string[] =>
  Object.keys(fields).filter((pattern) => fields[pattern] === 'keep' && !pattern.includes('.'));

/** Whether a text is a mask of a field. Undefined if no field has one. */
export function fieldMasksOf(
  fields: Readonly<Record<string, FieldAction>>,
): ((text: string) => boolean) | undefined {
  const replaced = Object.entries(fields).filter(([, action]) => action !== 'keep' && action !== 'drop');
  if (replaced.length === 0) return undefined;
  const names = new Set(replaced.map(([pattern]) => nameOfRule(ruleOfPattern(pattern))));
  const actions = replaced.flatMap(([pattern, action]) => (action === 'mask' ? [] : [[pattern, action]]));
  const isAddition = additionsOf({ action: Object.fromEntries(actions) });
  return (text) => {
    const [, name, addition] = /^<:([^:<>\s]+)(?::([^<>\s]*))?:>$/.exec(text) ?? [];
    return name !== undefined && names.has(name) && (addition === undefined || isAddition(addition));
  };
}

/** The keys of a hash, with the one for new events first. */
export const keysOf = ({ keys, ...single }: HashAction): readonly HashKey[] => keys ?? [single];

/** Undefined if the environment does not have it. */
export function keyOf({ key, key_env }: HashKey): string | undefined {
  return key || (key_env === undefined ? undefined : process.env[key_env]) || undefined;
}

/** The key that new events are masked with. */
function currentKey(action: HashAction): string {
  const [first = {}] = keysOf(action);
  const key = keyOf(first);
  if (key === undefined) throw new Error(`the environment variable ${first.key_env} is not set`);
  return key;
}

function replaceByPseudonyms(pseudonyms: Pseudonyms, session: () => SessionPseudonyms): Replace {
  if (pseudonyms === 'session') {
    const counted = session();
    return (value, id) => counted.of(value, id);
  }
  return keyedPseudonyms(currentKey(pseudonyms), pseudonyms.length ?? HASH_LENGTH);
}

function replaceBy(action: RedactAction, name: string): Replace {
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
  const hashOf = keyedHash(currentKey(action.hmac));
  const length = action.hmac.length ?? HASH_LENGTH;
  return (value) => `<:${name}:${hashOf(value).slice(0, length)}:>`;
}
