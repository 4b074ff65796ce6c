import {
  boolCoreTag,
  floatCoreTag,
  intCoreTag,
  NOT_RESOLVED,
  nullCoreTag,
  type ScalarTagDefinition,
  strTag,
} from 'js-yaml';

/** In the order in which a plain scalar is tried: YAML 1.2's core schema, where dates stay strings. */
const IMPLICIT_TAGS: readonly ScalarTagDefinition[] = [nullCoreTag, boolCoreTag, intCoreTag, floatCoreTag];

const EXPLICIT_TAGS = new Map<string, ScalarTagDefinition>([
  ['!', strTag],
  ...[strTag, ...IMPLICIT_TAGS].map((tag): [string, ScalarTagDefinition] => [shortTag(tag.tagName), tag]),
]);

/** `!!int` for `tag:yaml.org,2002:int`. */
export function shortTag(tagName: string): string {
  return tagName.replace(/^tag:yaml\.org,2002:/, '!!');
}

/** The value of a plain scalar without a tag. */
export function resolvePlain(text: string): unknown {
  for (const tag of IMPLICIT_TAGS) {
    const value = tag.resolve(text, false, tag.tagName);
    if (value !== NOT_RESOLVED) return value;
  }
  return text;
}

/** The value of a scalar with a tag, or in words what is wrong with it. */
export function resolveTagged(text: string, tagName: string): { value: unknown } | { mistake: string } {
  const tag = EXPLICIT_TAGS.get(tagName);
  if (tag === undefined) {
    return {
      mistake: `unknown tag ${tagName}; wanted none, or one of ${[...EXPLICIT_TAGS.keys()].slice(1).join(', ')}`,
    };
  }
  const value = tag.resolve(text, true, tag.tagName);
  return value === NOT_RESOLVED ? { mistake: `the value is no ${tagName}` } : { value };
}
