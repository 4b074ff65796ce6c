import {
  boolCoreTag,
  floatCoreTag,
  intCoreTag,
  NOT_RESOLVED,
  nullCoreTag,
  type ScalarTagDefinition,
  strTag,
} from 'js-yaml';
import { valueAt } from '../sdk/checks/problem.ts';
import type { UsedVariable } from '../sdk/checks/shown-values.ts';

/** A YAML value with its place. Aliases share the node that they name. */
export type YamlNode = ScalarNode | SequenceNode | MappingNode;

interface NodeBase {
  /** Where the value starts; undefined for block collections and empty values, whose key is their place. */
  readonly offset: number | undefined;
  /** How many values this one is made of, aliases written out. */
  readonly size: number;
  /** A scalar in it has no value, for example for want of an environment variable; that is told already. */
  readonly broken: boolean;
}

export interface ScalarNode extends NodeBase {
  readonly kind: 'scalar';
  readonly value: unknown;
  /** The offset after the value. */
  readonly end: number;
  /** The value as written, before environment variables are substituted. */
  readonly written: string;
  /** The value after environment variables are substituted. */
  readonly text: string;
  readonly used: readonly UsedVariable[];
}

interface SequenceNode extends NodeBase {
  readonly kind: 'sequence';
  readonly items: readonly { readonly offset: number | undefined; readonly node: YamlNode }[];
}

export interface MappingNode extends NodeBase {
  readonly kind: 'mapping';
  readonly entries: ReadonlyMap<string, { readonly offset: number; readonly node: YamlNode }>;
}

/** The plain JavaScript value of a node. `__proto__` is an ordinary own key. */
export function nodeValue(node: YamlNode): unknown {
  if (node.kind === 'scalar') return node.value;
  if (node.kind === 'sequence') return node.items.map((item) => nodeValue(item.node));
  return Object.fromEntries([...node.entries].map(([key, entry]) => [key, nodeValue(entry.node)]));
}

/** The value of a node with references where it has values of environment variables. */
export function writtenValue(node: YamlNode): unknown {
  if (node.kind === 'scalar') return node.used.length === 0 ? node.value : node.written;
  if (node.kind === 'sequence') return node.items.map((item) => writtenValue(item.node));
  return Object.fromEntries([...node.entries].map(([key, entry]) => [key, writtenValue(entry.node)]));
}

/**
 * The environment variables that a node's scalars hold.
 *
 * @param parsed what a schema has made of the value: of `5s` the number 5, which is as secret
 */
export function usedVariables(node: YamlNode, parsed: unknown = nodeValue(node)): readonly UsedVariable[] {
  if (node.kind !== 'scalar') {
    const slots = node.kind === 'sequence' ? node.items.entries() : node.entries;
    return [...slots].flatMap(([key, slot]) => usedVariables(slot.node, valueAt(parsed, [key])));
  }
  const [first] = node.used;
  if (first === undefined) return [];
  const values = scalarsIn(parsed)
    .map(String)
    .filter((value) => value !== node.text);
  return [...node.used, ...values.map((value) => ({ ...first, value, shown: node.written }))];
}

function scalarsIn(value: unknown): (string | number | boolean)[] {
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(scalarsIn);
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? [value] : [];
}

/** In the order in which a plain scalar is tried: YAML 1.2's core schema, where dates stay strings. */
const IMPLICIT_TAGS: readonly ScalarTagDefinition[] = [nullCoreTag, boolCoreTag, intCoreTag, floatCoreTag];

const EXPLICIT_TAGS = new Map<string, ScalarTagDefinition>([
  ['!', strTag],
  ...[strTag, ...IMPLICIT_TAGS].map((tag): [string, ScalarTagDefinition] => [shortTag(tag.tagName), tag]),
]);

/** `!!int` for `tag:yaml.org,2002:int`. */
function shortTag(tagName: string): string {
  return tagName.replace(/^tag:yaml\.org,2002:/, '!!');
}

/** The value of a plain scalar without a tag. */
export function resolvePlain(text: string): unknown {
  for (const tag of IMPLICIT_TAGS) {
    const value = tag.resolve(text, false, tag.tagName);
    // JavaScript has no numbers for ids of 64 bits. They stay strings, as in JSON that millrace parses.
    if (value !== NOT_RESOLVED) return Number.isInteger(value) && isBeyondExact(text) ? text : value;
  }
  return text;
}

const isBeyondExact = (text: string): boolean =>
  /^[-+]?\d+$/.test(text) && !Number.isSafeInteger(Number(text));

/** The value of a scalar with a tag, or in words what is wrong with it. */
export function resolveTagged(text: string, tagName: string): { value: unknown } | { problem: string } {
  const tag = EXPLICIT_TAGS.get(tagName);
  if (tag === undefined) {
    return {
      problem: `unknown tag ${tagName}; expected none, or one of ${[...EXPLICIT_TAGS.keys()].slice(1).join(', ')}`,
    };
  }
  const value = tag.resolve(text, true, tag.tagName);
  return value === NOT_RESOLVED ? { problem: `the value is not a valid ${tagName}` } : { value };
}
