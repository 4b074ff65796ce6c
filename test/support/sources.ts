import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { ROOT } from './build.ts';

/** An import or export of another module, as it is written. */
export interface Import {
  readonly specifier: string;
  /** Gone once types are erased. `import { type A }` is not: it still loads the module. */
  readonly isTypeOnly: boolean;
}

export interface SourceFile {
  /** Relative to the repository, such as `src/sdk/events.ts`. */
  readonly path: string;
  readonly text: string;
  readonly imports: readonly Import[];
}

// Statements begin at the start of a line (biome sees to it), so examples in comments are none.
const STATIC = /^(?:import|export)\s(type\s)?(?:[^'"`;=]*?\sfrom\s)?\s*['"]([^'"]+)['"]/gm;
const DYNAMIC = /\bimport\(\s*['"]([^'"]+)['"]\s*\)/g;

/** The TypeScript files below folders of the repository. */
export function sourceFiles(...folders: string[]): SourceFile[] {
  return folders
    .flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.ts') && !name.startsWith('dist/'))
        .map((name) => sourceFile(join(folder, name))),
    )
    .sort((a, b) => a.path.localeCompare(b.path));
}

/** One file of the repository. */
export function sourceFile(path: string): SourceFile {
  const text = readFileSync(join(ROOT, path), 'utf8');
  return { path, text, imports: importsOf(text) };
}

/** What a module imports, found without a parser. */
export function importsOf(text: string): Import[] {
  const code = withoutComments(text);
  return [
    ...[...code.matchAll(STATIC)].map(([, type, specifier]) => ({
      specifier: specifier as string,
      isTypeOnly: type !== undefined,
    })),
    ...[...code.matchAll(DYNAMIC)].map(([, specifier]) => ({
      specifier: specifier as string,
      isTypeOnly: false,
    })),
  ];
}

/** Comments that begin a line or follow code and a space; every line stays where it is. */
export function withoutComments(text: string): string {
  return text
    .replace(/^\s*\/\*[\s\S]*?\*\//gm, (comment) => comment.replace(/[^\n]/g, ''))
    .replace(/(^|\s)\/\/.*$/gm, '$1');
}

/** The path of an imported file of the repository; undefined for a package. */
export function importedPath(from: string, specifier: string): string | undefined {
  return specifier.startsWith('.') ? normalize(join(dirname(from), specifier)) : undefined;
}
