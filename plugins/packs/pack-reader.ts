import { join } from 'node:path';
import type * as z from 'zod';
import { nearest } from '../../src/sdk/index.ts';
import { expressionsOf, startsOf } from './built-expressions.ts';
import { PackCheck } from './check-pack.ts';
import { CallsSchema, CommandsSchema, ofCalls, ofCommands } from './command-tables.ts';
import { explained } from './explain-issue.ts';
import { type PackFile, type PackKey, readPackFile } from './pack-file.ts';
import { PackProblems, shownPath } from './pack-problems.ts';
import {
  type Additions,
  AdditionsSchema,
  ExpressionRuleSchema,
  expandStrings,
  KeyedRuleSchema,
  type OutsidePack,
  PART,
  partsExpander,
  RuleName,
} from './pack-schema.ts';
import type { Path } from './place-in-yaml.ts';

/** What a pack from outside may have. The packs that come with millrace are far smaller. */
const LIMITS = {
  files: 30,
  expanded: 2_000_000,
  rules: 500,
  names: 2_000,
  notations: 100,
  guards: 500,
  words: 5_000,
} as const;
const ADDITION_KEYS = ['kinds', 'names', 'notations', 'guards', 'words'] as const;
/** Strings of these fields are no expressions. Templates of tests have braces of their own. */
const NO_EXPRESSIONS = ['tests', 'example', 'miss', 'description', 'parts'];

/** Reads one pack with its further files, and reports all of its problems. */
export class PackReader {
  readonly #problems: PackProblems;
  readonly #name: string;
  readonly #file: string;

  constructor(name: string, file: string) {
    this.#name = name;
    this.#file = file;
    this.#problems = new PackProblems(file);
  }

  get problems(): readonly string[] {
    return this.#problems.messages;
  }

  read(): OutsidePack | undefined {
    const main = readPackFile(this.#file, this.#problems);
    if (main === undefined) return undefined;
    const files = [main, ...this.#furtherFiles(main)];
    if (this.#isTooLarge(...writtenIn(files))) return undefined;
    const expanded = this.#expanded(files);
    const rules: Record<string, OutsidePack['rules'][string]> = {};
    const additions: { [K in (typeof ADDITION_KEYS)[number]]?: unknown[] & Record<string, unknown> } = {};
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
      this.#problems.report(file, [...start, ...path], message);
    }).run();
    const isEmpty = Object.keys(rules).length === 0 && Object.keys(added).length === 0;
    if (isEmpty && !this.#problems.hasAny)
      this.#problems.add(`: the pack has no rules, names, notations, guards or words`);
    if (this.#problems.hasAny) return undefined;
    const { description } = main.content;
    const notations = added.notations?.map((notation) => ({ ...notation, ...startsOf(notation) }));
    return {
      name: this.#name,
      description: typeof description === 'string' ? description : `The pack ${this.#name}`,
      rules,
      expressions: expressionsOf(rules),
      additions: { ...added, ...(notations && { notations }) },
    };
  }

  #isTooLarge(rules: object, { names = [], notations = [], guards = [], words = [] }: Additions): boolean {
    const counts = Object.entries({ rules: Object.keys(rules), names, notations, guards, words });
    const tooMany = counts.filter(([key, { length }]) => length > LIMITS[key as keyof typeof LIMITS]);
    for (const [key, { length }] of tooMany) {
      this.#problems.add(`: ${length} ${key}; a pack may have ${LIMITS[key as keyof typeof LIMITS]}`);
    }
    return tooMany.length > 0;
  }

  /** `files: [names]` of `acme.yaml` is `acme/names.yaml`. */
  #furtherFiles(main: PackFile): PackFile[] {
    const { files } = main.content;
    if (!Array.isArray(files)) return [];
    if (files.length > LIMITS.files) {
      this.#problems.report(main, ['files'], `expected at most ${LIMITS.files} files`);
      return [];
    }
    const folder = this.#file.replace(/\.ya?ml$/i, '');
    return files.flatMap((name: unknown, index) => {
      if (typeof name !== 'string' || !/^[\w-]+$/.test(name)) {
        this.#problems.report(
          main,
          ['files', index],
          `expected the name of a file in ${shownPath(folder)}, without its ending`,
        );
        return [];
      }
      const file = readPackFile(join(folder, `${name}.yaml`), this.#problems, main.isEvident);
      if (file !== undefined && 'files' in file.content)
        this.#problems.report(file, ['files'], 'only the first file of a pack can name further ones');
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
          this.#problems.report(file, path, 'another file of the pack has a part of this name');
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
      const expand = partsExpander(parts, undefined, LIMITS.expanded);
      return files.map((file) => {
        const { parts: _, ...rest } = file.content;
        return { ...file, content: expandStrings(rest, expand) as PackFile['content'] };
      });
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.#problems.add(`: parts: ${error.message} with its parts; expected less`);
      return [];
    }
  }

  #reportPart(file: PackFile, path: Path, missing: string, known: readonly string[]): void {
    const near = nearest(missing, known);
    const hint =
      near === undefined
        ? 'define it in `parts`, in front of its first use there'
        : `did you mean \`${near}\`?`;
    this.#problems.report(file, path, `there is no part \`${missing}\`; ${hint}`);
  }

  #addRules(rules: Record<string, unknown>, file: PackFile, places: Places): void {
    for (const [name, rule] of Object.entries((file.content.rules ?? {}) as object)) {
      const path = ['rules', name];
      if (!RuleName.safeParse(name).success) {
        this.#problems.report(
          file,
          path,
          'expected a name of letters, digits, `-` and `_`, such as github-token',
        );
        continue;
      }
      if (places.rules.has(name)) {
        this.#problems.report(file, path, 'another file of the pack has a rule of this name');
        continue;
      }
      places.rules.set(name, { file, path });
      const isKeyed = typeof rule === 'object' && rule !== null && 'kinds' in rule;
      const schema = isKeyed ? KeyedRuleSchema : ExpressionRuleSchema;
      const written = withDefaults(rule, shownPath(this.#file));
      const data = this.#parsed(schema, written, file, path);
      if (data !== undefined) rules[name] = data;
    }
  }

  #addAdditions(additions: object, file: PackFile, places: Places): void {
    const { commands, calls, ...content } = file.content;
    const written = Object.fromEntries(
      ADDITION_KEYS.flatMap((key) => (content[key] === undefined ? [] : [[key, content[key]]])),
    );
    const data = this.#parsed(AdditionsSchema, written, file, []) as Additions | undefined;
    const ofFile =
      commands === undefined ? undefined : this.#parsed(CommandsSchema, commands, file, ['commands']);
    const ofCode = calls === undefined ? undefined : this.#parsed(CallsSchema, calls, file, ['calls']);
    for (const kind of Object.keys(data?.kinds ?? {})) {
      if (places.lists.has(`kinds ${kind}`))
        this.#problems.report(file, ['kinds', kind], 'another file of the pack has a kind of this name');
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
        this.#problems.report(file, [...path, ...inner], message);
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
