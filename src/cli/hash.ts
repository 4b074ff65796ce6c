import { createInterface } from 'node:readline';
import { keyedHash } from '../../plugins/masks/pseudonyms.ts';
import { HASH_LENGTH, type HashAction, keyOf, keysOf } from '../../plugins/masks/redact-actions.ts';
import type { RedactProcessConfig } from '../../plugins/process/redact.ts';
import { loadConfig } from '../config/load-config.ts';
import { printable } from '../sdk/printable.ts';
import { ExitCode, UsageError } from './errors.ts';

/** A key of a configuration, and how many digits of its hashes are shown. */
interface NamedKey {
  readonly name: string;
  readonly length: number;
  readonly key: string | undefined;
}

/** `millrace hash FILE…`: the hashes of values of standard input, under each key. 1 if the environment lacks a key. */
export async function hash(files: readonly string[]): Promise<number> {
  const { config } = await loadConfig(files, { ignoreTests: true });
  const processors = Object.values(config.processors).filter(({ plugin }) => plugin === 'redact');
  const keys = distinct(
    (processors as unknown as RedactProcessConfig[]).flatMap(hashesOf).flatMap(namedKeys),
  );
  if (keys.length === 0) {
    throw new UsageError(
      'no `redact` processor has a key; write `hmac` in its `action`, or `pseudonyms` with a key',
    );
  }
  const missing = keys.filter(({ key }) => key === undefined);
  for (const { name } of missing) {
    process.stderr.write(
      `millrace: the environment variable ${printable(name)} is not set, so events that were masked with its key are not found\n`,
    );
  }
  for await (const value of createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (value === '') continue;
    for (const { name, length, key } of keys) {
      if (key === undefined) continue;
      process.stdout.write(`${keyedHash(key)(value).slice(0, length)}\t${printable(name)}\n`);
    }
  }
  return missing.length === 0 ? ExitCode.ok : ExitCode.failed;
}

function hashesOf({ action, fields, pseudonyms }: RedactProcessConfig): HashAction[] {
  const ofActions = [...Object.values(action), ...Object.values(fields)].flatMap((one) =>
    typeof one === 'object' && 'hmac' in one ? [one.hmac] : [],
  );
  return typeof pseudonyms === 'object' ? [...ofActions, pseudonyms] : ofActions;
}

function namedKeys(action: HashAction): NamedKey[] {
  const { length = HASH_LENGTH } = action;
  return keysOf(action).map((key) => ({ name: key.key_env ?? '', length, key: keyOf(key) }));
}

function distinct(keys: readonly NamedKey[]): NamedKey[] {
  return [...new Map(keys.map((key) => [`${key.length} ${key.name}`, key])).values()];
}
