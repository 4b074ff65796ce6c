import { resolve } from 'node:path';
import { isMapping } from '../../checks/problem.ts';
import { type UsedVariable, type WrittenSections, withhold } from '../../checks/shown-values.ts';
import { ConfigError, ProblemLog } from '../../config/config-error.ts';
import { type Environment, variablesIn } from '../../config/environment.ts';
import { type LoadedConfig, loadConfig } from '../../config/load-config.ts';
import { isTestFile, readAsWritten, readConfigFile, testFilesBeside } from '../../config/read-files.ts';
import { groupBy } from '../draw/cells.ts';
import { checkTest } from './check-test.ts';
import type { LoadedTest, TestSuite } from './test-suite.ts';

/**
 * The tests of files: configurations with a section `tests`, and files of tests (`web.test.yaml`). The files of
 * tests beside a configuration come with it. A file without tests gives no suite, and is not looked at further.
 *
 * @throws ConfigError with the problems of all files, tests and configurations, at once
 */
export async function loadSuites(
  files: readonly string[],
  env: Environment = process.env,
): Promise<TestSuite[]> {
  const suites: TestSuite[] = [];
  const problems: ConfigError['problems'][number][] = [];
  for (const file of withThoseBeside(files)) {
    try {
      const suite = await loadSuite(file, env);
      if (suite !== undefined) suites.push(suite);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      problems.push(...error.problems.map(withHint));
    }
  }
  if (problems.length > 0) throw new ConfigError(distinct(problems));
  return suites;
}

function withThoseBeside(files: readonly string[]): string[] {
  const all = files.flatMap((file) => (isTestFile(file) ? [file] : [file, ...testFilesBeside(file)]));
  const first = new Map(all.map((file) => [resolve(file), file] as const).reverse());
  return all.filter((file, index) => first.get(resolve(file)) === file && all.indexOf(file) === index);
}

/** Tests that bring the same environment variables share one loaded configuration. */
async function loadSuite(file: string, env: Environment): Promise<TestSuite | undefined> {
  const variables = await testVariables(file, env);
  if (variables === undefined) return undefined;
  const groups = groupBy(variables, ([, own]) => JSON.stringify(Object.entries(own).sort()));
  const tests = new Map<string, LoadedTest>();
  const all = new Set<string>([file]);
  for (const group of groups.values()) {
    const own = group[0]?.[1] ?? {};
    const loaded = await loadConfig([file], { env: { ...env, ...own }, checkTest });
    for (const used of loaded.files) all.add(used);
    const written = await readAsWritten(loaded.files);
    for (const [name] of group) {
      const test = loadedTest(name, loaded, written, inherited(written, env, own));
      if (test !== undefined) tests.set(name, test);
    }
  }
  return {
    file,
    files: [...all],
    tests: variables.flatMap(([name]) => tests.get(name) ?? []),
  };
}

function loadedTest(
  name: string,
  { config, host, tests }: LoadedConfig,
  written: WrittenSections,
  variables: readonly UsedVariable[],
): LoadedTest | undefined {
  const definition = tests.definitions.get(name);
  const place: LoadedTest['place'] = (path) => tests.place([name, ...path]);
  const withoutVariables = (text: string) => withhold(text, variables);
  return definition && { name, definition, config, written, host, place, withoutVariables };
}

/** The variables that a configuration refers to, other than those that the test itself gives. */
function inherited(written: WrittenSections, env: Environment, own: Environment): readonly UsedVariable[] {
  const names = Array.from(JSON.stringify([...written]).matchAll(/\$\{(\w+)/g), ([, name]) => name as string);
  return [...new Set(names)].flatMap((name) => {
    const value = Object.hasOwn(own, name) ? undefined : env[name];
    return value === undefined ? [] : [{ name, value }];
  });
}

/** Each test with the environment variables that it brings; undefined if the file has no tests. */
async function testVariables(file: string, env: Environment): Promise<[string, Environment][] | undefined> {
  const log = new ProblemLog();
  const source = await readConfigFile(file, env, log);
  if (source === undefined) log.throwIfAny([file]);
  const { tests, env: shared } = source?.value ?? {};
  if (tests === undefined && !isTestFile(file)) return undefined;
  // What is wrong with them is told when they are loaded; that needs one test at least.
  const entries = isMapping(tests) ? Object.entries(tests) : [];
  if (entries.length === 0) return [['', variablesIn(shared)]];
  return entries.map(([name, test]) => {
    return [name, { ...variablesIn(shared), ...variablesIn(isMapping(test) ? test.env : undefined) }];
  });
}

type Problem = ConfigError['problems'][number];

/** Tests need not have the variables of the machine. */
function withHint(problem: Problem): Problem {
  const [, name] = /^the environment variable (\w+) is not set; /.exec(problem.message) ?? [];
  if (name === undefined) return problem;
  const message = problem.message.replace(
    '; set it,',
    `; give it to the tests with \`env: { ${name}: … }\`, set it,`,
  );
  return { ...problem, message };
}

/** Several tests, and a file beside, meet the same problems of a configuration. */
function distinct(problems: readonly Problem[]): Problem[] {
  const key = ({ file, line, column, message }: Problem) =>
    JSON.stringify([resolve(file), line, column, message]);
  return [...new Map(problems.map((problem) => [key(problem), problem])).values()];
}
