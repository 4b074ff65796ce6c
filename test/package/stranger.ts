import { type ExecFileException, execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { ROOT } from '../support/build.ts';

/** What a clone has not. */
const NOT_CLONED = ['.git', 'node_modules', 'dist', 'out', 'operators/dist', 'redact/dist'];

const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');

export interface Result {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** What `npm pack` tells of a package. */
export interface Packed {
  readonly tarball: string;
  readonly size: number;
  readonly files: readonly string[];
}

/**
 * Packs millrace as a publisher does, from a clone: building in the repository would take `dist` from under the
 * tests that run beside this one.
 */
export function pack(folder: string): Promise<Packed> {
  const clone = join(folder, 'clone');
  cpSync(ROOT, clone, {
    recursive: true,
    filter: (path) => !NOT_CLONED.includes(relative(ROOT, path)),
  });
  symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'));
  return npmPack(folder);
}

/** Packs a workspace of the clone that {@link pack} has built. */
export const packWorkspace = (folder: string, workspace: string): Promise<Packed> =>
  npmPack(folder, '--workspace', workspace, '--ignore-scripts');

async function npmPack(folder: string, ...options: readonly string[]): Promise<Packed> {
  const args = ['pack', '--json', '--pack-destination', folder, ...options];
  const { code, stdout } = await run(join(folder, 'clone'), 'npm', ...args);
  if (code !== 0) throw new Error(`npm pack failed: ${stdout.split('\n{')[0]}`);
  // What the build says comes first.
  const [{ filename, size, files }] = JSON.parse(stdout.slice(stdout.search(/^\[/m)));
  return { tarball: join(folder, filename), size, files: files.map(({ path }: { path: string }) => path) };
}

/** A new project with nothing but some packages. */
export class Project {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async install(folder: string, packages: readonly string[]): Promise<Project> {
    const project = new Project(folder);
    project.write({ 'package.json': JSON.stringify({ name: 'stranger', private: true, type: 'module' }) });
    const { code, stderr } = await project.run(
      ...['npm', 'install', '--prefer-offline', '--no-audit', '--no-fund'],
      ...packages,
    );
    if (code !== 0) throw new Error(`npm install failed:\n${stderr}`);
    return project;
  }

  write(files: Readonly<Record<string, string>>): void {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(this.folder, name)), { recursive: true });
      writeFileSync(join(this.folder, name), text);
    }
  }

  /** The folders of the installed packages, such as `node_modules/rxjs`, as npm notes them. */
  packages(): string[] {
    const notes = readFileSync(join(this.folder, 'node_modules/.package-lock.json'), 'utf8');
    return Object.keys(JSON.parse(notes).packages);
  }

  run(command: string, ...args: readonly string[]): Promise<Result> {
    return run(this.folder, command, ...args);
  }

  node(...args: readonly string[]): Promise<Result> {
    return this.run(process.execPath, ...args);
  }

  /** The errors of the TypeScript compiler, at its strictest, in these files. */
  async typeErrors(files: readonly string[], options: Readonly<Record<string, unknown>>): Promise<string> {
    const compilerOptions = {
      ...{ target: 'es2022', lib: ['es2022'], types: ['node'], strict: true, noEmit: true },
      ...{ skipLibCheck: false, exactOptionalPropertyTypes: true },
      ...options,
    };
    const config = `tsconfig.${Object.values(options)
      .filter((value) => typeof value === 'string')
      .join('.')}.json`;
    this.write({ [config]: JSON.stringify({ compilerOptions, files }) });
    return (await this.node(TSC, '-p', config)).stdout;
  }
}

export const newFolder = () => mkdtempSync(join(tmpdir(), 'millrace-package-'));

function run(cwd: string, command: string, ...args: readonly string[]): Promise<Result> {
  return new Promise((resolve) => {
    execFile(command, args, { cwd, maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
      resolve({ code: exitCode(error), stdout, stderr });
    });
  });
}

function exitCode(error: ExecFileException | null): number {
  if (error === null) return 0;
  return typeof error.code === 'number' ? error.code : 128;
}
