import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import * as operators from '../../operators/index.ts';
import * as nodeOperators from '../../operators/node.ts';
import { ROOT } from '../support/build.ts';
import { sourceFile } from '../support/sources.ts';
import { tempFolder } from '../support/temp-folder.ts';

const folder = tempFolder();
const page = readFileSync(join(ROOT, 'docs/operators.md'), 'utf8');

describe('docs/operators.md', () => {
  it('is what the sources say today; `npm run operators` rewrites it', () => {
    const written = folder('operators.md');
    execFileSync(process.execPath, [join(ROOT, 'docs/write-operators.mjs'), written]);
    expect(page).toBe(readFileSync(written, 'utf8'));
  });

  it('has every operator, and no other', () => {
    const headings = [...page.matchAll(/^### (\w+)$/gm)].map(([, name]) => name);
    expect(headings.toSorted()).toEqual(Object.keys({ ...operators, ...nodeOperators }).toSorted());
  });

  it('says of every operator when to use it, with a marble diagram', () => {
    const sections = page.split(/^### /m).slice(1);
    const creating = ['fromEventEmitter', 'fromNodeStream', 'longTimer', 'poll', 'pullFrom'];
    const masks = [
      'entropyMask',
      'pseudonyms',
      'redact',
      'redactJson',
      'redactStream',
      'regexMask',
      'restorePseudonyms',
    ];
    const drawn = sections.filter((text) => text.includes('```text')).map((text) => /^\w+/.exec(text)?.[0]);
    const compared = sections
      .filter((text) => text.includes('Use it instead of'))
      .map((text) => /^\w+/.exec(text)?.[0]);
    expect([...drawn, ...masks, ...creating].toSorted()).toEqual(compared.toSorted());
    expect(compared.length).toBeGreaterThan(18);
  });

  it('has every kind of options that is exported, with words about each option', () => {
    const exported = ['operators/index.ts', 'operators/node.ts'].flatMap((path) =>
      [...sourceFile(path).text.matchAll(/\btype (\w+(?:Options|(?:Retry|Restart)Policy|Settings))\b/g)].map(
        ([, name]) => name,
      ),
    );
    const missing = exported.filter((name) => !new RegExp(`^\`${name}\`:`, 'm').test(page));
    // Part of others, where it stands.
    expect(missing).toEqual(['RandomOptions']);
    const tables = page.split('\n\n').filter((block) => block.startsWith('| Option |'));
    expect(tables.length).toBeGreaterThan(15);
    expect(tables.flatMap((table) => table.split('\n').filter((row) => / \| +\|$/.test(row)))).toEqual(
      tables.map(() => '| Option | Type | |'),
    );
  });
});
