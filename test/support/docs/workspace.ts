import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { afterAll, beforeAll } from '@jest/globals';
import { ROOT, upToDateBuild } from '../build.ts';

const LEFT_OUT = ['.git', 'out'];

/** What a workspace shares with the repository. */
const linked = () => readdirSync(ROOT).filter((name) => !LEFT_OUT.includes(name));

/**
 * A folder that looks like the repository with the package built, and takes what the commands of a page write, so
 * that pages disturb neither the repository nor each other. It lasts for the tests of one `describe`.
 */
export class Workspace {
  #folder = '';

  constructor() {
    beforeAll(async () => {
      await upToDateBuild();
      this.#folder = mkdtempSync(join(tmpdir(), 'millrace-docs-'));
      for (const name of linked()) symlinkSync(join(ROOT, name), join(this.#folder, name));
    });
    afterAll(() => rmSync(this.#folder, { recursive: true, force: true }));
  }

  get folder(): string {
    return this.#folder;
  }

  /** Writes a file, and returns its path. A page cannot write to what is the repository's. */
  write(name: string, text: string): string {
    const path = join(this.#folder, name);
    const [top = name] = relative(this.#folder, path).split('/');
    if (top === '..' || linked().includes(top)) {
      throw new Error(`a page cannot write ${name}: the repository has ${top}; choose another name`);
    }
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text.endsWith('\n') ? text : `${text}\n`);
    return path;
  }
}
