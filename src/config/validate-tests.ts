import { nameListing } from '../sdk/checks/describe.ts';
import { isMapping, type Path } from '../sdk/checks/problem.ts';
import { nearest } from '../sdk/nearest.ts';
import type { ConfigProblem } from '../sdk/plugin.ts';
import { truncate } from '../sdk/printable.ts';
import type { MergedConfig } from './merged-config.ts';
import { RUN_EXPECTATIONS } from './tests/expectations.ts';
import { type TestDefinition, testDefinition } from './tests/test-definition.ts';
import { takeModel, validateModel } from './validate.ts';
import { namesIn } from './validate-pipelines.ts';

/** The definitions of the section `tests`, by name. Problems go to the log of the configuration. */
export function validateTests(config: MergedConfig): ReadonlyMap<string, TestDefinition> {
  const definitions = new Map<string, TestDefinition>();
  for (const [name, value] of Object.entries(config.sections.get('tests') ?? {})) {
    const path = ['tests', name];
    const model = takeModel(value, path, config);
    const definition = validateModel(testDefinition(), model, path, config);
    if (definition !== undefined) definitions.set(name, definition as TestDefinition);
    const pipelines = config.sections.get('pipelines');
    if (model === undefined || pipelines === undefined || !config.isComplete) continue;
    for (const problem of nameProblems(model, pipelines)) {
      config.add({ ...problem, path: [...path, ...problem.path] });
    }
  }
  return definitions;
}

/** What tests may speak of: the entries of one pipeline, as it is written. */
interface TestedPipeline {
  readonly name: string;
  readonly collectors: readonly string[];
  readonly processors: readonly string[];
  readonly forwarders: readonly string[];
}

type Problem = ConfigProblem & { readonly at?: 'key' };

/** Names in a test that its pipeline does not have. What has the wrong type is left to the schema. */
function nameProblems(
  test: Readonly<Record<string, unknown>>,
  pipelines: Readonly<Record<string, unknown>>,
): Problem[] {
  const found = findPipeline(test.pipeline, pipelines);
  if (found === undefined || 'message' in found) return found === undefined ? [] : [found];
  const { collectors, processors, forwarders } = found;
  const entries = [...forwarders, ...processors, ...collectors];
  const expect = isMapping(test.expect) ? test.expect : {};
  const rows = Object.fromEntries(
    Object.entries(expect).filter(([name, value]) => {
      // In a test with virtual files, this mapping is about files.
      if (name === 'files' && test.files !== undefined) return false;
      return isMapping(value) || !isRunExpectation(name);
    }),
  );
  const collect = isMapping(test.collect) ? test.collect : {};
  const sources = Object.entries(collect).flatMap(([name, input]): Problem[] => {
    const from: unknown = isMapping(input) ? input.from : undefined;
    if (typeof from !== 'string' || forwarders.includes(from)) return [];
    const names = { noun: 'forwarder', known: forwarders, found };
    return [{ path: ['collect', name, 'from'], ...unknown(from, names) }];
  });
  const drops = Array.isArray(expect.dropped) ? expect.dropped : [];
  const any = isMapping(test.any) ? test.any : {};
  return [
    ...sources,
    ...unknownKeys(test.collect, ['collect'], { noun: 'collector', known: collectors, found }),
    ...unknownKeys(test.forward, ['forward'], { noun: 'forwarder', known: forwarders, found }),
    ...unknownKeys(any.collect, ['any', 'collect'], { noun: 'collector', known: collectors, found }),
    ...unknownKeys(any.forward, ['any', 'forward'], { noun: 'forwarder', known: forwarders, found }),
    ...unknownKeys(rows, ['expect'], { noun: 'entry', known: entries, others: RUN_EXPECTATIONS, found }),
    ...drops.flatMap((drop, index) => {
      const by: unknown = isMapping(drop) ? drop.by : undefined;
      if (typeof by !== 'string' || entries.includes(by)) return [];
      return [
        {
          path: ['expect', 'dropped', index, 'by'],
          ...unknown(by, { noun: 'entry', known: entries, found }),
        },
      ];
    }),
  ];
}

function isRunExpectation(name: string): boolean {
  return RUN_EXPECTATIONS.some((known) => known === name);
}

/** The tested pipeline, or several as one. */
function findPipeline(
  wanted: unknown,
  pipelines: Readonly<Record<string, unknown>>,
): TestedPipeline | Problem | undefined {
  const names = Object.keys(pipelines);
  const path: Path = ['pipeline'];
  if (wanted === undefined && names.length > 1) {
    return { path, message: `missing; expected the name of the pipeline to test: ${nameListing(names)}` };
  }
  const tested: TestedPipeline[] = [];
  for (const [index, name] of [wanted ?? names[0]].flat().entries()) {
    if (typeof name !== 'string') return undefined;
    const pipeline = Object.hasOwn(pipelines, name) ? pipelines[name] : undefined;
    if (pipeline === undefined) {
      const suggestion = nearest(name, names);
      const here = Array.isArray(wanted) ? [...path, index] : path;
      const hint = suggestion === undefined ? `; there are ${nameListing(names)}` : '';
      return { path: here, message: `unknown pipeline \`${truncate(name)}\`${hint}`, suggestion };
    }
    if (!isMapping(pipeline)) return undefined;
    const deadLetter = isMapping(pipeline.delivery) ? pipeline.delivery.dead_letter : undefined;
    tested.push({
      name,
      collectors: listed(pipeline.collect),
      processors: listed(pipeline.process),
      forwarders: [...listed(pipeline.forward), ...listed(deadLetter)],
    });
  }
  return {
    name: tested.map(({ name }) => name).join(' → '),
    collectors: tested.flatMap(({ collectors }) => collectors),
    processors: tested.flatMap(({ processors }) => processors),
    forwarders: tested.flatMap(({ forwarders }) => forwarders),
  };
}

const listed = (list: unknown) => namesIn(list).map(({ name }) => name);

interface Names {
  readonly noun: string;
  readonly known: readonly string[];
  /** Words that stand beside the names, for suggestions. */
  readonly others?: readonly string[];
  readonly found: TestedPipeline;
}

function unknownKeys(value: unknown, path: Path, names: Names): Problem[] {
  if (!isMapping(value)) return [];
  return Object.keys(value)
    .filter((key) => !names.known.includes(key))
    .map((key) => ({ path: [...path, key], at: 'key', ...unknown(key, names) }));
}

function unknown(name: string, { noun, known, others = [], found }: Names): Omit<ConfigProblem, 'path'> {
  const suggestion = nearest(name, [...known, ...others]);
  const hint = suggestion === undefined ? `; it has ${nameListing(known)}` : '';
  return {
    message: `the pipeline \`${found.name}\` has no ${noun} \`${truncate(name)}\`${hint}`,
    suggestion,
  };
}
