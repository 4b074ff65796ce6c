import type { MappingNode, YamlNode } from './yaml-node.ts';

/**
 * Merges what a `<<` key names into a mapping; keys that are there already stay.
 * Returns in words what is wrong with the value, if something is.
 */
export function mergeEntries(
  entries: Map<string, { offset: number; node: YamlNode }>,
  merged: YamlNode,
): string | undefined {
  const mappings = merged.kind === 'sequence' ? merged.items.map((item) => item.node) : [merged];
  if (!mappings.every((node): node is MappingNode => node.kind === 'mapping')) {
    return 'wanted a mapping, or a list of mappings, to merge';
  }
  for (const mapping of mappings) {
    for (const [key, entry] of mapping.entries) if (!entries.has(key)) entries.set(key, entry);
  }
  return undefined;
}
