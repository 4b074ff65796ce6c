import { readFileSync, statSync } from 'node:fs';
import { inspect } from 'node:util';
import * as z from 'zod';
import { PluginError } from './errors.ts';
import { HIDDEN } from './printable.ts';
import { path } from './schema-parts.ts';
import { describeSystemError } from './system-error.ts';

/** Marks a secret for other installed copies of millrace, whose classes are not these. */
const BRAND = Symbol.for('millrace.Secret');

/** A file of this size is not a token, password or key: 1 MiB. */
const MOST_BYTES = 1_048_576;

/** Shorter values occur inside of other words, so they are not searched for in messages. */
const LONG_ENOUGH = 4;

/** How many values of a secret are remembered, to hide them: a message may be about the one before a rotation. */
const MOST_REMEMBERED = 4;

/** Where the value of a secret comes from: the configuration itself, the environment, or a file. */
export type SecretSource = string | { readonly env: string } | { readonly file: string };

/**
 * A secret of a configuration, such as a token. It prints as `<secret>`, also inside of other objects and as JSON. Only
 * `read()` returns its value.
 */
export class Secret {
  static {
    Object.defineProperty(Secret.prototype, BRAND, { value: true });
  }

  readonly #source: SecretSource;
  /** The last content of the file, and what told that it was the last. */
  #file: { readonly version: string; readonly value: string } | undefined;
  /** The latest values, the last one first. */
  #values: readonly string[] = [];

  constructor(source: SecretSource) {
    this.#source = source;
    if (typeof source === 'string') this.#remember(source);
  }

  /** Whether the value is a part of the configuration, not of the environment or a file. */
  get isLiteral(): boolean {
    return typeof this.#source === 'string';
  }

  /** Whether the value is that of an environment variable. If it is not set, it stays so. */
  get isVariable(): boolean {
    return typeof this.#source !== 'string' && 'env' in this.#source;
  }

  /**
   * The value as it is now. A file is read again when it has changed; a newline at its end does not count. Call it for
   * every use, so that a rotated secret is used without a restart.
   *
   * @throws PluginError if the variable is not set, which is fatal, or if the file cannot be read.
   */
  read(): string {
    if (typeof this.#source === 'string') return this.#source;
    const value = 'env' in this.#source ? readVariable(this.#source.env) : this.#readFile(this.#source.file);
    this.#remember(value);
    return value;
  }

  /** Why the value cannot be read now; undefined if it can. */
  problem(): string | undefined {
    try {
      this.read();
      return undefined;
    } catch (error) {
      return error instanceof PluginError ? error.message : 'it cannot be read';
    }
  }

  /** The values that were read so far and may be searched for in messages: those of four characters or more. */
  get knownValues(): readonly string[] {
    return this.#values;
  }

  toString(): string {
    return HIDDEN;
  }

  toJSON(): string {
    return HIDDEN;
  }

  [inspect.custom](): string {
    return HIDDEN;
  }

  #readFile(file: string): string {
    try {
      const { size, mtimeMs, ctimeMs, ino, dev } = statSync(file);
      const version = [dev, ino, size, mtimeMs, ctimeMs].join();
      if (this.#file?.version === version) return this.#file.value;
      const value = contentOf(file, size);
      this.#file = { version, value };
      return value;
    } catch (error) {
      if (error instanceof PluginError) throw error;
      const reason = describeSystemError(error as object) ?? 'it cannot be read';
      throw new PluginError(`cannot read the secret from the file ${file}: ${reason}`, { cause: error });
    }
  }

  #remember(value: string): void {
    if (value.length < LONG_ENOUGH || this.#values[0] === value) return;
    this.#values = [value, ...this.#values.filter((other) => other !== value)].slice(0, MOST_REMEMBERED);
  }
}

/** An error for which every event would fail: the environment of a process stays as it is. */
function readVariable(name: string): string {
  const value = process.env[name];
  if (value !== undefined && value !== '') return value;
  const state = value === undefined ? 'is not set' : 'is empty';
  const error = new PluginError(`the environment variable ${name}, which is to hold a secret, ${state}`);
  throw Object.assign(error, { fatal: true });
}

function contentOf(file: string, size: number): string {
  if (!statSync(file).isFile())
    throw new PluginError(`cannot read the secret from ${file}: it is not a file`);
  if (size > MOST_BYTES) {
    throw new PluginError(`cannot read the secret from the file ${file}: it is larger than 1 MiB`);
  }
  const value = readFileSync(file, 'utf8').replace(/\r?\n$/, '');
  if (value === '') throw new PluginError(`cannot read the secret from the file ${file}: it is empty`);
  return value;
}

/** Whether a value is a {@link Secret}, of this or of another installed copy of millrace. */
export function isSecret(value: unknown): value is Secret {
  return typeof value === 'object' && value !== null && BRAND in value;
}

/** Options of {@link secret}. */
export interface SecretOptions {
  /** A literal value is usual here, such as that of an HTTP header, so `validate` does not warn. Default: false. */
  readonly mayBeLiteral?: boolean;
}

/**
 * A schema for a secret: a string, `{ env: NAME }` or `{ file: path }`. Its output is a {@link Secret}. `validate` warns
 * when a secret is written literally. The value of `${NAME}` counts as one from the environment.
 *
 * @example
 * const token = secret().parse('hunter2');
 * `${token} ${JSON.stringify({ token })} ${token.read()}`; // '<secret> {"token":"<secret>"} hunter2'
 */
export function secret({ mayBeLiteral = false }: SecretOptions = {}): z.ZodType<Secret, SecretSource> {
  return z
    .union([z.string().min(1), z.strictObject({ env: z.string().min(1) }), z.strictObject({ file: path() })])
    .transform((source) => new Secret(source))
    .meta({ writeOnly: true, ...(mayBeLiteral ? { mayBeLiteral } : {}) });
}

/** The secrets anywhere in a value, with their paths. */
export function secretsIn(
  value: unknown,
  path: readonly (string | number)[] = [],
): { readonly path: readonly (string | number)[]; readonly secret: Secret }[] {
  if (isSecret(value)) return [{ path, secret: value }];
  if (Array.isArray(value)) return value.flatMap((item, index) => secretsIn(item, [...path, index]));
  if (typeof value !== 'object' || value === null) return [];
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return [];
  return Object.entries(value).flatMap(([key, item]) => secretsIn(item, [...path, key]));
}
