import { createRequire } from 'node:module';

/** The version of this package, read through its own exports: the same path from `src` and from `dist`. */
export function version(): string {
  const { version } = createRequire(import.meta.url)('millrace/package.json') as { version: string };
  return version;
}
