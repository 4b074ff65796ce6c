import { createRequire } from 'node:module';

/** The version of this package, read through its own exports: the same path from `src` and from `dist`. */
export function version(): string {
  return ownPackage().version;
}

/** The packages that this one depends on, optional ones included. */
export function ownDependencies(): string[] {
  const { dependencies, peerDependencies } = ownPackage();
  return [...Object.keys(dependencies), ...Object.keys(peerDependencies)];
}

interface OwnPackage {
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
}

const ownPackage = () => createRequire(import.meta.url)('millrace/package.json') as OwnPackage;
