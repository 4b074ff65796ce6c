import { dirname } from 'node:path';
import { counted } from '../../../operators/internal.ts';
import { loadConditionCompiler } from '../../config/routes.ts';
import type { CollectorInput, TestDefinition } from '../../config/tests/test-definition.ts';
import { isMapping, type Path } from '../../sdk/checks/problem.ts';
import type { RouteCondition } from '../../sdk/config.ts';
import type { ConfigProblem } from '../../sdk/plugin.ts';
import { type GeneratorOptions, type TestGenerator, testGenerator } from './generate-tests.ts';
import { readEvents } from './read-events.ts';
import { lettersIn, MOST_LISTED_VALUES } from './row-marbles.ts';

/** A test with what its definition only refers to. */
interface ResolvedTest {
  /** Without files. */
  readonly definition: TestDefinition;
  /** The compiled conditions, by their source. */
  readonly conditions: ReadonlyMap<string, RouteCondition>;
  /** Of a test with `any`. */
  readonly generator?: TestGenerator;
}

/**
 * Reads the files that a test names, and compiles its conditions.
 *
 * @param file the file of the test, to which the others are relative
 * @param report gets what is wrong, at paths inside the test
 */
export async function resolveTest(
  definition: TestDefinition,
  file: string,
  report: (problem: ConfigProblem) => void,
  options: GeneratorOptions = {},
): Promise<ResolvedTest> {
  const collect = await Promise.all(
    Object.entries(definition.collect ?? {}).map(async ([name, input]) => {
      const path = ['collect', name];
      return [
        name,
        await withoutFile(input, dirname(file), (problem) =>
          report({ ...problem, path: [...path, ...problem.path] }),
        ),
      ];
    }),
  );
  const resolved = { ...definition, collect: Object.fromEntries(collect) as TestDefinition['collect'] };
  const { any } = resolved;
  const generator =
    any === undefined ? undefined : await testGenerator({ ...resolved, any }, dirname(file), report, options);
  return {
    definition: resolved,
    conditions: await conditionsIn(definition, report),
    ...(generator === undefined ? {} : { generator }),
  };
}

async function withoutFile(
  input: CollectorInput,
  folder: string,
  report: (problem: ConfigProblem) => void,
): Promise<CollectorInput> {
  if (typeof input !== 'object' || !('values' in input) || !isFile(input.values)) return input;
  const { file } = input.values;
  const path = ['values'];
  const values = await readEvents(folder, file, path, report);
  if (values === undefined) return [];
  if (!('marbles' in input)) {
    if (values.length <= MOST_LISTED_VALUES) return values as CollectorInput;
    report({
      path,
      message: `${file} has ${counted(values.length, 'event')}; a test has at most ${MOST_LISTED_VALUES}`,
    });
    return [];
  }
  const letters = new Set([input.marbles].flat().flatMap(lettersIn));
  if (letters.size > values.length) {
    const message = `${file} has ${counted(values.length, 'event')}, and the marbles have ${counted(letters.size, 'letter')}`;
    report({ path, message });
  }
  const byLetter = [...letters].map((letter, index) => [letter, values[index] ?? '']);
  return { marbles: input.marbles, values: Object.fromEntries(byLetter) as Record<string, string> };
}

function isFile(values: unknown): values is { readonly file: string } {
  return isMapping(values) && typeof values.file === 'string';
}

/** Where conditions stand in a test. */
function conditionPlaces({ any, expect, forward = {} }: TestDefinition): { path: Path; source: string }[] {
  const places: { path: Path; source: string }[] = [];
  const add = (path: Path, source: unknown) => {
    if (typeof source === 'string') places.push({ path, source });
  };
  const addAll = (path: Path, list: unknown, sourceOf: (item: unknown) => unknown) => {
    if (!Array.isArray(list)) return;
    for (const [index, item] of list.entries())
      add(list.length === 1 ? path : [...path, index], sourceOf(item));
  };
  const whenOf = (item: unknown) => (isMapping(item) ? item.when : undefined);
  const rows: [Path, unknown][] = [
    [['expect'], expect],
    [['any'], any],
  ];
  for (const [name, row] of Object.entries(expect)) rows.push([['expect', name], row]);
  for (const [path, row] of Object.entries(expect.files ?? {})) rows.push([['expect', 'files', path], row]);
  for (const [path, row] of rows) {
    if (!isMapping(row)) continue;
    addAll([...path, 'always'], row.always, (item) => item);
    addAll([...path, 'contains_no'], row.contains_no, whenOf);
  }
  for (const [name, given] of Object.entries(forward)) {
    if (given !== 'keep') add(['forward', name, 'fails', 'when'], whenOf(given.fails));
  }
  return places;
}

async function conditionsIn(
  definition: TestDefinition,
  report: (problem: ConfigProblem) => void,
): Promise<ReadonlyMap<string, RouteCondition>> {
  const places = conditionPlaces(definition);
  const conditions = new Map<string, RouteCondition>();
  if (places.length === 0) return conditions;
  const compile = await loadConditionCompiler();
  for (const { path, source } of places) {
    const compiled = compile(source);
    if (!('problem' in compiled)) conditions.set(source, compiled);
    else report({ path, message: `found \`${source}\`; expected a valid condition (${compiled.problem})` });
  }
  return conditions;
}
