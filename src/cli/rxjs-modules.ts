import { readFileSync } from 'node:fs';
import { createRequire, Module } from 'node:module';
import { dirname, join } from 'node:path';
import vm from 'node:vm';

/** What the build writes: of RxJS, what the engine imports and which file has it, and all files that it takes. */
interface RxjsFiles {
  readonly parts: Readonly<Record<string, string>>;
  readonly files: readonly string[];
}

type Run = (exports: Record<string, unknown>, require: (path: string) => unknown) => void;

/**
 * Loads what the engine uses of RxJS ahead of it. Node would take twice as long, most of it to find 109 files whose
 * places are known. They are put where Node puts modules, so that they are those of whoever asks for RxJS. Here and not
 * in the engine, for that is the application's affair; of `millrace` we are the application.
 */
export function loadRxjsAtOnce(): void {
  const require = createRequire(import.meta.url);
  const { parts, files } = require('#rxjs-files') as RxjsFiles;
  const folder = dirname(dirname(require.resolve('rxjs/internal/Observable')));
  // Somebody has begun with it, and whoever has part of it needs the rest of the same.
  if (Object.keys(require.cache).some((path) => path.startsWith(folder))) return;
  const functions = compiled(folder, files);
  if (functions === undefined) return;

  const load = (path: string): Record<string, unknown> => {
    const run = functions.get(path);
    if (run === undefined) return require(path);
    return (
      require.cache[path]?.exports ??
      add(path, (exports) => run(exports, (next) => load(join(dirname(path), `${next}.js`))))
    );
  };
  const add = (path: string, run: (exports: Record<string, unknown>) => void) => {
    const module = new Module(path);
    module.filename = path;
    // Before it is run: modules may need each other.
    require.cache[path] = module as NodeJS.Module;
    run(module.exports);
    module.loaded = true;
    return module.exports;
  };
  add(require.resolve('#rxjs'), (exports) => {
    for (const [name, file] of Object.entries(parts)) exports[name] = load(join(folder, file))[name];
  });
}

/** Undefined if another version is installed that does not have these files. */
function compiled(folder: string, files: readonly string[]): ReadonlyMap<string, Run> | undefined {
  try {
    return new Map(
      files.map((file) => {
        const filename = join(folder, file);
        return [
          filename,
          vm.compileFunction(readFileSync(filename, 'utf8'), ['exports', 'require'], { filename }) as Run,
        ];
      }),
    );
  } catch {
    return undefined;
  }
}
