import { resolve } from 'node:path';

/**
 * Without these, there is a chunk for each set of modules that the same entries share, and a run loads 36. A module is
 * in the first of these chunks that has it. All that it imports is there too, or in one before: no two need each other.
 *
 * @returns how a bundler splits code, and the plugin that tells it what each module imports.
 */
export function sharedChunks() {
  const imports = new Map();
  const reached = (...paths) => reachedFrom(paths, imports);
  const chunks = {
    imports: () => reached('src/modules/import-module.ts'),
    version: () => reached('src/version.ts'),
    /** What the command line needs of the engine to show what is wrong. */
    errors: () => {
      const engine = reached('src/index.ts');
      return new Set([...reached('src/cli/main.ts')].filter((id) => engine.has(id)));
    },
    // The next two have nothing of Node: browsers load them. A bundler leaves out the tables of masks as a file only.
    masks: () => reached('operators/regex-mask.ts', 'operators/entropy-mask.ts'),
    operators: () => reached('operators/index.ts'),
    engine: () => reached('src/index.ts'),
    cli: () => reached('src/cli/main.ts'),
    run: () => reached('src/cli/actions/run.ts'),
  };
  const groups = Object.entries(chunks).map(([name, modulesOf], index, { length }) => {
    let modules;
    const test = (id) => {
      modules ??= modulesOf();
      return modules.has(id);
    };
    return { name, test, priority: length - index };
  });
  const moduleParsed = ({ id, importedIds }) => void imports.set(id, importedIds);
  return { codeSplitting: { groups }, plugins: [{ name: 'imports', moduleParsed }] };
}

/** Modules, and those that they import, directly or not. */
function reachedFrom(paths, imports) {
  const found = new Set(paths.map((path) => resolve(path)));
  for (const id of found) for (const next of imports.get(id) ?? []) found.add(next);
  return found;
}
