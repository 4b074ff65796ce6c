import { readFileSync } from 'node:fs';
import { createRequire, Module } from 'node:module';
import { dirname, join, relative, sep } from 'node:path';
import vm from 'node:vm';
import { COMPILED, type CompiledCode, readCompiled, sumOf } from './compiled-code.ts';

type Wrapper = (
  exports: unknown,
  require: (request: string) => unknown,
  module: unknown,
  filename: string,
  dirname: string,
) => void;

/** As Node wraps a CommonJS module. */
const HEAD = '(function (exports, require, module, __filename, __dirname) { ';
const TAIL = '\n})';

/** What RxJS's files are required by, and called in {@link CompiledCode}, begins with this. */
const RXJS = 'rxjs/';

/**
 * Loads chunks, and of RxJS what they import, with what V8 made of them when the build ran them: so a start compiles next
 * to nothing, and as their places are known, Node need not look for them. A file that was changed is compiled as ever.
 * They are put where Node puts modules, so that they are those of whoever asks for them, and what is there already is
 * taken. Here and not in the engine, for that is the application's affair; of `millrace` we are the application.
 */
export class CompiledModules {
  readonly #chunks: string;
  readonly #compiled: CompiledCode;
  readonly #nodeRequire: NodeJS.Require;
  /** The folder of what `rxjs/` exports; undefined until somebody wants of it. */
  #rxjs: string | undefined;

  /**
   * @param chunks the folder that the build writes them to.
   * @param compiled by the paths from there.
   */
  constructor(chunks: string, compiled: CompiledCode) {
    this.#chunks = chunks;
    this.#compiled = compiled;
    this.#nodeRequire = createRequire(join(chunks, COMPILED));
  }

  /** What a chunk exports, or another file of ours. */
  require(path: string): unknown {
    const { cache } = this.#nodeRequire;
    const loaded = cache[path];
    if (loaded !== undefined) return loaded.exports;
    const module = new Module(path);
    module.filename = path;
    // Before it is run: modules may need each other.
    cache[path] = module as NodeJS.Module;
    try {
      const wrapper = this.#scriptOf(path).runInThisContext() as Wrapper;
      wrapper.call(module.exports, module.exports, this.#requireIn(path), module, path, dirname(path));
    } catch (error) {
      delete cache[path];
      throw error;
    }
    module.loaded = true;
    return module.exports;
  }

  /** The build keeps what V8 makes of it. */
  protected compile(_name: string, source: string, options: vm.ScriptOptions): vm.Script {
    return new vm.Script(source, options);
  }

  #scriptOf(filename: string): vm.Script {
    const name = this.#nameOf(filename);
    const text = readFileSync(filename);
    const compiled = this.#compiled.get(name);
    const cachedData = compiled?.text === sumOf(text) ? compiled.code : undefined;
    return this.compile(name, `${HEAD}${text}${TAIL}`, { filename, columnOffset: -HEAD.length, cachedData });
  }

  #requireIn(path: string): (request: string) => unknown {
    let nodeRequire: NodeJS.Require | undefined;
    return (request) => {
      const found = this.#find(path, request);
      if (this.#compiled.has(this.#nameOf(found))) return this.require(found);
      nodeRequire ??= createRequire(path);
      return nodeRequire(request);
    };
  }

  #find(from: string, request: string): string {
    if (request === '#rxjs') return join(this.#chunks, 'rxjs.cjs');
    if (request.startsWith(RXJS)) {
      this.#rxjs ??= join(dirname(dirname(this.#nodeRequire.resolve('rxjs/internal/Observable'))), sep);
      return join(this.#rxjs, `${request.slice(RXJS.length)}.js`);
    }
    const path = join(dirname(from), request);
    return this.#isOfRxjs(from) ? `${path}.js` : path;
  }

  #nameOf(path: string): string {
    return this.#isOfRxjs(path)
      ? `${RXJS}${relative(this.#rxjs as string, path)}`
      : relative(this.#chunks, path);
  }

  #isOfRxjs(path: string): boolean {
    return this.#rxjs !== undefined && path.startsWith(this.#rxjs);
  }
}

/** {@link CompiledModules.require}, or Node's own where there is no compiled code, or maps of its sources are wanted. */
export function requireChunk(chunks: string, path: string): unknown {
  const file = join(chunks, COMPILED);
  const compiled = process.sourceMapsEnabled ? undefined : readCompiled(file);
  return compiled === undefined
    ? createRequire(file)(path)
    : new CompiledModules(chunks, compiled).require(path);
}
