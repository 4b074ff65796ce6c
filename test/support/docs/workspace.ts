import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { afterAll, beforeAll } from '@jest/globals';
import { ROOT, upToDateBuild } from '../build.ts';

const LEFT_OUT = ['.git', 'out'];

/** What a workspace shares with the repository. */
const linked = () => readdirSync(ROOT).filter((name) => !LEFT_OUT.includes(name));

/** What `npm install` puts into a workspace that starts empty. */
const PACKAGES: Readonly<Record<string, string>> = {
  millrace: ROOT,
  rxjs: join(ROOT, 'node_modules/rxjs'),
  zod: join(ROOT, 'node_modules/zod'),
};

export interface WorkspaceOptions {
  /** Starts with an empty folder, as outside of the repository. Default: false. */
  readonly isEmpty?: boolean;
}

/**
 * A folder that looks like the repository with the package built, and takes what the commands of a page write, so
 * that pages disturb neither the repository nor each other. It lasts for the tests of one `describe`.
 */
export class Workspace {
  readonly #linked: readonly string[];
  #folder = '';

  constructor({ isEmpty = false }: WorkspaceOptions = {}) {
    this.#linked = isEmpty ? [] : linked();
    beforeAll(async () => {
      await upToDateBuild();
      this.#folder = mkdtempSync(join(tmpdir(), 'millrace-docs-'));
      for (const name of this.#linked) symlinkSync(join(ROOT, name), join(this.#folder, name));
    });
    afterAll(() => rmSync(this.#folder, { recursive: true, force: true }));
  }

  /** Whether plugins of this folder find the packages that they import only by the command that runs them. */
  get isEmpty(): boolean {
    return this.#linked.length === 0;
  }

  get folder(): string {
    return this.#folder;
  }

  /** Does what `npm install` of the package and its peers does: from here on, modules in this folder may import them. */
  install(): void {
    const modules = join(this.#folder, 'node_modules');
    mkdirSync(modules, { recursive: true });
    for (const [name, folder] of Object.entries(PACKAGES)) symlinkSync(folder, join(modules, name));
  }

  /** Writes a file, and returns its path. A page cannot write to what is the repository's. */
  write(name: string, text: string): string {
    const path = join(this.#folder, name);
    const [top = name] = relative(this.#folder, path).split('/');
    if (top === '..' || this.#linked.includes(top)) {
      throw new Error(`a page cannot write ${name}: the repository has ${top}; choose another name`);
    }
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text.endsWith('\n') ? text : `${text}\n`);
    return path;
  }
}
