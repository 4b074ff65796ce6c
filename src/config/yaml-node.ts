import type { UsedVariable } from '../checks/variables.ts';

/** A YAML value with its place. Aliases share the node that they name. */
export type YamlNode = ScalarNode | SequenceNode | MappingNode;

interface NodeBase {
  /** Where the value begins; undefined for block collections and empty values, whose key is their place. */
  readonly offset: number | undefined;
  /** How many values this one is made of, aliases written out. */
  readonly size: number;
  /** A scalar in it has no value, for example for want of an environment variable; that is told already. */
  readonly broken: boolean;
}

export interface ScalarNode extends NodeBase {
  readonly kind: 'scalar';
  readonly value: unknown;
  /** As written, before environment variables were put in. */
  readonly written: string;
  readonly used: readonly UsedVariable[];
  /** Whether environment variables, or their defaults, made the value. */
  readonly substituted: boolean;
}

export interface SequenceNode extends NodeBase {
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

/** The environment variables that a node's scalars hold. */
export function usedVariables(node: YamlNode): readonly UsedVariable[] {
  return childNodes(node)
    .flatMap(usedVariables)
    .concat(node.kind === 'scalar' ? node.used : []);
}

/** The values of a collection. */
export function childNodes(node: YamlNode): YamlNode[] {
  if (node.kind === 'scalar') return [];
  const slots = node.kind === 'sequence' ? node.items : [...node.entries.values()];
  return slots.map((slot) => slot.node);
}
