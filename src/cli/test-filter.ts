import { nameListing } from '../checks/describe.ts';
import { nearest } from '../sdk/nearest.ts';
import { printable } from '../sdk/printable.ts';
import { expressionIn } from '../sdk/tests-config.ts';
import type { LoadedTest, TestSuite } from '../testing/yaml/test-suite.ts';
import { UsageError } from './exit-code.ts';

const SHOWN_NAMES = 10;

/** Tests that are to be run, in their order. Each is one of the suite. */
export interface SelectedTest {
  readonly suite: TestSuite;
  readonly test: LoadedTest;
}

/**
 * The tests whose name contains the filter, or matches it if it is written `/…/`; all without a filter.
 *
 * @throws UsageError if there are none: a command that tests nothing must not seem to have passed
 */
export function selectTests(
  suites: readonly TestSuite[],
  filter: string | undefined,
  files: readonly string[],
): SelectedTest[] {
  const all = suites.flatMap((suite) => suite.tests.map((test) => ({ suite, test })));
  if (all.length === 0) {
    throw new UsageError(
      `no tests found: ${printable(files.join(', '))} ${files.length === 1 ? 'has' : 'have'} no section \`tests\`, ` +
        'and no *.test.yaml beside it has any. docs/testing.md shows how to write one.',
    );
  }
  if (filter === undefined) return all;
  const isMeant = matcherOf(filter);
  const selected = all.filter(({ test }) => isMeant(test.name));
  if (selected.length > 0) return selected;
  const names = [...new Set(all.map(({ test }) => test.name))];
  const near = nearest(filter, names);
  const more = names.length > SHOWN_NAMES ? `, and ${names.length - SHOWN_NAMES} more` : '';
  const hint =
    near === undefined
      ? `There are ${nameListing(names.slice(0, SHOWN_NAMES))}${more}.`
      : `Did you mean \`${printable(near)}\`?`;
  throw new UsageError(`--filter ${printable(filter)}: no test has such a name. ${hint}`);
}

function matcherOf(filter: string): (name: string) => boolean {
  try {
    const expression = expressionIn(filter);
    return expression === undefined ? (name) => name.includes(filter) : (name) => expression.test(name);
  } catch (error) {
    throw new UsageError(`--filter ${filter}: no regular expression: ${(error as Error).message}`);
  }
}
