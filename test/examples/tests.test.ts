import { readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { ROOT } from '../support/build.ts';
import { folderWith, runCommand } from '../support/cli.ts';

const DATA = 'examples/data/access.log';
const firstLines = readFileSync(join(ROOT, DATA), 'utf8')
  .split(/(?<=\n)/)
  .slice(0, 300)
  .join('');

const examples = readdirSync(join(ROOT, 'examples'))
  .filter((name) => /\.ya?ml$/.test(name))
  .map((name) => `examples/${name}`);

describe('the tests of the examples', () => {
  it('are there in all of them', () => {
    expect(examples).toEqual(
      expect.arrayContaining(
        ['quickstart', 'host-metrics', 'redaction', 'fan-out', 'restart'].map(
          (name) => `examples/${name}.yaml`,
        ),
      ),
    );
  });

  it('reach everything, and notice every small change of the configuration', async () => {
    const args = ['test', ...examples, '--mutate', '--coverage', '--reporter', 'json'];
    const { code, stdout } = await runCommand(args);
    const { mutants, coverage, mutants_untried } = JSON.parse(stdout) as {
      mutants: { path: string; what: string; noticed_by: string | null }[];
      coverage: { path: string; gap: string; reached: boolean }[];
      mutants_untried: number;
    };
    expect(mutants.filter(({ noticed_by }) => noticed_by === null)).toEqual([]);
    expect(coverage.filter(({ reached }) => !reached)).toEqual([]);
    expect({ code, mutants_untried }).toEqual({ code: 0, mutants_untried: 0 });
    // So that a change of the code that finds fewer is noticed.
    expect(mutants.length).toBeGreaterThan(150);
    expect(coverage.length).toBeGreaterThan(60);
  });
});

describe('the tests of the examples in folders', () => {
  // Of these, no test can notice every small change: virtual time has no server that stores a document once.
  it.each(['kafka/archive.yaml', 'opensearch/access-log.yaml', 's3/archive.yaml'])(
    'pass: %s',
    async (name) => {
      expect(await runCommand(['test', `examples/${name}`])).toMatchObject({ code: 0 });
    },
  );
});

describe('an example that is tested', () => {
  it.each(['redaction', 'fan-out', 'restart'])('runs for real: %s', async (name) => {
    // A folder that looks like the repository, with the first lines of the data. The quick start reads all of it.
    const cwd = folderWith({ [DATA]: firstLines });
    for (const file of readdirSync(join(ROOT, 'examples')).filter((file) => file !== 'data')) {
      symlinkSync(join(ROOT, 'examples', file), join(cwd, 'examples', file));
    }
    const { code, stderr } = await runCommand(['run', `examples/${name}.yaml`, '--once'], { cwd });
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringMatching(/^ {2}in +300 /m) });
  });
});
