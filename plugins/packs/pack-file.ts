import { readFileSync, statSync } from 'node:fs';
import { load, YAMLException } from 'js-yaml';
import { unknownKey } from './explain-issue.ts';
import type { PackProblems, ShownFile } from './pack-problems.ts';
import { placeOf } from './place-in-yaml.ts';

/** What a file of a pack may have. */
const LIMITS = { bytes: 256 * 1024, values: 50_000, depth: 40 } as const;

/** The keys at the top of a pack, and what they hold. */
const PACK_KEYS = {
  description: 'a string',
  files: 'a list of names of files, without their ending',
  parts: 'a mapping of names to parts of expressions',
  rules: 'a mapping of names to rules',
  kinds: 'a mapping of kinds of names to their checks',
  names: 'a list of names',
  notations: 'a list of notations',
  guards: 'a list of guards',
  words: 'a list of words',
  commands: 'a list of commands',
  calls: 'a list of functions',
} as const;
export type PackKey = keyof typeof PACK_KEYS;

/** A line of a file by which it is a pack. Nothing of other files is shown. */
const PACK_LINE = new RegExp(`^[{\\s]{0,20}["']?(?:${Object.keys(PACK_KEYS).join('|')})["']?\\s{0,20}:`, 'm');
/** Keys that only packs have, if their values are of the right type. Other files may have a description, too. */
const EVIDENT_KEYS: readonly PackKey[] = ['rules', 'names', 'notations', 'guards', 'commands', 'calls'];

/** A file of a pack, as it was read. */
export interface PackFile extends ShownFile {
  readonly content: Readonly<Partial<Record<PackKey, unknown>>>;
  /** Whether the file is a pack beyond doubt, so that its keys can be shown. */
  readonly isEvident: boolean;
}

/**
 * Reads a file of a pack, and checks the types of its keys.
 *
 * @param isOfPack whether it is known to belong to a pack, so that its keys can be shown
 * @returns undefined for a file that cannot be a part of a pack, which is then among the problems
 */
export function readPackFile(file: string, problems: PackProblems, isOfPack = false): PackFile | undefined {
  const refuse = (message: string) => problems.add(message, file);
  let text: string;
  try {
    const stat = statSync(file);
    // Reading a pipe would never end.
    if (!stat.isFile()) {
      refuse(': is not a file');
      return undefined;
    }
    const { size } = stat;
    if (size > LIMITS.bytes) {
      refuse(`: the file has ${size} bytes; a file of a pack may have ${LIMITS.bytes}`);
      return undefined;
    }
    text = readFileSync(file, 'utf8').replace(/^\uFEFF/, '');
  } catch (error) {
    refuse(`: cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`);
    return undefined;
  }
  const noPack = `: this is not a pack: it has none of the keys ${Object.keys(PACK_KEYS).join(', ')}. The content of the file is not shown here`;
  if (!PACK_LINE.test(text)) {
    refuse(noPack);
    return undefined;
  }
  let content: unknown;
  try {
    content = load(text);
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    const { line, column } = placeOf(text, error.mark?.position ?? 0);
    refuse(
      `:${line}:${column}: the file is not valid YAML: ${error.reason.replace(/[\s,:;]*["'`<!(].*$/s, '')}`,
    );
    return undefined;
  }
  const isMapping = typeof content === 'object' && content !== null && !Array.isArray(content);
  const known = isMapping ? Object.keys(content as object) : [];
  if (!known.some((key) => Object.hasOwn(PACK_KEYS, key))) {
    refuse(noPack);
    return undefined;
  }
  const excess = excessOf(content);
  if (excess !== undefined) {
    refuse(`: the file has ${excess}`);
    return undefined;
  }
  const isEvident =
    isOfPack || EVIDENT_KEYS.some((key) => isOfType((content as PackFile['content'])[key], PACK_KEYS[key]));
  const isShown = (key: PropertyKey) => isEvident || Object.hasOwn(PACK_KEYS, key);
  const about = { file, text, isEvident, isShown };
  const isRight = (key: string) => {
    if (Object.hasOwn(PACK_KEYS, key)) return hasType(about, key as PackKey, content, problems);
    problems.report(about, [key], unknownKey(key, Object.keys(PACK_KEYS)));
    return false;
  };
  const right = Object.entries(content as object).filter(([key]) => isRight(key));
  return { ...about, content: Object.fromEntries(right) };
}

/** Whether the value of a key is of its type. */
function hasType(file: ShownFile, key: PackKey, content: unknown, problems: PackProblems): boolean {
  const value = (content as PackFile['content'])[key];
  const wanted = PACK_KEYS[key];
  if (!isOfType(value, wanted)) {
    problems.report(file, [key], `expected ${wanted}`);
    return false;
  }
  const [wrong] =
    key === 'parts' ? Object.entries(value as object).filter(([, part]) => typeof part !== 'string') : [];
  if (wrong !== undefined) problems.report(file, [key, wrong[0]], 'expected a string');
  return wrong === undefined;
}

function isOfType(value: unknown, wanted: string): boolean {
  if (wanted.startsWith('a list')) return Array.isArray(value);
  if (wanted === 'a string') return typeof value === 'string';
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What a file has too much of. Aliases make few bytes many values, and a value that has itself. */
function excessOf(content: unknown): string | undefined {
  let count = 0;
  const visit = (one: unknown, depth: number): string | undefined => {
    if (++count > LIMITS.values) return `more than ${LIMITS.values} values`;
    if (typeof one !== 'object' || one === null) return undefined;
    if (depth === LIMITS.depth)
      return `more than ${LIMITS.depth} levels; an alias must not stand in what it names`;
    for (const inner of Object.values(one)) {
      const excess = visit(inner, depth + 1);
      if (excess !== undefined) return excess;
    }
    return undefined;
  };
  return visit(content, 0);
}
