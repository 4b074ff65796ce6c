import { expect, it } from '@jest/globals';
import { runCommand } from '../support/cli.ts';
import { examples } from './support.ts';

it('the tests of the examples reach everything, and notice every small change of the configuration', async () => {
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
