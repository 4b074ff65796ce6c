import type { Problem } from '../sdk/checks/problem.ts';
import { isMapping, type Path, valueAt } from '../sdk/checks/problem.ts';
import { type UsedVariable, withhold, withholdLong, withReferences } from '../sdk/checks/shown-values.ts';
import { MillraceError } from '../sdk/errors.ts';
import { nearest } from '../sdk/nearest.ts';
import type { ProblemLog } from './config-error.ts';
import { SECTIONS } from './sections.ts';
import type { ConfigSource } from './source.ts';

/** Sections by the names that other programs of this kind have for them. */
const BY_OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ['sources', 'collectors'],
  ['inputs', 'collectors'],
  ['transforms', 'processors'],
  ['filters', 'processors'],
  ['sinks', 'forwarders'],
  ['outputs', 'forwarders'],
]);

/** The sections of one or several sources as one value, which knows where each part comes from. */
export class MergedConfig {
  /** Sections that are mappings; the log has the problems of those that are not. */
  readonly sections: ReadonlyMap<string, Readonly<Record<string, unknown>>>;
  /** False if a file could not be read: what seems to be missing may stand in it. */
  readonly isComplete: boolean;
  /** Whether a secret whose environment variable is not set is an error. */
  readonly requiresVariables: boolean;
  readonly #sources: readonly ConfigSource[];
  readonly #log: ProblemLog;
  readonly #warnings: Problem[] = [];
  readonly #secrets: Path[] = [];
  readonly #parsed = new Map<string, unknown>();

  constructor(
    sources: readonly ConfigSource[],
    log: ProblemLog,
    { isComplete = true, requiresVariables = false } = {},
  ) {
    this.isComplete = isComplete;
    this.requiresVariables = requiresVariables;
    this.#sources = sources;
    this.#log = log;
    const sections = new Map<string, Record<string, unknown>>();
    for (const source of sources) {
      for (const [name, value] of Object.entries(source.value)) {
        const section = SECTIONS.get(name);
        if (section === undefined) this.#unknownSection(source, name);
        else if (value !== undefined && !isMapping(value)) {
          const message = `found ${source.describe([name])}; expected ${section.holds}`;
          log.add(source, { path: [name], message });
        } else if (value !== undefined) {
          const target = sections.get(name) ?? {};
          sections.set(name, target);
          this.#merge(target, value, section.mergeDepth, source, [name]);
        }
      }
    }
    this.sections = sections;
    for (const { warnings } of sources) this.#warnings.push(...warnings);
  }

  /** Whether the section is there, be it right or wrong. */
  hasSection(name: string): boolean {
    return this.#sources.some(({ value }) => Object.hasOwn(value, name) && value[name] !== undefined);
  }

  /** The source that holds most of a path: for a missing field, the one that holds what it is missing from. */
  sourceOf(path: Path): ConfigSource {
    const [first, ...others] = this.#sources;
    if (first === undefined)
      throw new MillraceError('MILLRACE_ARGUMENT', 'a configuration needs at least one source');
    return others.reduce((best, source) => (source.depth(path) > best.depth(path) ? source : best), first);
  }

  /** The environment variables whose values are in the configuration. */
  get variables(): readonly UsedVariable[] {
    return this.#sources.flatMap(({ variables }) => variables);
  }

  /** Those at or below paths. */
  variablesAt(paths: readonly Path[]): readonly UsedVariable[] {
    return paths.flatMap((path) =>
      this.#sources.flatMap((source) => source.variablesAt(path, this.#parsed.get(path.join('\n')))),
    );
  }

  describe(path: Path): string {
    const isHidden = this.#secrets.some((secret) => secret.every((step, depth) => step === path[depth]));
    return isHidden ? 'a value that is not shown' : this.sourceOf(path).describe(path);
  }

  /**
   * Remembers what a schema has made of an entry, because messages quote that. Returns it with references where it has
   * values of environment variables, and the same object if it has none.
   */
  parsed<T extends object>(path: Path, data: T): T {
    this.#parsed.set(path.join('\n'), data);
    if (this.variablesAt([path]).length === 0) return data;
    return withReferences(data, this.sourceOf(path).written(path)) as T;
  }

  /** Keeps the value at a path, and the lines that it is on, out of all messages. */
  hideSecret(path: Path): void {
    const source = this.sourceOf(path);
    const lines = source.lines(path);
    if (lines !== undefined) this.#log.hideLines(source.file, lines);
    const value = valueAt(source.value, path);
    if (typeof value === 'string') this.#log.hideValue(value);
    this.#secrets.push(path);
  }

  /** Whether a string at a path is a part of the configuration, not of an environment variable that it names. */
  isLiteral(path: Path, text: string): boolean {
    return withhold(text, this.variablesAt([path])) === text;
  }

  isBroken(path: Path): boolean {
    return this.#sources.some((source) => source.isBroken(path));
  }

  /** A warning is kept for later: it counts only where nothing is wrong. */
  add(problem: Problem): void {
    if (problem.severity === 'warning') this.#warnings.push(problem);
    else this.#log.add(this.sourceOf(problem.path), this.#withheld(problem));
  }

  /** Puts warnings into the log, those that were added among them. To be called when it has no problems. */
  warn(warnings: readonly Problem[]): void {
    for (const warning of [...this.#warnings.splice(0), ...warnings]) {
      this.#log.add(this.sourceOf(warning.path), this.#withheld(warning));
    }
  }

  /**
   * A problem may be about values elsewhere, such as an output that two pipelines write to. Short values are withheld
   * only from messages that may quote them: they could be any part of others.
   */
  #withheld(problem: Problem): Problem {
    const { message, suggestion, path, foreign = false, quotes = [entryOf(path)] } = problem;
    const quoted = foreign ? this.variablesAt(quotes) : [];
    const text = (words: string) => withhold(withholdLong(words, this.variables), quoted);
    // Of a plugin's path, what is in no file may be a value too.
    const known = foreign ? this.sourceOf(path).depth(path) : path.length;
    return {
      ...problem,
      message: text(message),
      suggestion: suggestion && text(suggestion),
      path: path.map((step, depth) => (depth < known || typeof step === 'number' ? step : text(step))),
    };
  }

  #unknownSection(source: ConfigSource, name: string): void {
    if (name.startsWith('_')) return;
    this.#log.add(source, {
      path: [name],
      at: 'key',
      message: `unknown key \`${name}\``,
      suggestion: BY_OTHER_NAMES.get(name) ?? nearest(name, [...SECTIONS.keys()]),
    });
  }

  #merge(
    target: Record<string, unknown>,
    added: Readonly<Record<string, unknown>>,
    depth: number,
    source: ConfigSource,
    path: Path,
  ): void {
    for (const [name, value] of Object.entries(added)) {
      const here = [...path, name];
      const before = Object.hasOwn(target, name) ? target[name] : undefined;
      if (before === undefined) {
        define(target, name, isMapping(value) && depth > 1 ? { ...value } : value);
      } else if (depth > 1 && isMapping(before) && isMapping(value)) {
        this.#merge(before, value, depth - 1, source, here);
      } else {
        const first = this.sourceOf(here);
        const place = first.place(here, 'key');
        const at = place === undefined ? first.file : `${first.file}:${place.line}:${place.column}`;
        this.#log.add(source, {
          path: here,
          at: 'key',
          message: `\`${name}\` is defined twice; the first definition is at ${at}`,
        });
      }
    }
  }
}

/** The path of the entry that a value belongs to. The host is one entry. */
function entryOf([section, ...names]: Path): Path {
  return section === 'host_config' ? [section] : [section ?? '', ...names.slice(0, 1)];
}

/** Sets an own property, whatever its name: plain assignment would set the prototype for `__proto__`. */
function define(target: object, name: string, value: unknown): void {
  Object.defineProperty(target, name, { value, enumerable: true, writable: true, configurable: true });
}
