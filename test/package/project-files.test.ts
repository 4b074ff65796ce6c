import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { load } from 'js-yaml';
import { satisfies } from 'semver';
import { ROOT } from '../support/build.ts';

const textOf = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const { scripts } = JSON.parse(textOf('package.json'));
const pages = [
  ...['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'operators/README.md'],
  ...readdirSync(join(ROOT, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];
const filesIn = (folder: string) => readdirSync(join(ROOT, folder)).map((name) => `${folder}/${name}`);

/** The client of Kafka, an optional peer, which the tests of `kafka` run on the oldest Node.js as well. */
const WORK_ALL_THE_SAME = new Set(
  ['dynamic-buffer', 'kafka', 'wasm-utils'].map((name) => `node_modules/@platformatic/${name}`),
);

describe('what is installed', () => {
  const manifest = JSON.parse(textOf('package.json'));

  it('runs on the oldest Node.js that is supported, so that npm warns of no package', () => {
    const oldest = `${/\d+\.\d+/.exec(manifest.engines.node)?.[0]}.0`;
    const { packages } = JSON.parse(textOf('package-lock.json')) as {
      packages: Record<string, { engines?: { node?: string } }>;
    };
    const named = Object.entries(packages).filter(([, { engines }]) => engines?.node !== undefined);
    expect(named.length).toBeGreaterThan(100);
    const others = named.filter(
      ([path, { engines }]) => !satisfies(oldest, engines?.node as string) && !WORK_ALL_THE_SAME.has(path),
    );
    expect(others.map(([path, { engines }]) => `${path}: ${engines?.node}`)).toEqual([]);
  });

  it('is what the README clones', () => {
    const clone = /^git clone .*/m.exec(textOf('README.md'))?.[0];
    const url = manifest.repository.url.replace(/^git\+/, '');
    expect(clone).toBe(`git clone ${url} && cd ${manifest.name} && npm ci`);
    expect(textOf('README.md')).toContain(`millrace-${manifest.version}.tgz`);
  });
});

describe('the files for contributors', () => {
  it.each(['CONTRIBUTING.md', 'SECURITY.md'])('%s names scripts that exist', (page) => {
    const text = textOf(page);
    const used = [...text.matchAll(/npm (?:run )?(start|test|(?<=run )[\w:]+)/g)].map(([, name]) => name);
    expect(used.filter((name) => scripts[name as string] === undefined)).toEqual([]);
  });

  it.each(pages)('%s links to files that exist, and names none that does not', (page) => {
    const text = textOf(page);
    const links = [...text.matchAll(/\]\((?!\w+:)([^)#\s]+)/g)].map(([, path = '']) =>
      join(dirname(page), path),
    );
    const named = [...text.matchAll(/`((?:src|operators|plugins|test|bench|build|\.ci)\/[\w./-]*)`/g)];
    const paths = [...links, ...named.map(([, path = '']) => path)];
    expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it('in the architecture, files are named with their folder', () => {
    const text = textOf('docs/architecture.md');
    const named = [...text.matchAll(/(?<![\w/.-])((?:src|operators|plugins|test|bench)\/[\w./-]*\w\.\w+)/g)];
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter(([, path = '']) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it.each(filesIn('.github/workflows'))('%s runs the checks that `.ci/run` has', (path) => {
    const { jobs } = load(textOf(path)) as { jobs: Record<string, { steps: { run?: string }[] }> };
    const runs = Object.values(jobs).flatMap(({ steps }) => steps.map(({ run }) => run));
    expect(runs).toContain('bash .ci/run');
  });

  it.each(filesIn('.github/ISSUE_TEMPLATE'))('%s is valid YAML', (path) => {
    expect(load(textOf(path))).toEqual(expect.any(Object));
  });
});
