import { isMapping } from '../checks/path.ts';
import type { Environment } from '../config/environment.ts';
import { MergedConfig } from '../config/merged-config.ts';
import { MistakeLog } from '../config/mistake-log.ts';
import { readConfigFile } from '../config/read-file.ts';

/** The sections of configuration files with `${NAME}` where the value of an environment variable would stand. */
export type WrittenSections = ReadonlyMap<string, Readonly<Record<string, unknown>>>;

/** Reads files that are known to be valid. */
export async function readAsWritten(files: readonly string[]): Promise<WrittenSections> {
  const log = new MistakeLog();
  const sources = await Promise.all(files.map((file) => readConfigFile(file, REFERENCES, log)));
  const read = sources.filter((source) => source !== undefined);
  return new MergedConfig(read, log).sections;
}

/** An environment in which every variable stands for the reference to it. */
const REFERENCES: Environment = new Proxy(
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
  if (typeof written === 'string') {
    if (written !== actual && written.includes('${')) return written;
    return actual;
  }
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
