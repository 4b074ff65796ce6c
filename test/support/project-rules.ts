import fs from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { THIRTY_RULES } from '../../bench/thirty-rules.ts';
import * as regexMask from '../../plugins/process/regex_mask.ts';
import { ROOT } from './build.ts';

const YAML_BLOCK = /^```yaml.*\n([\s\S]*?)^```/gm;

/** Every set of rules that the documentation, the examples and the benchmark have. */
export function projectRules(): Readonly<Record<string, string>>[] {
  const pages = ['README.md', ...filesOf('docs', '.md')].map(read);
  const texts = [
    ...filesOf('examples', '.yaml').map(read),
    ...pages.flatMap((page) => [...page.matchAll(YAML_BLOCK)].map(([, text]) => text as string)),
    regexMask.example,
  ];
  return [THIRTY_RULES, ...texts.flatMap((text) => rulesIn(parsed(text)))];
}

const read = (path: string): string => fs.readFileSync(join(ROOT, path), 'utf8');

const filesOf = (folder: string, ending: string): string[] =>
  fs
    .readdirSync(join(ROOT, folder))
    .filter((name) => name.endsWith(ending))
    .map((name) => join(folder, name));

/** Some blocks show what is wrong. */
function parsed(text: string): unknown {
  try {
    return load(text);
  } catch {
    return undefined;
  }
}

function rulesIn(value: unknown): Record<string, string>[] {
  if (typeof value !== 'object' || value === null) return [];
  const inside = Object.values(value).flatMap(rulesIn);
  const { rules } = value as { rules?: Record<string, string> };
  // Those of `redact` may be more than an expression.
  const plain = Object.entries(rules ?? {}).filter(([, rule]) => typeof rule === 'string');
  return plain.length === 0 ? inside : [Object.fromEntries(plain), ...inside];
}
