import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { load } from 'js-yaml';
import { ROOT } from '../support/build.ts';

const textOf = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const { scripts } = JSON.parse(textOf('package.json'));
const filesIn = (folder: string) => readdirSync(join(ROOT, folder)).map((name) => `${folder}/${name}`);

describe('the files for contributors', () => {
  it.each(['CONTRIBUTING.md', 'SECURITY.md'])('%s names scripts and files that exist', (page) => {
    const text = textOf(page);
    const used = [...text.matchAll(/npm (?:run )?(start|test|(?<=run )[\w:]+)/g)].map(([, name]) => name);
    const links = [
      ...text.matchAll(/\]\(([^)#]+)/g),
      ...text.matchAll(/`((?:src|test|docs|\.ci)\/[\w./-]+)`/g),
    ];
    expect(used.filter((name) => scripts[name as string] === undefined)).toEqual([]);
    expect(links.filter(([, path]) => !existsSync(join(ROOT, dirname(page), path as string)))).toEqual([]);
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
