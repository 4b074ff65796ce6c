import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { load } from 'js-yaml';
import { PLUGIN_SECTIONS } from '../src/config/sections.ts';
import { loadConfig } from '../src/index.ts';
import { checkTest } from '../src/testing/yaml/check-test.ts';
import { ROOT } from './support/build.ts';
import { allBuiltinPlugins } from './support/built-in-plugins.ts';
import { completeConfig } from './support/docs/complete-config.ts';
import { type Block, blocksOf } from './support/docs/markdown.ts';
import { expectOutput } from './support/docs/output.ts';
import { isRunnable, runBlock } from './support/docs/run-block.ts';
import { Workspace } from './support/docs/workspace.ts';
import { tempFolder } from './support/temp-folder.ts';

/*
 * What the pages show is run: README.md and the pages of docs/ and its folders. The blocks of a page are run in order, in one folder that
 * looks like the repository after a build, and that takes what they write. Words after the language:
 *
 *     ```sh                      runs as a script; must succeed. `npm ci && …` lines are left out
 *     ```sh exit=2               must end with this exit code
 *     ```sh env=A=1,B=2          with these environment variables; also for the others below
 *     ```sh server=clickhouse    runs only in test/servers, with that server at its usual port
 *     ```yaml                    a complete configuration; `millrace validate` must accept it
 *     ```yaml file=a.yaml        the same, and saved for the blocks that follow. Any language may have a file
 *     ```yaml fragment           a configuration of which sections, and entries that pipelines name, are left out
 *     ```yaml fragment=PATH      the value of PATH: `processors`, `pipelines.main.delivery`
 *     ```yaml invalid            must be refused, with exit code 2
 *     ```yaml foreign            no configuration of millrace; only has to be YAML. So has a file=….test.yaml
 *     ```js, ```ts               a module, run; it may import `millrace` and all that the repository has installed.
 *                                Comments behind a `console.log`, or on the lines after it, say what it prints
 *     ```js file=a.mjs saved     only saved: a block that follows runs it
 *     ```ts jest                 a file of tests, run by Jest; it imports `@jest/globals`
 *     ```text                    right behind one of these: what it prints, standard error included. Times, durations,
 *                                rates, sizes and versions may differ; `…` stands for anything
 *
 * Other languages, and text elsewhere, are for reading.
 */

const inDocs = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' });
const pages = ['README.md', ...inDocs.map((name) => `docs/${name}`)].filter(
  (path) => path.endsWith('.md') && existsSync(join(ROOT, path)),
);
const blocksIn = (path: string) => blocksOf(readFileSync(join(ROOT, path), 'utf8')).filter(isRunnable);
/** Pages whose readers have no copy of the repository: their blocks run in an empty folder. */
const OUTSIDE = ['docs/plugins.md'];
const title = ({ language, line }: Block) => `line ${line}: ${language}`;

describe.each(
  pages.map((path) => ({ path, blocks: blocksIn(path) })).filter(({ blocks }) => blocks.length > 0),
)('$path', ({ path, blocks }) => {
  const workspace = new Workspace({ isEmpty: OUTSIDE.includes(path) });

  it.each(blocks.map((block) => ({ title: title(block), block })))('$title', async ({ block }) => {
    await runBlock(block, workspace);
  });
});

describe('examples/', () => {
  const files = readdirSync(join(ROOT, 'examples')).filter((name) => /(?<!\.test)\.ya?ml$/.test(name));

  it.each(files)('%s is a good configuration', async (name) => {
    const { warnings } = await loadConfig([join(ROOT, 'examples', name)], { env: {}, checkTest });
    expect(warnings).toEqual([]);
  });
});

const examples = (await allBuiltinPlugins()).map(({ kind, name, plugin }) => ({
  kind,
  name,
  example: plugin.example ?? '',
}));

describe('the example of each built-in plugin', () => {
  const temp = tempFolder();
  it.each(examples)('$kind $name is one good entry of that plugin', async ({ kind, name, example }) => {
    const entries = Object.values(load(example) as Record<string, { plugin: string }>);
    expect(entries.map(({ plugin }) => plugin)).toEqual([name]);
    const { config } = await loadConfig([write(completeConfig(example, PLUGIN_SECTIONS[kind]))]);
    const [entry] = Object.values(config[PLUGIN_SECTIONS[kind]]);
    // Not their values: a single server, or a file that holds a secret, is something else in the configuration.
    expect(Object.keys(entry as object)).toEqual(expect.arrayContaining(Object.keys(entries[0] as object)));
  });

  function write(text: string): string {
    const path = temp('example.yaml');
    writeFileSync(path, text);
    return path;
  }
});

describe('a page that is right', () => {
  const workspace = new Workspace();
  const blocks = blocksIn('test/fixtures/docs/right.md');

  it.each(blocks.map((block) => ({ title: title(block), block })))('passes, $title', async ({ block }) => {
    await expect(runBlock(block, workspace)).resolves.toBeUndefined();
  });
});

describe('a page that is wrong', () => {
  const workspace = new Workspace();
  const blocks = blocksOf(readFileSync(join(ROOT, 'test/fixtures/docs/wrong.md'), 'utf8'));
  const pairs = blocks
    .filter(
      ({ language, attributes }) => language !== 'reason' && (language !== 'text' || attributes.size > 0),
    )
    .map((block) => ({
      title: title(block),
      block,
      reason: blocks.find(({ language, line }) => language === 'reason' && line > block.line)?.text ?? '',
    }));

  it.each(pairs)('fails, $title: $reason', async ({ block, reason }) => {
    await expect(runBlock(block, workspace)).rejects.toThrow(reason);
  });
});

describe('output', () => {
  it.each([
    ['done in 1.2 s, 300 events', 'done in 45 ms, 300 events'],
    ['2026-01-02T03:04:05.678Z ready', '2025-12-31T00:00:00Z ready'],
    ['a  1\nb  2', 'a 1\nb 2\n'],
    ['one\ntwo\nthree', 'one\n…\nthree'],
    ['one\ntwo', 'one\n…'],
    ['one of many', 'one …'],
    ['a (b) [c] $1', 'a (b) [c] $1'],
  ])('%j is as shown in %j', (actual, shown) => {
    expect(() => expectOutput(actual, shown)).not.toThrow();
  });

  it.each([
    ['300 events', '301 events'],
    ['one\ntwo', 'one'],
    ['one', 'one\ntwo'],
    ['one\ntwo\nthree', '…\ntwo'],
  ])('%j is not as shown in %j', (actual, shown) => {
    expect(() => expectOutput(actual, shown)).toThrow();
  });
});
