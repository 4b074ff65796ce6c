import { isMapping } from './path.ts';

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
