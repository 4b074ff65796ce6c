import { readFileSync, statSync } from 'node:fs';
import { isAbsolute, join, relative } from 'node:path';
import { load, YAMLException } from 'js-yaml';
import type * as z from 'zod';
import { counted } from '../../operators/internal.ts';
import { nearest } from '../../src/sdk/index.ts';
import { expressionsOf, startsOf } from './built-expressions.ts';
import { PackCheck } from './check-pack.ts';
import { explained, unknownKey } from './explain-issue.ts';
import { findPacks, type MissingPack } from './find-packs.ts';
import { type NamedPack, packNames } from './load-packs.ts';
import {
  type Additions,
  AdditionsSchema,
  CallsSchema,
  CommandsSchema,
  ExpressionRuleSchema,
  expandStrings,
  KeyedRuleSchema,
  type OutsidePack,
  ofCalls,
  ofCommands,
  PART,
  partsExpander,
  RuleName,
} from './pack-schema.ts';
import { type Path, placeOf, YamlPlaces } from './place-in-yaml.ts';

/** Packs, as a configuration names them. */
export interface ReadPacks {
  /** The names of packs that come with millrace, and packs from files and packages. */
  readonly packs: readonly NamedPack[];
  readonly problems: readonly PackProblem[];
}

export interface PackProblem extends MissingPack {
  /** Of the name that is wrong. */
  readonly index: number;
}

/** What a pack from outside may have. The packs that come with millrace are far smaller. */
const MOST = {
  bytes: 256 * 1024,
  files: 30,
  values: 50_000,
  depth: 40,
  expanded: 2_000_000,
  problems: 20,
  rules: 500,
  names: 2_000,
  notations: 100,
  guards: 500,
  words: 5_000,
} as const;
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
type PackKey = keyof typeof PACK_KEYS;
const ADDED = ['kinds', 'names', 'notations', 'guards', 'words'] as const;

/** A line of a file by which it is a pack. Nothing of other files is shown. */
const PACK_LINE = new RegExp(`^[{\\s]{0,20}["']?(?:${Object.keys(PACK_KEYS).join('|')})["']?\\s{0,20}:`, 'm');
/** Keys that only packs have, if their values are of the right type. Other files may have a description, too. */
const EVIDENT_KEYS: readonly PackKey[] = ['rules', 'names', 'notations', 'guards', 'commands', 'calls'];
/** Strings of these fields are no expressions. Templates of tests have braces of their own. */
const NO_EXPRESSIONS = ['tests', 'example', 'miss', 'description', 'parts'];

/**
 * Reads the packs that do not come with millrace: paths of YAML files relative to `folder`, and npm packages as seen from there.
 * Problems are reported with their place in the file, and without its content.
 */
export function readPacks(names: readonly string[], folder: string): ReadPacks {
  const builtIn = packNames();
  const files = new Map<string, string>();
  const problems: PackProblem[] = [];
  const indexes = new Map<NamedPack, number>();
  const packs = [...names.entries()].flatMap(([index, name]): NamedPack[] => {
    if (builtIn.includes(name)) return [name];
    const found = findPacks(name, folder, [...builtIn, 'default', 'all']);
    if ('message' in found) {
      problems.push({ index, ...found });
      return [];
    }
    return found.flatMap((pack) => {
      const other = files.get(pack.name);
      if (other === pack.file) return [];
      if (other !== undefined) {
        const message = `two packs are called ${pack.name}: ${shown(other)} and ${shown(pack.file)}; rename one of the files`;
        problems.push({ index, message });
        return [];
      }
      files.set(pack.name, pack.file);
      const reader = new PackReader(pack.name, pack.file);
      const read = reader.read();
      problems.push(...reader.problems.map((message) => ({ index, message })));
      if (read === undefined) return [];
      indexes.set(read, index);
      return [read];
    });
  });
  // Of packs that are missing nothing can be said.
  if (problems.length === 0) {
    for (const { pack, message } of sharedNames(packs))
      problems.push({ index: indexes.get(pack) ?? 0, message });
    for (const pack of packsWithoutRules(packs)) {
      const message = `the pack ${pack.name} adds to \`secrets/context\`, which is not among the packs; add it, or \`default\``;
      problems.push({ index: indexes.get(pack) ?? 0, message });
    }
  }
  return { packs: [...new Set(packs)], problems };
}

/** Kinds and notations that two packs add: those of one would replace those of the other. */
function sharedNames(packs: readonly NamedPack[]): { pack: NamedPack; message: string }[] {
  const packOf = new Map<string, string>();
  return packs.flatMap((pack) => {
    if (typeof pack === 'string') return [];
    const { kinds = {}, notations = [] } = pack.additions;
    const names = [
      ...Object.keys(kinds).map((kind) => `kind of names ${kind}`),
      ...notations.map(({ notation }) => `notation ${notation}`),
    ];
    return names.flatMap((name) => {
      const other = packOf.get(name);
      packOf.set(name, pack.name);
      if (other === undefined) return [];
      return {
        pack,
        message: `the packs ${other} and ${pack.name} both add the ${name}; rename one of them`,
      };
    });
  });
}

/** Packs that add names which no rule looks for, or notations, guards and words that no rule uses: nothing would be masked. */
function packsWithoutRules(packs: readonly NamedPack[]): OutsidePack[] {
  if (packs.includes('secrets/context')) return [];
  const outside = packs.filter((pack) => typeof pack !== 'string');
  const used = new Set(
    outside.flatMap(({ rules }) =>
      Object.values(rules).flatMap((rule) => ('kinds' in rule ? rule.kinds : [])),
    ),
  );
  return outside.filter(({ additions: { names = [], notations = [], guards = [], words = [] } }) => {
    const isUnused = used.size === 0 && notations.length + guards.length + words.length > 0;
    return isUnused || names.some(({ kind }) => !used.has(kind));
  });
}

function shown(file: string): string {
  const path = relative(process.cwd(), file);
  return path.startsWith('..') || isAbsolute(path) ? file : path;
}

/** A file of a pack, as it was read. */
interface PackFile {
  readonly file: string;
  readonly text: string;
  readonly content: Readonly<Partial<Record<PackKey, unknown>>>;
  /** Whether the file is a pack beyond doubt, so that its keys can be shown. */
  readonly isEvident: boolean;
}

/** Reads one pack with its further files, and reports all of its problems. */
class PackReader {
  readonly #problems: string[] = [];
  #unlisted = 0;
  readonly #places = new Map<string, YamlPlaces>();
  readonly #name: string;
  readonly #file: string;

  constructor(name: string, file: string) {
    this.#name = name;
    this.#file = file;
  }

  get problems(): readonly string[] {
    if (this.#unlisted === 0) return this.#problems;
    return [...this.#problems, `${shown(this.#file)}: and ${counted(this.#unlisted, 'more problem')}`];
  }

  #add(problem: string): void {
    if (this.#problems.length < MOST.problems) this.#problems.push(problem);
    else this.#unlisted++;
  }

  read(): OutsidePack | undefined {
    const main = this.#readFile(this.#file);
    if (main === undefined) return undefined;
    const files = [main, ...this.#furtherFiles(main)];
    if (this.#isTooLarge(...writtenIn(files))) return undefined;
    const expanded = this.#expanded(files);
    const rules: Record<string, OutsidePack['rules'][string]> = {};
    const additions: { [K in (typeof ADDED)[number]]?: unknown[] & Record<string, unknown> } = {};
    const places: Places = { rules: new Map(), lists: new Map() };
    for (const file of expanded) {
      this.#addRules(rules, file, places);
      this.#addAdditions(additions, file, places);
    }
    const added = additions as Additions;
    if (this.#isTooLarge(rules, added)) return undefined;
    new PackCheck(rules, added, (section, key, path, message) => {
      const found =
        section === 'rules' ? places.rules.get(String(key)) : places.lists.get(`${section} ${String(key)}`);
      const { file, path: start } = found ?? { file: main, path: [] };
      this.#report(file, [...start, ...path], message);
    }).run();
    const isEmpty = Object.keys(rules).length === 0 && Object.keys(added).length === 0;
    if (isEmpty && this.#problems.length === 0)
      this.#add(`${shown(this.#file)}: the pack has no rules, names, notations, guards or words`);
    if (this.#problems.length > 0) return undefined;
    const { description } = main.content;
    const notations = added.notations?.map((notation) => ({ ...notation, starts: startsOf(notation) }));
    return {
      name: this.#name,
      description: typeof description === 'string' ? description : `The pack ${this.#name}`,
      rules,
      expressions: expressionsOf(rules),
      additions: { ...added, ...(notations && { notations }) },
    };
  }

  #report({ file, text, isEvident }: Omit<PackFile, 'content'>, path: Path, message: string): void {
    if (this.#problems.length >= MOST.problems) {
      this.#unlisted++;
      return;
    }
    const places = this.#places.get(file) ?? new YamlPlaces(text);
    this.#places.set(file, places);
    const { line, column } = places.of(path);
    const isShown = (step: PropertyKey) =>
      isEvident || typeof step === 'number' || Object.hasOwn(PACK_KEYS, step);
    const name =
      path.length === 0 ? '' : `${path.map((step) => (isShown(step) ? String(step) : '…')).join('.')}: `;
    this.#add(`${shown(file)}:${line}:${column}: ${name}${message}`);
  }

  #isTooLarge(rules: object, { names = [], notations = [], guards = [], words = [] }: Additions): boolean {
    const counts = Object.entries({ rules: Object.keys(rules), names, notations, guards, words });
    const tooMany = counts.filter(([key, { length }]) => length > MOST[key as keyof typeof MOST]);
    for (const [key, { length }] of tooMany) {
      this.#add(`${shown(this.#file)}: ${length} ${key}; a pack may have ${MOST[key as keyof typeof MOST]}`);
    }
    return tooMany.length > 0;
  }

  #readFile(file: string, isOfPack = false): PackFile | undefined {
    const refuse = (message: string) => void this.#add(`${shown(file)}${message}`);
    let text: string;
    try {
      const stat = statSync(file);
      // Reading a pipe would never end.
      if (!stat.isFile()) {
        refuse(': is not a file');
        return undefined;
      }
      const { size } = stat;
      if (size > MOST.bytes) {
        refuse(`: the file has ${size} bytes; a file of a pack may have ${MOST.bytes}`);
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
    const about = { file, text, isEvident };
    const isRight = (key: string) => {
      if (Object.hasOwn(PACK_KEYS, key)) return this.#isRight(about, key as PackKey, content);
      this.#report(about, [key], unknownKey(key, Object.keys(PACK_KEYS)));
      return false;
    };
    const right = Object.entries(content as object).filter(([key]) => isRight(key));
    return { ...about, content: Object.fromEntries(right) };
  }

  /** Whether the value of a key is of its type. */
  #isRight(file: Omit<PackFile, 'content'>, key: PackKey, content: unknown): boolean {
    const value = (content as PackFile['content'])[key];
    const wanted = PACK_KEYS[key];
    if (!isOfType(value, wanted)) {
      this.#report(file, [key], `expected ${wanted}`);
      return false;
    }
    const [wrong] =
      key === 'parts' ? Object.entries(value as object).filter(([, part]) => typeof part !== 'string') : [];
    if (wrong !== undefined) this.#report(file, [key, wrong[0]], 'expected a string');
    return wrong === undefined;
  }

  /** `files: [names]` of `acme.yaml` is `acme/names.yaml`. */
  #furtherFiles(main: PackFile): PackFile[] {
    const { files } = main.content;
    if (!Array.isArray(files)) return [];
    if (files.length > MOST.files) {
      this.#report(main, ['files'], `expected at most ${MOST.files} files`);
      return [];
    }
    const folder = this.#file.replace(/\.ya?ml$/i, '');
    return files.flatMap((name: unknown, index) => {
      if (typeof name !== 'string' || !/^[\w-]+$/.test(name)) {
        this.#report(
          main,
          ['files', index],
          `expected the name of a file in ${shown(folder)}, without its ending`,
        );
        return [];
      }
      const file = this.#readFile(join(folder, `${name}.yaml`), main.isEvident);
      if (file !== undefined && 'files' in file.content)
        this.#report(file, ['files'], 'only the first file of a pack can name further ones');
      return file ?? [];
    });
  }

  /** The files with their parts put in. */
  #expanded(files: readonly PackFile[]): PackFile[] {
    const parts: Record<string, string> = {};
    for (const file of files) {
      for (const [name, part] of Object.entries((file.content.parts ?? {}) as Record<string, string>)) {
        const path = ['parts', name];
        if (Object.hasOwn(parts, name)) {
          this.#report(file, path, 'another file of the pack has a part of this name');
          continue;
        }
        for (const [, missing] of unknownParts(part, new Set(Object.keys(parts))))
          this.#reportPart(file, path, missing, Object.keys(parts));
        parts[name] = part;
      }
    }
    const known = new Set(Object.keys(parts));
    for (const file of files) {
      for (const [path, missing] of unknownParts(file.content, known))
        this.#reportPart(file, path, missing, [...known]);
    }
    try {
      const expand = partsExpander(parts, undefined, MOST.expanded);
      return files.map((file) => {
        const { parts: _, ...rest } = file.content;
        return { ...file, content: expandStrings(rest, expand) as PackFile['content'] };
      });
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.#add(`${shown(this.#file)}: parts: ${error.message} with its parts; expected less`);
      return [];
    }
  }

  #reportPart(file: PackFile, path: Path, missing: string, known: readonly string[]): void {
    const near = nearest(missing, known);
    const hint =
      near === undefined
        ? 'define it in `parts`, in front of its first use there'
        : `did you mean \`${near}\`?`;
    this.#report(file, path, `there is no part \`${missing}\`; ${hint}`);
  }

  #addRules(rules: Record<string, unknown>, file: PackFile, places: Places): void {
    for (const [name, rule] of Object.entries((file.content.rules ?? {}) as object)) {
      const path = ['rules', name];
      if (!RuleName.safeParse(name).success) {
        this.#report(file, path, 'expected a name of letters, digits, `-` and `_`, such as github-token');
        continue;
      }
      if (places.rules.has(name)) {
        this.#report(file, path, 'another file of the pack has a rule of this name');
        continue;
      }
      places.rules.set(name, { file, path });
      const isKeyed = typeof rule === 'object' && rule !== null && 'kinds' in rule;
      const schema = isKeyed ? KeyedRuleSchema : ExpressionRuleSchema;
      const written = withDefaults(rule, shown(this.#file));
      const data = this.#parsed(schema, written, file, path);
      if (data !== undefined) rules[name] = data;
    }
  }

  #addAdditions(additions: object, file: PackFile, places: Places): void {
    const { commands, calls, ...content } = file.content;
    const written = Object.fromEntries(
      ADDED.flatMap((key) => (content[key] === undefined ? [] : [[key, content[key]]])),
    );
    const data = this.#parsed(AdditionsSchema, written, file, []) as Additions | undefined;
    const ofFile =
      commands === undefined ? undefined : this.#parsed(CommandsSchema, commands, file, ['commands']);
    const ofCode = calls === undefined ? undefined : this.#parsed(CallsSchema, calls, file, ['calls']);
    for (const kind of Object.keys(data?.kinds ?? {})) {
      if (places.lists.has(`kinds ${kind}`))
        this.#report(file, ['kinds', kind], 'another file of the pack has a kind of this name');
    }
    if (data !== undefined) addTo(additions, data, file, places);
    if (ofCode !== undefined) addTo(additions, ofCalls(ofCode), { ...file, from: ['calls'] }, places);
    if (ofFile !== undefined) addTo(additions, ofCommands(ofFile), { ...file, from: ['commands'] }, places);
  }

  #parsed<S extends z.ZodType>(
    schema: S,
    value: unknown,
    file: PackFile,
    path: Path,
  ): z.output<S> | undefined {
    const result = schema.safeParse(value);
    if (result.success) return result.data;
    for (const issue of result.error.issues) {
      for (const { path: inner, message } of explained(issue, value))
        this.#report(file, [...path, ...inner], message);
    }
    return undefined;
  }
}

interface Place {
  readonly file: PackFile;
  readonly path: Path;
}

/** Where rules, and the entries of lists, come from. */
interface Places {
  readonly rules: Map<string, Place>;
  readonly lists: Map<string, Place>;
}

function addTo(
  additions: object,
  data: object,
  { from, ...file }: PackFile & { readonly from?: Path },
  places: Places,
): void {
  const target = additions as Record<string, unknown>;
  // Each command has one notation.
  const placeOfItem = (key: string, index: number): Path =>
    from === undefined ? [key, index] : [...from, ...(key === 'notations' ? [index] : [])];
  for (const [key, value] of Object.entries(data)) {
    if (!Array.isArray(value)) {
      target[key] = { ...(target[key] as object), ...(value as object) };
      for (const name of Object.keys(value as object))
        places.lists.set(`${key} ${name}`, { file, path: [key, name] });
      continue;
    }
    const before = (target[key] ?? []) as unknown[];
    target[key] = [...before, ...value];
    for (const index of value.keys())
      places.lists.set(`${key} ${before.length + index}`, { file, path: placeOfItem(key, index) });
  }
}

function isOfType(value: unknown, wanted: string): boolean {
  if (wanted.startsWith('a list')) return Array.isArray(value);
  if (wanted === 'a string') return typeof value === 'string';
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The rules of files, and what they add, as they are written. */
function writtenIn(files: readonly PackFile[]): [object, Additions] {
  const listed = (...keys: PackKey[]) =>
    files.flatMap(({ content }) => keys.flatMap((key) => (content[key] ?? []) as never[]));
  const rules = files.flatMap(({ content }) => Object.keys((content.rules ?? {}) as object));
  const notations = listed('notations', 'commands', 'calls');
  return [rules, { names: listed('names'), notations, guards: listed('guards'), words: listed('words') }];
}

/** What the rules of a pack from outside need not say. */
function withDefaults(rule: unknown, file: string): unknown {
  if (typeof rule !== 'object' || rule === null || Array.isArray(rule)) return rule;
  const { tests } = rule as { tests?: unknown };
  const isMapping = typeof tests === 'object' && tests !== null && !Array.isArray(tests);
  return { confidence: 'high', source: file, ...rule, ...(isMapping && { tests: { misses: [], ...tests } }) };
}

/** What a file has too much of. Aliases make few bytes many values, and a value that has itself. */
function excessOf(content: unknown): string | undefined {
  let count = 0;
  const visit = (one: unknown, depth: number): string | undefined => {
    if (++count > MOST.values) return `more than ${MOST.values} values`;
    if (typeof one !== 'object' || one === null) return undefined;
    if (depth === MOST.depth)
      return `more than ${MOST.depth} levels; an alias must not stand in what it names`;
    for (const inner of Object.values(one)) {
      const excess = visit(inner, depth + 1);
      if (excess !== undefined) return excess;
    }
    return undefined;
  };
  return visit(content, 0);
}

/** The paths of strings that name a part which is not there, with its name. */
function* unknownParts(
  value: unknown,
  known: ReadonlySet<string>,
  path: Path = [],
): Generator<[Path, string]> {
  if (typeof value === 'string') {
    for (const [, name = ''] of value.matchAll(PART)) if (!known.has(name)) yield [path, name];
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, inner] of Object.entries(value))
      if (!NO_EXPRESSIONS.includes(key))
        yield* unknownParts(inner, known, [...path, Array.isArray(value) ? Number(key) : key]);
  }
}
