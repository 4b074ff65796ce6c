import { existsSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { nearest } from '../../src/sdk/index.ts';

/** The file of a pack that does not come with millrace, and the name that the ids of its rules start with. */
export interface FoundPack {
  readonly name: string;
  readonly file: string;
}

/** Why nothing was found. */
export interface MissingPack {
  readonly message: string;
  readonly suggestion?: string | undefined;
}

const isPath = (name: string) => /^\.{1,2}[/\\]/.test(name) || isAbsolute(name);
const isFile = (path: string) => problemOfFile(path) === undefined;
const withoutEnding = (path: string) => basename(path).replace(/\.ya?ml$/i, '');

const PACKAGE = /^((?:@[\w.~-]+\/)?[\w~-][\w.~-]*)(?:\/(.+))?$/;
/** What is in front of the colon of an id. */
const PACK_NAME = /^@?[\w~-][\w.~/-]*$/;

/** The start of names of packs that come with millrace. */
const OWN_NAME = /^(?:secrets|pii)\//i;

/**
 * Finds the packs that a name stands for: a path of a YAML file relative to `folder`, or an npm package as seen from there,
 * whose `package.json` names its packs: `"millrace": { "packs": ["pack.yaml"] }`.
 *
 * @param known other names, of which one may be meant.
 */
export function findPacks(
  name: string,
  folder: string,
  known: readonly string[],
): readonly FoundPack[] | MissingPack {
  const isYaml = /\.ya?ml$/i.test(name);
  if (isPath(name) || (isYaml && isFile(resolve(folder, name)))) {
    return withNames([{ name: withoutEnding(name), file: resolve(folder, name) }]);
  }
  const [, packageName, subpath] = PACKAGE.exec(name) ?? [];
  const root = packageName === undefined ? undefined : packageFolder(packageName, folder);
  if (root === undefined || packageName === undefined) {
    const hint = isYaml ? '; the path of a file starts with ./' : '; `millrace packs` lists the packs';
    const message = `there is no pack ${JSON.stringify(name)}, and no package of that name in ${folder} or above it${hint}`;
    return { message, suggestion: nearest(name, known) };
  }
  const paths = subpath === undefined ? packsOfPackage(root) : [subpath];
  if (paths === undefined) {
    return {
      message: `the package ${packageName} names no packs; its package.json has to, as in "millrace": { "packs": ["pack.yaml"] }`,
    };
  }
  const outside = paths.find((path) => relative(root, join(root, path)).startsWith('..'));
  if (outside !== undefined)
    return { message: `the package ${packageName} names a pack that is not in its folder: ${outside}` };
  const isOne = subpath === undefined && paths.length === 1;
  return withNames(
    paths.map((path) => ({
      name: isOne ? packageName : `${packageName}/${withoutEnding(path)}`,
      file: join(root, path),
    })),
  );
}

function withNames(packs: readonly FoundPack[]): readonly FoundPack[] | MissingPack {
  for (const { name, file } of packs) {
    const message = problemOfFile(file);
    if (message !== undefined) return { message };
    if (!PACK_NAME.test(name)) {
      return {
        message: `the file ${file} gives the pack its name, which must be letters, digits, \`-\` and \`_\`; rename it`,
      };
    }
    if (OWN_NAME.test(name)) {
      return {
        message: `the file ${file} would be the pack ${name}, and names that start with secrets/ or pii/ are those of the packs of millrace; give the package another name`,
      };
    }
  }
  return packs;
}

function problemOfFile(file: string): string | undefined {
  try {
    return statSync(file).isFile() ? undefined : `${file} is not a file; expected a pack`;
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    return code === 'ENOENT'
      ? `there is no file ${file}; expected a pack`
      : `the file ${file} cannot be read (${code})`;
  }
}

/** `require.resolve` sees only what `exports` names, and packs are no modules. */
function packageFolder(name: string, from: string): string | undefined {
  for (let folder = resolve(from); ; folder = dirname(folder)) {
    const root = join(folder, 'node_modules', name);
    if (existsSync(join(root, 'package.json'))) return root;
    if (folder === dirname(folder)) return undefined;
  }
}

function packsOfPackage(root: string): readonly string[] | undefined {
  try {
    const { millrace } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const packs: unknown = millrace?.packs;
    const isList =
      Array.isArray(packs) && packs.length > 0 && packs.every((path) => typeof path === 'string');
    return isList ? packs : undefined;
  } catch {
    return undefined;
  }
}
