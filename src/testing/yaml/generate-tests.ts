import type * as FastCheck from 'fast-check';
import {
  type AnyDefinition,
  type GeneratedEvents,
  type Generator,
  gapsOf,
  rangeOf,
  timesOf,
} from '../../config/tests/generators.ts';
import type { TestDefinition } from '../../config/tests/test-definition.ts';
import { isMapping, type Path } from '../../sdk/checks/problem.ts';
import type { ConfigProblem } from '../../sdk/plugin.ts';
import { durationText, toMilliseconds } from '../duration.ts';
import { type GeneratedRun, writeCollected } from './generated-input.ts';
import { readEvents } from './read-events.ts';

/** Makes tests of a definition with `any`, and finds the smallest one that fails. */
export interface TestGenerator {
  readonly runs: number;
  readonly seed: number;
  /** Tries tests until one does not hold, and then smaller ones. */
  check(holds: (definition: TestDefinition) => Promise<boolean>): Promise<GeneratorResult>;
}

interface GeneratorResult {
  /** How many tests were tried, without those that were tried to find a smaller one. */
  readonly runs: number;
  /** The smallest test that was found not to hold, and in how many steps. */
  readonly failed?: { readonly definition: TestDefinition; readonly shrinks: number };
}

/** What is given in place of what a test says. */
export interface GeneratorOptions {
  readonly seed?: number | undefined;
  readonly runs?: number | undefined;
}

type Fc = typeof FastCheck;
type Arbitrary<T> = FastCheck.Arbitrary<T>;
type Report = (problem: ConfigProblem) => void;

const DEFAULT_RUNS = 100;
const DEFAULT_EVENTS = '0..20';
const DEFAULT_LENGTH = '0..10';
/** A failure is not made smaller for longer than this. It is no time, so that results are the same on every machine. */
const MOST_SHRINK_RUNS = 2000;

/**
 * The generator of a test with `any`. Loads fast-check, which only these tests need, and the files that generators name.
 *
 * @param folder of the file of the test, to which the others are relative
 * @param report gets what is wrong, at paths inside the test
 */
export async function testGenerator(
  definition: TestDefinition & { readonly any: AnyDefinition },
  folder: string,
  report: Report,
  options: GeneratorOptions = {},
): Promise<TestGenerator | undefined> {
  const fc = await loadFastCheck();
  if (fc === undefined) {
    const message =
      '`any` needs the package fast-check, which is not installed: npm install --save-dev fast-check';
    report({ path: ['any'], message });
    return undefined;
  }
  const { any } = definition;
  const files = await readFiles(any, folder, report);
  const definitions = definitionsOf(fc, definition, files, report);
  const { runs = any.runs ?? DEFAULT_RUNS, seed = any.seed ?? 1 } = options;
  return {
    runs,
    seed,
    check: async (holds) => {
      let tried = 0;
      let failing = 0;
      const property = fc.asyncProperty(definitions, async (candidate) => {
        if (failing > MOST_SHRINK_RUNS) return true;
        const isGood = await holds(candidate);
        if (failing === 0 && isGood) tried++;
        if (failing > 0 || !isGood) failing++;
        return isGood;
      });
      const { counterexample, numShrinks } = await fc.check(property, { numRuns: runs, seed });
      if (counterexample === null) return { runs: tried };
      return { runs: tried + 1, failed: { definition: counterexample[0], shrinks: numShrinks } };
    },
  };
}

async function loadFastCheck(): Promise<Fc | undefined> {
  try {
    return await import('fast-check');
  } catch {
    return undefined;
  }
}

/** The test of one run: an ordinary one. */
function definitionsOf(
  fc: Fc,
  { any, ...definition }: TestDefinition & { readonly any: AnyDefinition },
  files: ReadonlyMap<string, readonly unknown[]>,
  report: Report,
): Arbitrary<TestDefinition> {
  const { always, laws } = any;
  const expect = {
    ...definition.expect,
    ...(always === undefined ? {} : { always }),
    ...(laws === undefined ? {} : { laws }),
  } as TestDefinition['expect'];
  const collected = mapValues(any.collect, (events, name) => {
    const path = ['any', 'collect', name];
    return generatedRuns(fc, events, { fc, files, report, path: [...path, 'values'] });
  });
  const forward = mapValues(any.forward ?? {}, ({ takes, fails, permanent }) => {
    const [shortest, longest] = timesOf(takes ?? '0s').map(toMilliseconds) as [number, number];
    const [fewest, most] = rangeOf(fails ?? '0');
    return fc
      .record({
        takes: fc.integer({ min: shortest, max: longest }),
        fails: fc.integer({ min: fewest, max: most }),
      })
      .map((given) => ({
        ...(given.takes === 0 ? {} : { takes: durationText(given.takes) }),
        ...(given.fails === 0 ? {} : { fails: given.fails }),
        ...(permanent === undefined || given.fails === 0 ? {} : { permanent }),
      }));
  });
  return fc.record({ collected: fc.record(collected), forward: fc.record(forward) }).map((made) => {
    const behaviours = Object.entries({ ...definition.forward, ...made.forward });
    const unusual = behaviours.filter(([, behaviour]) => Object.keys(behaviour).length > 0);
    return {
      ...definition,
      collect: { ...definition.collect, ...writeCollected(made.collected) },
      ...(unusual.length === 0 ? {} : { forward: Object.fromEntries(unusual) }),
      expect,
    };
  });
}

/** What a collector emits in each of its runs. */
function generatedRuns(
  fc: Fc,
  { events = DEFAULT_EVENTS, rate, fails = '0', values }: GeneratedEvents,
  context: Context,
): Arbitrary<readonly GeneratedRun[]> {
  const [minLength, maxLength] = rangeOf(events);
  const [shortest, longest] = rate === undefined ? [0, 0] : gapsOf(rate);
  const value = fc.oneof(
    { withCrossShrink: true },
    ...values.map((generator, index) =>
      arbitraryOf(generator, { ...context, path: [...context.path, index] }),
    ),
  );
  // Hundredths of milliseconds: some rates are above one event per millisecond.
  const gap = fc.integer({ min: Math.round(shortest * 100), max: Math.round(longest * 100) });
  const [fewest, most] = rangeOf(fails);
  return fc
    .record({
      events: fc.array(fc.record({ gap, value }), { minLength, maxLength, size: 'max' }),
      breaks: fc.array(fc.nat(maxLength), { minLength: fewest, maxLength: most }),
    })
    .map(({ events, breaks }) => {
      const places = breaks.map((place) => Math.min(place, events.length)).sort((a, b) => a - b);
      return [...places, events.length].map((end, run): GeneratedRun => {
        let time = 0;
        const part = events.slice(places[run - 1] ?? 0, end).map(({ gap, value }) => {
          time += gap;
          return { at: Math.floor(time / 100), value };
        });
        return { events: part, end: run < places.length ? 'failed' : 'completed' };
      });
    });
}

interface Context {
  readonly fc: Fc;
  readonly files: ReadonlyMap<string, readonly unknown[]>;
  readonly report: Report;
  readonly path: Path;
}

function arbitraryOf(generator: Generator, context: Context): Arbitrary<unknown> {
  const { fc, files, path } = context;
  const inner = (one: Generator, ...steps: Path) =>
    arbitraryOf(one, { ...context, path: [...path, ...steps] });
  if (typeof generator !== 'object') return fc.constant(generator);
  if ('regex' in generator) return matching(generator.regex, context);
  if ('template' in generator) return filled(generator, context, inner);
  if ('choice' in generator) {
    const choices = generator.choice.map((one, index) => inner(one, 'choice', index));
    return fc.oneof({ withCrossShrink: true }, ...choices);
  }
  if ('number' in generator) return numbers(fc, rangeOf(generator.number));
  if ('text' in generator) {
    const [minLength, maxLength] = rangeOf(generator.text);
    return fc.string({ unit: 'binary', minLength, maxLength, size: 'max' });
  }
  if ('list' in generator) {
    const [minLength, maxLength] = rangeOf(generator.length ?? DEFAULT_LENGTH);
    return fc.array(inner(generator.list, 'list'), { minLength, maxLength, size: 'max' });
  }
  if ('fields' in generator) {
    return fc.record(mapValues(generator.fields, (one, name) => inner(one, 'fields', name)));
  }
  return fc.constantFrom(...(files.get(generator.file) ?? ['']));
}

function matching(source: string, { fc, report, path }: Context): Arbitrary<string> {
  try {
    return fc.stringMatching(new RegExp(`^(?:${source})$`));
  } catch (error) {
    const message = `no strings can be made for this expression: ${(error as Error).message}`;
    report({ path: [...path, 'regex'], message });
    return fc.constant('');
  }
}

/** Steps of shrinking in which a decimal number becomes a simple one. */
const DECIMALS = 1000;

function numbers(fc: Fc, [min, max]: readonly [number, number]): Arbitrary<number> {
  if (Number.isInteger(min) && Number.isInteger(max)) return fc.integer({ min, max });
  const scaled = { min: Math.ceil(min * DECIMALS), max: Math.floor(max * DECIMALS) };
  return scaled.min > scaled.max ? fc.constant(min) : fc.integer(scaled).map((value) => value / DECIMALS);
}

const PLACEHOLDER = /\{(\w+)\}/;

function filled(
  { template, with: given }: Extract<Generator, { readonly template: string }>,
  { fc, report, path }: Context,
  inner: (one: Generator, ...steps: Path) => Arbitrary<unknown>,
): Arbitrary<string> {
  // Every other part is a name.
  const parts = template.split(PLACEHOLDER).map((part, index): Arbitrary<unknown> => {
    if (index % 2 === 0) return fc.constant(part);
    const own = Object.hasOwn(given, part) ? given[part] : undefined;
    if (own !== undefined) return inner(own, 'with', part);
    report({ path: [...path, 'with'], message: `the template has {${part}}; say here how it is made` });
    return fc.constant('');
  });
  return fc
    .tuple(...parts)
    .map((texts) =>
      texts.map((text) => (typeof text === 'object' ? JSON.stringify(text) : String(text))).join(''),
    );
}

async function readFiles(
  { collect }: AnyDefinition,
  folder: string,
  report: Report,
): Promise<ReadonlyMap<string, readonly unknown[]>> {
  const files = new Map<string, readonly unknown[]>();
  for (const [name, { values }] of Object.entries(collect)) {
    const path = ['any', 'collect', name, 'values'];
    for (const file of filesIn(values)) {
      const found = await readEvents(folder, file, path, report);
      if (found?.length === 0) report({ path, message: `${file} is empty` });
      else if (found !== undefined) files.set(file, found);
    }
  }
  return files;
}

/** The files that generators name, at any depth. */
function filesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(filesIn);
  if (!isMapping(value)) return [];
  // A mapping of names may have the name `file`; then it holds a generator or a value, which are no harm here.
  const isFile = typeof value.file === 'string' && Object.keys(value).length === 1;
  return isFile ? [value.file as string] : Object.values(value).flatMap(filesIn);
}

function mapValues<T, R>(
  record: Readonly<Record<string, T>>,
  map: (value: T, key: string) => R,
): Record<string, R> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value, key)]));
}
