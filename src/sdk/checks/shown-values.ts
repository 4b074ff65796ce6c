import { dirname, normalize, resolve } from 'node:path';
import type { AnalyticsConfig, PipelineConfig } from '../config.ts';
import type { Logger } from '../context.ts';
import type { Plugin } from '../plugin.ts';
import { HIDDEN } from '../printable.ts';
import { isSecret, Secret, secretsIn } from '../secret.ts';
import { isMapping } from './problem.ts';
import { urlSecretsIn } from './url-secrets.ts';

/** An environment variable whose value is a part of a configuration. */
export interface UsedVariable {
  readonly name: string;
  readonly value: string;
  /** What replaces the value: a reference to the variable by default. */
  readonly shown?: string;
}

/** Shorter values are found inside other words, and of those a text has many. */
const LONG_ENOUGH = 4;

const variables = new WeakMap<object, readonly UsedVariable[]>();

/** Remembers which variables have their values in a configuration. */
export function rememberVariables(config: object, used: readonly UsedVariable[]): void {
  variables.set(config, used);
}

/** The variables that have their values in a configuration; none in one that was not loaded from files. */
export function variablesOf(config: object): readonly UsedVariable[] {
  return variables.get(config) ?? [];
}

/**
 * Replaces the values of variables in a text by references, the longest first. A value is found as it is, escaped as in
 * JSON, and where its end was cut off and replaced by `…`. A path or glob is also found as a normalised path, as an
 * absolute one, and by its folder: files in it are named in messages. Folders, and values of less than four characters,
 * are replaced only where they are whole words or numbers: `5` in `5s`, and not in `15`.
 *
 * @example
 * withhold('cannot read /srv/s3cret/a.log', [{ name: 'DIR', value: '/srv/s3cret/' }]); // 'cannot read ${DIR}a.log'
 */
export function withhold(text: string, used: readonly UsedVariable[]): string {
  return withholderOf(used)(text);
}

/** {@link withhold} for any text. Values of less than four characters stay, because they could be any part of it. */
export function withholdLong(text: string, used: readonly UsedVariable[]): string {
  return withholderOf(longOnes(used))(text);
}

function longOnes(used: readonly UsedVariable[]): readonly UsedVariable[] {
  return used.filter(({ value }) => value.length >= LONG_ENOUGH);
}

/** A value that is replaced wherever it is found. */
interface Withheld {
  readonly value: string;
  readonly pattern: RegExp;
  readonly shown: string;
}

/**
 * {@link withhold} for these variables, with its expressions compiled once, and for the values that secrets have had. The
 * longest value goes first, whatever it is of: another may be a part of it.
 */
function withholderOf(
  used: readonly UsedVariable[],
  secrets: readonly Secret[] = [],
): (text: string) => string {
  const variables = used
    .filter(({ value }) => value !== '')
    .flatMap(({ name, value, shown }) => {
      const reference = shown ?? `\${${name}}`;
      const folders = shown === undefined ? foldersOf(value) : [];
      return [
        ...formsOf(value).map((form) =>
          withheldValue(form, reference, form.length < LONG_ENOUGH ? neighbours : undefined),
        ),
        ...folders.map((folder) => withheldValue(folder, reference, () => '\\w')),
      ];
    });
  const all = longestFirst(variables);
  return (text) =>
    (secrets.length === 0 ? all : longestFirst([...all, ...valuesOf(secrets)])).reduce(
      (result, { value, pattern, shown }) =>
        withoutCutValue(
          result.replace(pattern, () => shown),
          value,
          shown,
        ),
      text,
    );
}

function longestFirst(values: readonly Withheld[]): Withheld[] {
  return values.toSorted((a, b) => b.value.length - a.value.length);
}

/** @param neighboursOf what must not be beside the first and the last character of the value; by default anything may */
function withheldValue(value: string, shown: string, neighboursOf?: (character: string) => string): Withheld {
  const literal = value.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  if (neighboursOf === undefined) return { value, pattern: new RegExp(literal, 'g'), shown };
  const characters = [...value];
  const [before, after] = [characters[0], characters.at(-1)].map((character = '') => neighboursOf(character));
  // The name in a reference that is there already is no value.
  return { value, pattern: new RegExp(`(?<!${before}|\\$\\{\\w*)${literal}(?!${after})`, 'gu'), shown };
}

/** The characters that make a longer word, or a longer number, with the first or the last one of a word. */
function neighbours(character: string): string {
  if (/\d/.test(character)) return '\\d';
  return /\p{L}/u.test(character) ? '[\\p{L}\\p{M}]' : '\\w';
}

/** The current values, because those of files change. */
function valuesOf(secrets: readonly Secret[]): Withheld[] {
  const forms = secrets.flatMap(({ knownValues }) => knownValues.flatMap(escapedForms));
  return [...new Set(forms)].map((value) => withheldValue(value, HIDDEN));
}

/** A text without the values of a configuration's variables and secrets, those in its URLs included. */
export function withholderFor(config: AnalyticsConfig): (text: string) => string {
  return withholderOf(longOnes(variablesOf(config)), allSecretsIn(config));
}

/** {@link withholdingLogger} with all that a configuration has to withhold. */
export function loggerFor(config: AnalyticsConfig, logger: Logger): Logger {
  return withholdingLogger(logger, variablesOf(config), allSecretsIn(config));
}

function allSecretsIn({ collectors, processors, forwarders, admin }: AnalyticsConfig): Secret[] {
  const places = [collectors, processors, forwarders, admin];
  return [
    ...secretsIn(places).map(({ secret }) => secret),
    ...urlSecretsIn(places).map(({ value }) => new Secret(value)),
  ];
}

/** A logger that withholds values of variables, and secrets, in messages and fields; numbers stay, and so do names of pipelines and plugins. */
export function withholdingLogger(
  logger: Logger,
  used: readonly UsedVariable[],
  secrets: readonly Secret[] = [],
): Logger {
  if (used.length === 0 && secrets.length === 0) return logger;
  const text = withholderOf(longOnes(used), secrets);
  const all = (fields?: Record<string, unknown>) => fields && withheldFields(fields, text);
  return {
    error: (message, fields) => logger.error(text(message), all(fields)),
    warn: (message, fields) => logger.warn(text(message), all(fields)),
    info: (message, fields) => logger.info(text(message), all(fields)),
    debug: (message, fields) => logger.debug(text(message), all(fields)),
  };
}

/** Keys of a configuration hold no variables, so what they name is not the value of one. */
const NAMES = new Set(['pipeline', 'plugin']);

function withheldFields(
  fields: Record<string, unknown>,
  withheld: (text: string) => string,
): Record<string, unknown> {
  const inside = (value: unknown): unknown => {
    if (typeof value === 'string') return withheld(value);
    if (Array.isArray(value)) return value.map(inside);
    if (!isMapping(value)) return value;
    if (typeof value.toJSON === 'function') return inside(value.toJSON());
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [withheld(key), inside(part)]));
  };
  try {
    return Object.fromEntries(
      Object.entries(fields).map(([key, value]) => [key, NAMES.has(key) ? value : inside(value)]),
    );
  } catch {
    return { fields: '(not serialisable)' };
  }
}

/** A value as it is, in a string of JSON, and in a URL. */
export function escapedForms(value: string): string[] {
  return [value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value.toWellFormed())];
}

function formsOf(value: string): string[] {
  const forms = escapedForms(value);
  if (value.includes('/')) forms.push(normalPath(value), ...absolute(normalPath(value)));
  return [...new Set(forms)];
}

/** The folder above a path, and of a glob the one that all of its files are below. */
function foldersOf(value: string): string[] {
  if (!value.includes('/')) return [];
  const path = normalPath(value);
  const literal = /^[^*?[\]{}()!]*/.exec(path)?.[0] as string;
  const isGlob = literal !== path;
  const folder = dirname(isGlob ? `${literal}x` : path);
  const isTelling = isGlob || segments(folder) >= 2;
  return [...(isTelling ? [folder] : []), ...absolute(folder)].filter(
    (found) => found.length >= LONG_ENOUGH && /\w/.test(found),
  );
}

function normalPath(path: string): string {
  return normalize(path).replace(/(?<=.)\/+$/, '');
}

/** A path that leaves the working folder, as the system names it; any other one is found as it is. */
function absolute(path: string): string[] {
  const found = path.startsWith('..') ? resolve(path) : '';
  return segments(found) >= 2 ? [found] : [];
}

function segments(path: string): number {
  return path.split('/').filter((segment) => /\w/.test(segment)).length;
}

/** Messages cut long values, and end them by `…`. */
function withoutCutValue(text: string, value: string, shown: string): string {
  return text.replace(/([^…]*)…/g, (whole, before: string) => {
    for (let length = Math.min(value.length, before.length); length >= LONG_ENOUGH; length--) {
      if (before.endsWith(value.slice(0, length))) return `${before.slice(0, -length)}${shown}…`;
    }
    return whole;
  });
}

/** The sections of configuration files with `${NAME}` where the value of an environment variable would stand. */
export type WrittenSections = ReadonlyMap<string, Readonly<Record<string, unknown>>>;

/** An environment in which every variable stands for the reference to it. */
export const REFERENCES: Readonly<Record<string, string>> = new Proxy(
  {},
  {
    get: (_, name) => `\${${String(name)}}`,
    getOwnPropertyDescriptor: (_, name) => ({
      value: `\${${String(name)}}`,
      configurable: true,
      enumerable: true,
      writable: true,
    }),
  },
);

/**
 * A configured value as it may be shown: parts that come from the environment are replaced by their references.
 *
 * @example
 * withReferences({ path: '/srv/s3cret', n: 1 }, { path: '${ROOT}', n: 1 }); // { path: '${ROOT}', n: 1 }
 */
export function withReferences(actual: unknown, written: unknown): unknown {
  if (isSecret(actual)) return HIDDEN;
  if (typeof written === 'string') {
    if (written !== actual && written.includes('${')) return written;
    return actual;
  }
  // Where a schema has made something else of it, only what was written is safe.
  if (isReshaped(actual, written) && hasReference(written)) return written;
  if (Array.isArray(actual)) {
    const items = Array.isArray(written) ? written : [];
    return actual.map((item, index) => withReferences(item, items[index]));
  }
  if (!isMapping(actual)) return actual;
  const below = isMapping(written) ? written : {};
  return Object.fromEntries(
    Object.entries(actual).map(([key, value]) => [key, withReferences(value, below[key])]),
  );
}

function isReshaped(actual: unknown, written: unknown): boolean {
  if (Array.isArray(written)) return !Array.isArray(actual) || actual.length !== written.length;
  return isMapping(written) && !isMapping(actual);
}

function hasReference(written: unknown): boolean {
  if (typeof written === 'string') return written.includes('${');
  return typeof written === 'object' && written !== null && Object.values(written).some(hasReference);
}

const SECRETIVE = /pass|secret|token|key|credential|auth|pin/i;
const REFERENCE = /^\$\{\w+\}$/;

/**
 * The settings of an entry that may be shown, each with the unit of its number. A plugin that does not declare them may
 * have secrets among its settings: only numbers, switches and references to environment variables are shown.
 */
export function shownSettings(
  plugin: Plugin,
  values: Readonly<Record<string, unknown>>,
): ReadonlyMap<string, string> {
  if (plugin.shownSettings !== undefined) return new Map(Object.entries(plugin.shownSettings));
  const harmless = Object.entries(values).filter(
    ([key, value]) => key !== 'plugin' && isHarmless(key, value),
  );
  return new Map(harmless.map(([key]) => [key, '']));
}

function isHarmless(key: string, value: unknown): boolean {
  if (typeof value === 'string') return REFERENCE.test(value);
  return (typeof value === 'number' || typeof value === 'boolean') && !SECRETIVE.test(key);
}

/** The conditions of a pipeline's routes as they may be shown, by the name of the forwarder. */
export function conditionsOf(
  { forward }: Pick<PipelineConfig, 'forward'>,
  written: unknown,
): ReadonlyMap<string, string> {
  const list: unknown = isMapping(written) ? written.forward : undefined;
  return new Map(
    forward.flatMap((route, index) => {
      if (typeof route === 'string') return [];
      const item: unknown = Array.isArray(list) ? list[index] : undefined;
      return [[route.to, String(withReferences(route.when, isMapping(item) ? item.when : undefined))]];
    }),
  );
}
