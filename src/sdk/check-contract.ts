import { distance } from 'fastest-levenshtein';
import type { CollectPlugin, ForwardPlugin, Plugin, PluginKind, ProcessPlugin } from './contract.ts';
import { truncate } from './printable.ts';
import type { CollectTraits, ForwardTraits, ProcessTraits } from './traits.ts';

const KINDS: readonly PluginKind[] = ['collect', 'process', 'forward'];

/** Says in words what keeps a value from being a plugin of a kind; undefined if nothing does. */
export function contractProblem(kind: PluginKind, value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null)
    return `it is not an object with get_config_schema and ${kind}`;
  const isFunction = (name: string) => typeof (value as Record<string, unknown>)[name] === 'function';
  if (isFunction('get_config_schema') && isFunction(kind))
    return (
      traitsProblem(KINDS.filter(isFunction), (value as Partial<Plugin>).traits) ?? membersProblem(value)
    );
  const other = KINDS.find(isFunction);
  if (other !== undefined && !isFunction(kind)) return `it is a ${other} plugin; expected a ${kind} plugin`;
  const missing = ['get_config_schema', kind].filter((name) => !isFunction(name));
  return `it lacks the function${missing.length === 1 ? '' : 's'} ${missing.join(' and ')}`;
}

const TRAITS: { readonly [K in PluginKind]: readonly string[] } = {
  collect: [
    'usesState',
    'waits',
    'redelivers',
    'answers',
    'resumes',
    'emitsLines',
    'readsStdin',
    'listens',
    'reads',
    'virtualFiles',
  ] satisfies (keyof CollectTraits)[],
  process: ['masks', 'filters', 'pure', 'needsOrder'] satisfies (keyof ProcessTraits)[],
  forward: [
    'deduplicates',
    'discards',
    'writesStdout',
    'writes',
    'virtualFiles',
  ] satisfies (keyof ForwardTraits)[],
};

/** A trait that is misspelt would be none: a mask would not be recognised. One module may be a plugin of several kinds. */
function traitsProblem(kinds: readonly PluginKind[], traits: unknown): string | undefined {
  if (traits === undefined) return undefined;
  if (typeof traits !== 'object' || traits === null || Array.isArray(traits))
    return 'its `traits` are not an object';
  const known = kinds.flatMap((kind) => TRAITS[kind]);
  const unknown = Object.keys(traits).find((name) => !known.includes(name));
  if (unknown === undefined) return undefined;
  return `it has the unknown trait \`${truncate(unknown)}\`; the traits of a ${kinds.join(' and ')} plugin are ${known.join(', ')}`;
}

const MEMBERS: readonly string[] = [
  'get_config_schema',
  'checkConfig',
  'checkPipeline',
  'description',
  'example',
  'shownSettings',
  'traits',
  'collect',
  'lostSources',
  'testing',
  'process',
  'exampleEvents',
  'joinLines',
  'mapLines',
  'mapRows',
  'forward',
  'forwardBatch',
  'forwardJsonLines',
  'exactly',
] satisfies (keyof CollectPlugin | keyof ProcessPlugin | keyof ForwardPlugin)[];

/** A misspelt member would be none, and a faster form would not be used. A module may export anything else. */
function membersProblem(value: object): string | undefined {
  for (const name of Object.keys(value)) {
    if (MEMBERS.includes(name) || name.startsWith('_')) continue;
    const meant = MEMBERS.find((member) => distance(member.toLowerCase(), name.toLowerCase()) <= 1);
    if (meant !== undefined)
      return `it has the unknown member \`${truncate(name)}\`; did you mean \`${meant}\`? If not, choose a name that is less like it`;
  }
  const { description, example } = value as Record<string, unknown>;
  if (description !== undefined && typeof description !== 'string')
    return 'its `description` is not a string';
  if (example !== undefined && typeof example !== 'string') return 'its `example` is not a string';
  return undefined;
}

/** Whether a value has what a plugin of the kind must have. */
export function isPlugin(kind: PluginKind, value: unknown): value is Plugin {
  return contractProblem(kind, value) === undefined;
}
