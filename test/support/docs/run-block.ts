import { basename, join } from 'node:path';
import { expect } from '@jest/globals';
import { transform } from 'esbuild';
import { load } from 'js-yaml';
import { globSync } from 'tinyglobby';
import { loadConfig } from '../../../src/index.ts';
import { type CliResult, runCommand } from '../cli.ts';
import { completeConfig } from './complete-config.ts';
import type { Block } from './markdown.ts';
import { expectOutput } from './output.ts';
import { runScript, type ScriptResult } from './script.ts';
import type { Workspace } from './workspace.ts';

const INSTALL = 'npm install --save-dev millrace rxjs zod';

/** Lines of shell that pages show and that are not run here, each with the reason. */
const EXCUSED_COMMANDS: ReadonlyMap<string, string> = new Map([
  ['npm ci && npm start', 'what .ci/run does'],
  ['npm ci && npm test', 'what .ci/run does; these tests would run themselves'],
  ['npm install millrace rxjs', 'needs the registry'],
  ['npm install --global millrace rxjs', 'needs the registry; `millrace` is the build'],
  [INSTALL, 'needs the registry; the workspace links these packages'],
  ['npm run bench', 'takes half an hour; test/bench has what can be tested of it'],
  ['npm run bench -- --quick', 'the same, for minutes'],
  ['npm run bench -- --only main', 'the same'],
  ['npm run bench -- --help', 'the same'],
  ['git worktree add ../before v0.1.0 && (cd ../before && npm ci)', 'needs a tag and the registry'],
  ['npm run bench -- --against ../before', 'the same'],
  ['npm run bench -- --against ../before --only main,packs', 'the same'],
]);

/** A line of a script that only runs a command that ends by itself; what it prints may go to a file. */
const PLAIN_COMMAND =
  /^(?:npx )?millrace ((?:validate|test|graph|plugins|packs|schema|record|redact|scan|state)(?: [\w./=*-]+)*?)(?: > ([\w./-]+))?$/;

/** How a block of each language is run. Others are for reading. */
const RUNNERS: Readonly<Record<string, (block: Block, workspace: Workspace) => Promise<void>>> = {
  sh: runShellBlock,
  yaml: checkYaml,
  js: runModule,
  ts: runModule,
};

const KNOWN_ATTRIBUTES: Readonly<Record<string, readonly string[]>> = {
  sh: ['exit', 'env', 'server'],
  yaml: ['file', 'fragment', 'invalid', 'foreign', 'env'],
  js: ['file', 'saved', 'env', 'jest'],
  ts: ['file', 'saved', 'env', 'jest'],
};

/** Whether {@link runBlock} does something with a block, without a server. */
export function isRunnable({ language, attributes }: Block): boolean {
  return !attributes.has('server') && (language in RUNNERS || attributes.size > 0);
}

/** Runs a block as its language asks for. Throws if it is not as the page says. */
export async function runBlock(block: Block, workspace: Workspace): Promise<void> {
  const { language, attributes, text } = block;
  const known = KNOWN_ATTRIBUTES[language] ?? ['file'];
  const unknown = [...attributes.keys()].filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    throw new Error(`unknown: ${unknown.join(', ')}; a ${language} block may have ${known.join(', ')}`);
  }
  const file = attributes.get('file');
  if (file !== undefined) workspace.write(file, text);
  await RUNNERS[language]?.(block, workspace);
}

async function runShellBlock(block: Block, workspace: Workspace): Promise<void> {
  if (block.text.split('\n').includes(INSTALL)) workspace.install();
  const lines = block.text
    .split('\n')
    .filter((line) => !EXCUSED_COMMANDS.has(line.replace(/\s+#.*$/, '').trim()));
  if (lines.every((line) => line.trim() === '')) return;
  const result = lines.every((line) => PLAIN_COMMAND.test(line))
    ? await runPlainCommands(lines, block, workspace)
    : await shell(lines.join('\n'), block, workspace);
  expectExit(result, Number(block.attributes.get('exit') ?? 0));
  if (block.output !== undefined) expectOutput(result.output, block.output);
}

async function checkYaml(block: Block, workspace: Workspace): Promise<void> {
  const { attributes, text, line, output } = block;
  const file = attributes.get('file');
  // Tests of a configuration are checked by the `millrace test` that a page goes on with.
  if (attributes.has('foreign') || file?.endsWith('.test.yaml')) {
    load(text);
    return;
  }
  const isOnlyComment = text.split('\n').every((row) => /^\s*(?:#.*)?$/.test(row));
  if (isOnlyComment) return;
  const fragment = attributes.get('fragment');
  const name = file !== undefined && fragment === undefined ? file : `block-${line}.yaml`;
  if (name !== file) {
    workspace.write(name, fragment === undefined ? text : completeConfig(text, fragment));
  }
  // Checks of plugins read the environment of their process.
  if (!attributes.has('invalid') && !attributes.has('env') && output === undefined && !workspace.isEmpty) {
    // In this process: a page may have dozens of configurations, and a process of its own takes 0.3 s.
    await loadConfig([join(workspace.folder, name)], { env: variablesOf(block) });
    return;
  }
  const result = await runPlainCommands([`millrace validate ${name}`], block, workspace);
  expectExit(result, attributes.has('invalid') ? 2 : 0);
  if (output !== undefined) expectOutput(result.output, output);
}

async function runModule(block: Block, workspace: Workspace): Promise<void> {
  const { attributes, text, line, language, output } = block;
  if (attributes.has('saved')) return;
  const { code } = await transform(text, { loader: language === 'ts' ? 'ts' : 'js', target: 'node20' });
  if (attributes.has('jest')) {
    expectExit(await runJest(code, block, workspace), 0);
    return;
  }
  const file = attributes.get('file');
  const isRunAsItIs = file !== undefined && /\.[cm]?js$/.test(file);
  const name = isRunAsItIs ? file : `block-${line}.${/\brequire\(/.test(code) ? 'cjs' : 'mjs'}`;
  if (!isRunAsItIs) workspace.write(name, code);
  const result = await shell(`'${process.execPath}' '${name}'`, block, workspace);
  expectExit(result, 0);
  if (output !== undefined) expectOutput(result.output, output);
  else for (const shown of loggedIn(text)) expectOutput(result.output, `…\n${shown}\n…`);
}

/** What comments say that `console.log` prints: behind it, or on the lines after it. */
function loggedIn(text: string): string[] {
  const logs = /\bconsole\.log\(.*\);?(?: *\/\/ ?(.*))?((?:\n *\/\/.*)*)/g;
  return [...text.matchAll(logs)]
    .map(([, behind = '', below = '']) => behind + below.replace(/^ *\/\/ ?/gm, ''))
    .map((shown) => shown.trim())
    .filter((shown) => shown !== '');
}

/** Runs a module as the file of tests that it is. */
async function runJest(code: string, block: Block, workspace: Workspace): Promise<ScriptResult> {
  const name = `block-${block.line}.test.mjs`;
  workspace.write(name, code);
  const config = JSON.stringify({ testMatch: [`**/${name}`], transform: {} });
  const jest = 'node_modules/jest/bin/jest.js';
  return shell(
    `'${process.execPath}' --experimental-vm-modules ${jest} --config '${config}'`,
    block,
    workspace,
  );
}

function variablesOf({ attributes }: Block): Record<string, string> {
  const pairs = (attributes.get('env') ?? '').split(',').filter((pair) => pair !== '');
  return Object.fromEntries(pairs.map((pair) => pair.split('=') as [string, string]));
}

async function shell(script: string, block: Block, { folder }: Workspace): Promise<ScriptResult> {
  const { code, output } = await runScript(script, folder, variablesOf(block));
  return { code, output: withoutFolder(output, folder) };
}

/** Runs commands up to the first one that fails, like a shell. */
async function runPlainCommands(
  lines: readonly string[],
  block: Block,
  workspace: Workspace,
): Promise<ScriptResult> {
  const result = { code: 0, output: '' };
  for (const line of lines) {
    const [, command = '', file] = PLAIN_COMMAND.exec(line) ?? [];
    const args = command
      .split(' ')
      .flatMap((arg) => (arg.includes('*') ? globSync(arg, { cwd: workspace.folder }).sort() : [arg]));
    const { code, stdout, stderr } = await runAlone(args, block, workspace);
    if (file !== undefined) workspace.write(file, stdout);
    result.code = code;
    result.output += file === undefined ? stderr + stdout : stderr;
    if (code !== 0) break;
  }
  return result;
}

/** Runs a command in a process that the tests share, which takes a tenth of the time. */
async function runAlone(args: readonly string[], block: Block, { folder }: Workspace): Promise<CliResult> {
  // Checkpoints belong to the page, never to the user.
  const env = { XDG_STATE_HOME: join(folder, '.state'), ...variablesOf(block) };
  const { code, stdout, stderr } = await runCommand(args, { cwd: folder, env });
  return { code, stdout: withoutFolder(stdout, folder), stderr: withoutFolder(stderr, folder) };
}

const withoutFolder = (output: string, folder: string) =>
  output.replaceAll(`${folder}/`, '').replaceAll(folder, basename(folder));

function expectExit({ code, output }: ScriptResult, wanted: number): void {
  if (code !== wanted) expect(`exit code ${code}\n${output}`).toBe(`exit code ${wanted}\n`);
}
