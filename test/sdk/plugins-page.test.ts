import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { ROOT } from '../support/build.ts';
import { blocksOf } from '../support/docs/markdown.ts';
import { sourceFiles } from '../support/sources.ts';

const page = readFileSync(join(ROOT, 'docs/plugins.md'), 'utf8');
const files = sourceFiles('src/sdk');
const index = files.find(({ path }) => path.endsWith('/index.ts'))?.text ?? '';

/** What `millrace/plugin` exports. */
function exportedNames(): string[] {
  const named = [...index.matchAll(/export (?:type )?\{([^}]*)\}/g)].flatMap(([, list = '']) =>
    list.split(',').map((name) => name.replace(/^\s*type\s/, '').trim()),
  );
  const all = [...index.matchAll(/export \* from '\.\/([^']+)'/g)].flatMap(([, file = '']) => {
    const text = files.find(({ path }) => path.endsWith(`/${file}`))?.text ?? '';
    return [...text.matchAll(/^export (?:const|function|class|interface|type) (\w+)/gm)].map(
      ([, name = '']) => name,
    );
  });
  return [...new Set([...named, ...all])].filter((name) => name !== '').sort();
}

/** The members of an interface. */
function membersOf(name: string): string[] {
  const declaration = new RegExp(`^(?:export )?interface ${name}\\b[^{]*\\{\\n(.*?)^\\}`, 'ms');
  const body = files.flatMap(({ text }) => declaration.exec(text)?.[1] ?? [])[0];
  if (body === undefined) throw new Error(`src/sdk has no interface ${name}`);
  return [...body.matchAll(/^ {2}(?:readonly )?(\w+\$?)\??[(:]/gm)].map(([, member = '']) => member);
}

/** Whether the page has it as code: `name`, `name(…)`, `ctx.name` or a member of a list in braces. */
const isOnPage = (name: string) =>
  [...page.matchAll(/`([^`\n]+)`/g)].some(([, code = '']) =>
    new RegExp(`(?<![\\w$])${name.replace('$', '\\$')}(?![\\w$])`).test(code),
  );

describe('docs/plugins.md', () => {
  it('names everything that `millrace/plugin` exports', () => {
    const names = exportedNames();
    expect(names).toContain('EventBatch');
    expect(names.filter((name) => !isOnPage(name))).toEqual([]);
  });

  it.each([
    ...[
      'PluginBase',
      'CollectPlugin',
      'ProcessPlugin',
      'ForwardPlugin',
      'LineMapping',
      'ManyLines',
      'LineJoining',
    ],
    ...['PipelineRunContext', 'CollectorState', 'PluginStats', 'RunInfo', 'Host', 'ConfigProblem'],
    ...['LineEnvelope', 'EventOrigin', 'PluginErrorOptions', 'FailedEvent', 'ExactOutputEvents'],
  ])('names the members of %s', (name) => {
    const members = membersOf(name);
    expect(members).not.toEqual([]);
    expect(members.filter((member) => !isOnPage(member))).toEqual([]);
  });

  it('starts with the whole contract, which has at most 20 members', () => {
    const contract = page.slice(page.indexOf('## The contract'), page.indexOf('## The fast path'));
    const interfaces = ['PluginBase', 'CollectPlugin', 'ProcessPlugin', 'ForwardPlugin'];
    const members = new Set(interfaces.flatMap(membersOf));
    expect(members.size).toBeLessThanOrEqual(20);
    const traits = ['CollectTraits', 'ProcessTraits', 'ForwardTraits'].flatMap(membersOf);
    expect(
      [...members, ...traits].filter(
        (name) => !contract.includes(`\`${name}`) && !contract.includes(`, \`${name}`),
      ),
    ).toEqual([]);
    expect(contract.split('\n').length).toBeLessThan(60);
  });

  it('builds plugins of less than 60 lines', () => {
    const plugins = blocksOf(page).filter(({ text }) => text.includes('get_config_schema'));
    expect(plugins.length).toBeGreaterThanOrEqual(3);
    for (const { text } of plugins) expect(text.split('\n').length).toBeLessThan(60);
  });
});
