import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { load } from 'js-yaml';
import { pluginFields } from '../src/cli/plugins.ts';
import { testPipeline } from '../src/testing/index.ts';
import { ROOT, upToDateBuild } from './support/build.ts';
import { allBuiltinPlugins } from './support/built-in-plugins.ts';
import { tempFolder } from './support/temp-folder.ts';

const plugins = await allBuiltinPlugins();
const folder = tempFolder();

/** The content of all files below a folder, by their path. */
function filesIn(root: string): Record<string, string> {
  const paths = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.md'),
  );
  return Object.fromEntries(paths.toSorted().map((path) => [path, readFileSync(join(root, path), 'utf8')]));
}

describe('docs/plugins/', () => {
  beforeAll(upToDateBuild);

  it('is what the plugins say today; `npm run plugins` rewrites it', () => {
    const written = folder('pages');
    execFileSync(process.execPath, [join(ROOT, 'docs/write-plugins.mjs'), written]);
    expect(filesIn(join(ROOT, 'docs/plugins'))).toEqual(filesIn(written));
  });
});

describe('a built-in plugin', () => {
  it.each(plugins)('has words for each of its fields: $kind $name', ({ plugin }) => {
    const fields = pluginFields(plugin.get_config_schema());
    expect(fields.filter(({ description }) => description === '').map(({ name }) => name)).toEqual([]);
  });

  it.each(plugins.filter(({ kind }) => kind === 'process'))(
    'makes of events what its example says: $name',
    async ({ plugin }) => {
      const { example = '', exampleEvents = [] } = plugin as typeof plugin & {
        exampleEvents?: readonly { given: object; gives: readonly object[] }[];
      };
      const processors = load(example) as Record<string, object>;
      const [entry] = Object.keys(processors);
      const values = Object.fromEntries(exampleEvents.map(({ given }, index) => [index, given]));
      const run = await testPipeline(
        {
          collectors: { given: { plugin: 'test' } },
          processors,
          forwarders: { out: { plugin: 'noop' } },
          pipelines: { main: { collect: 'given', process: entry, forward: 'out' } },
          host_config: {},
        },
        { collect: { given: { marbles: `${Object.keys(values).join('')}|`, values } } },
      );
      expect(exampleEvents.length).toBeGreaterThan(0);
      expect(run.events('out').map(({ data }) => data)).toEqual(exampleEvents.flatMap(({ gives }) => gives));
    },
  );
});
