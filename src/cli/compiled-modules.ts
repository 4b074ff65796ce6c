import { existsSync, readFileSync } from 'node:fs';
import { createRequire, Module } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import vm from 'node:vm';

/** What the build writes ahead of what V8 made of each file: where they are, and how long each part is. */
export interface CompiledHeader {
  /** The {@link THIS_NODE} that ran the build. */
  readonly node: string;
  readonly own: CompiledGroup;
  /** Paths in the folder of RxJS. */
  readonly rxjs: CompiledGroup;
}

export interface CompiledGroup {
  /** Of all texts: what V8 made of others is of no use. */
  readonly sum: number;
  readonly files: readonly { readonly path: string; readonly size: number }[];
}

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

/** Beside the chunks. */
export const COMPILED = 'compiled.bin';

/** V8 looks at its own version only, and Node has patches for it. */
export const THIS_NODE = `${process.version} ${process.platform} ${process.arch}`;

/**
 * Loads what a command needs at once: the chunks, and of RxJS what they import. The build has run them and kept what V8
 * made of them, so that a start compiles next to nothing; and as their places are known, Node need not look for them. If
 * it is another Node, or a file was changed, they are compiled as ever. They are put where Node puts modules, so that they
 * are those of whoever asks for them. Here and not in the engine, for that is the application's affair; of `millrace` we
 * are the application.
 */
export class CompiledModules {
  /** By the paths of their files. */
  readonly scripts = new Map<string, vm.Script>();
  readonly #cache: NodeJS.Dict<NodeJS.Module>;
  readonly #rxjs: string;
  readonly #parts: string;

  /** @param chunks the folder that the build writes them to. */
  constructor(chunks: string, { node, own, rxjs }: CompiledHeader, data: Buffer) {
    const nodeRequire = createRequire(join(chunks, COMPILED));
    this.#cache = nodeRequire.cache;
    this.#rxjs = dirname(dirname(nodeRequire.resolve('rxjs/internal/Observable')));
    this.#parts = join(chunks, 'rxjs.cjs');
    const sizeOfOwn = own.files.reduce((sum, { size }) => sum + size, 0);
    // All of them ahead: V8 takes nothing back when its flags have changed, as the engine's masks make them.
    const usable = node === THIS_NODE ? data : undefined;
    this.#compile(chunks, own, usable?.subarray(0, sizeOfOwn));
    // Somebody has begun with it, and whoever has part of it needs the rest of the same.
    if (Object.keys(this.#cache).some((path) => path.startsWith(this.#rxjs))) return;
    try {
      this.#compile(this.#rxjs, rxjs, usable?.subarray(sizeOfOwn));
    } catch {
      // Another version is installed, which does not have these files.
      for (const { path } of rxjs.files) this.scripts.delete(join(this.#rxjs, path));
    }
  }

  /** What is exported by one of them, or by another module. */
  require(path: string): unknown {
    const script = this.scripts.get(path);
    const loaded = this.#cache[path];
    if (loaded !== undefined) return loaded.exports;
    return script === undefined ? createRequire(path)(path) : this.#run(path, script);
  }

  #run(path: string, script: vm.Script): unknown {
    const module = new Module(path);
    module.filename = path;
    // Before it is run: modules may need each other.
    this.#cache[path] = module as NodeJS.Module;
    const wrapper = script.runInThisContext() as Wrapper;
    wrapper.call(module.exports, module.exports, this.#requireIn(path), module, path, dirname(path));
    module.loaded = true;
    return module.exports;
  }

  #requireIn(path: string): (request: string) => unknown {
    let nodeRequire: NodeJS.Require | undefined;
    return (request) => {
      const known = this.#resolve(path, request);
      if (known !== undefined) return this.require(known);
      nodeRequire ??= createRequire(path);
      return nodeRequire(request);
    };
  }

  #resolve(from: string, request: string): string | undefined {
    const path =
      request === '#rxjs'
        ? this.#parts
        : request.startsWith('rxjs/')
          ? join(this.#rxjs, `${request.slice('rxjs/'.length)}.js`)
          : join(dirname(from), from.startsWith(this.#rxjs) ? `${request}.js` : request);
    return this.scripts.has(path) ? path : undefined;
  }

  #compile(folder: string, { sum, files }: CompiledGroup, data: Buffer | undefined): void {
    const texts = files.map(({ path }) => readFileSync(join(folder, path)));
    const compiled = sumOf(texts) === sum ? data : undefined;
    let at = 0;
    files.forEach(({ path, size }, i) => {
      const filename = join(folder, path);
      const cachedData = compiled?.subarray(at, at + size);
      at += size;
      const script = new vm.Script(`${HEAD}${texts[i]}${TAIL}`, {
        filename,
        columnOffset: -HEAD.length,
        cachedData,
      });
      this.scripts.set(filename, script);
    });
  }
}

/** A sum of texts that is another one if any of them is changed. */
export function sumOf(texts: readonly Buffer[]): number {
  // Not at the top: `--version` needs none of it.
  const { crc32 } = process.getBuiltinModule('node:zlib');
  return texts.reduce((sum, text) => crc32(text, sum), 0);
}

/**
 * What a CommonJS file of ours exports.
 *
 * @param path relative to the folder of the chunks.
 */
export function requireCompiled(chunks: URL, path: string): unknown {
  const folder = fileURLToPath(chunks);
  const file = join(folder, COMPILED);
  if (!existsSync(file)) return createRequire(file)(join(folder, path));
  const bytes = readFileSync(file);
  const end = bytes.indexOf('\n');
  const header: CompiledHeader = JSON.parse(bytes.toString('latin1', 0, end));
  return new CompiledModules(folder, header, bytes.subarray(end + 1)).require(join(folder, path));
}
