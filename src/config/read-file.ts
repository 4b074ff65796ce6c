import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Environment } from './environment.ts';
import type { MistakeLog } from './mistake-log.ts';
import type { YamlSource } from './source.ts';
import { SourceText } from './source-text.ts';
import { parseYamlSource } from './yaml-source.ts';

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'this is a folder; wanted a file',
  EACCES: 'the file cannot be read: permission denied',
  ENOTDIR: 'a part of the path before the file is no folder',
};

/** Reads a configuration file. Its mistakes go to the log; undefined if nothing of it can be used. */
export async function readConfigFile(
  file: string,
  env: Environment,
  log: MistakeLog,
): Promise<YamlSource | undefined> {
  let bytes: Buffer;
  try {
    bytes = await readFile(file);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    log.addAt(file, undefined, [], REASONS[code ?? ''] ?? `the file cannot be read: ${message}`);
    return undefined;
  }
  const text = new TextDecoder().decode(bytes);
  const invalid = firstInvalidByte(bytes);
  if (invalid === undefined) {
    return parseYamlSource(text, { file, baseDir: dirname(resolve(file)), env, log });
  }
  const before = new SourceText(bytes.toString('utf8', 0, invalid));
  const { line, column } = before.place(before.text.length);
  log.addAt(file, { line, column, excerpt: undefined }, [], 'the file is not UTF-8; save it as UTF-8');
  return undefined;
}

/** The offset of the first byte that is not UTF-8. */
function firstInvalidByte(bytes: Buffer): number | undefined {
  const again = Buffer.from(bytes.toString('utf8'));
  if (bytes.equals(again)) return undefined;
  return bytes.findIndex((byte, index) => byte !== again[index]);
}
