import { readFileSync } from 'node:fs';
import * as yaml from 'js-yaml';
import { fill, Random } from './templates.ts';

interface Ordinary {
  readonly tuned: Readonly<Record<string, readonly string[]>>;
  readonly held_out: Readonly<Record<string, readonly string[]>>;
}

const ORDINARY = yaml.load(readFileSync('test/redaction/ordinary.yaml', 'utf8')) as Ordinary;

/** `count` ordinary lines of all systems, in turn. Those of the same seed are the same. */
export function ordinaryLines(
  count: number,
  seed: number,
  groups: readonly (keyof Ordinary)[] = ['tuned', 'held_out'],
): string[] {
  const r = new Random(seed);
  const templates = groups.flatMap((group) => Object.values(ORDINARY[group]).flat());
  return Array.from({ length: count }, (_, i) => fill(templates[i % templates.length] as string, r).text);
}
