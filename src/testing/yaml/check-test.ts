import type { RowExpectation } from '../../config/tests/expectations.ts';
import type { CollectorInput, TestDefinition } from '../../config/tests/test-definition.ts';
import type { Path } from '../../sdk/checks/problem.ts';
import { MillraceError } from '../../sdk/errors.ts';
import { nearest } from '../../sdk/nearest.ts';
import type { ConfigProblem } from '../../sdk/plugin.ts';
import { toMilliseconds } from '../duration.ts';
import { parseMarbleRow } from '../marbles.ts';
import { collectedValues, lettersIn, MOST_LISTED_VALUES, MOST_TIMED_EVENTS } from './row-marbles.ts';

type Problem = ConfigProblem & { readonly at?: 'key' };
type TimedEvents = Extract<CollectorInput, { readonly events: unknown }>;
type ForwarderInput = NonNullable<TestDefinition['forward']>[string];

/** What is wrong with the marbles of a test, at paths inside it. Its schema has passed. */
export function checkTest(definition: TestDefinition): Problem[] {
  return [...checkInputs(definition), ...checkAny(definition)];
}

/** What is said in `any` as well as beside it, and what generated events cannot be compared with. */
function checkAny({ any, collect, expect }: TestDefinition): Problem[] {
  if (any === undefined) return [];
  const twice = (path: string[], other: string): Problem => ({
    path,
    at: 'key',
    message: `\`${other}\` has it as well; write it once`,
  });
  const inputs = Object.keys(any.collect).filter((name) => Object.hasOwn(collect, name));
  const assertions = (['always', 'laws'] as const).filter(
    (key) => any[key] !== undefined && Array.isArray(expect[key]),
  );
  const snapshots = Object.entries(expect).filter(([, row]) => isRow(row) && row.snapshot === true);
  return [
    ...inputs.map((name) => twice(['any', 'collect', name], 'collect')),
    ...assertions.map((key) => twice(['any', key], 'expect')),
    ...snapshots.map(([name]) => ({
      path: ['expect', name, 'snapshot'],
      message: 'a test with `any` has no snapshot: its events are others in each run',
    })),
  ];
}

function checkInputs({ collect, expect, forward = {} }: TestDefinition): Problem[] {
  const outages = Object.entries(forward).flatMap(([name, given]) =>
    given === 'keep'
      ? []
      : [...checkOutages(given.fails, ['forward', name, 'fails']), ...checkCalls(given, ['forward', name])],
  );
  const inputs = Object.entries(collect).flatMap(([name, input]): Problem[] => {
    if (input === 'keep') return [];
    const path = ['collect', name];
    if (Array.isArray(input)) return checkList(input, path);
    if ('events' in input) return checkTimedEvents(input, path);
    if ('runs' in input) {
      return input.runs.flatMap((run, index) => checkTimedEvents(run, [...path, 'runs', index]));
    }
    // What is read from a file, or comes from another pipeline, has no marbles of its own.
    if (!('marbles' in input)) return [];
    const { marbles, values } = input as { marbles: string | string[]; values?: object };
    const texts = typeof marbles === 'string' ? [marbles] : marbles;
    const wrong = texts.flatMap((text, index) =>
      readProblems(
        text,
        typeof marbles === 'string' ? [...path, 'marbles'] : [...path, 'marbles', index],
        Object.keys(values ?? {}),
      ),
    );
    const isFromFile = (values as { file?: unknown } | undefined)?.file !== undefined;
    if (wrong.length > 0 || values === undefined || isFromFile) return wrong;
    return checkValues(texts.flatMap(lettersIn), Object.keys(values), path, () => false);
  });
  const rows = Object.entries(expect).flatMap(([name, row]) =>
    isRow(row) && row.marbles !== undefined ? [{ row, path: ['expect', name] }] : [],
  );
  // What letters stand for is known only where all marbles can be read.
  if (inputs.length > 0)
    return [...outages, ...inputs, ...rows.flatMap(({ row, path }) => readRow(row, path))];
  const collected = collectedValues(collect);
  return [...outages, ...rows.flatMap(({ row, path }) => checkRow(row, path, collected))];
}

function checkOutages(fails: unknown, path: Path): Problem[] {
  if (typeof fails !== 'object' || fails === null || 'when' in fails) return [];
  return Object.entries([fails].flat() as { from: string; to: string }[]).flatMap(([index, { from, to }]) => {
    if (toMilliseconds(from) < toMilliseconds(to)) return [];
    const place = Array.isArray(fails) ? [...path, Number(index)] : path;
    return [
      { path: [...place, 'to'], message: `${to} is not after ${from}: an outage ends later than it begins` },
    ];
  });
}

function checkCalls(given: Exclude<ForwarderInput, 'keep'>, path: Path): Problem[] {
  const { calls = [], fails, permanent } = given;
  const wrong = calls.flatMap((call, index): Problem[] => {
    if (typeof call === 'string' || call.fails !== true || call.rejects === undefined) return [];
    const message =
      '`fails: true` fails all events of the call, and `rejects` some of them; leave out one of the two';
    return [{ path: [...path, 'calls', index, 'rejects'], at: 'key', message }];
  });
  if (calls.length === 0 || (fails === undefined && permanent === undefined)) return wrong;
  const key = fails === undefined ? 'permanent' : 'fails';
  const message = `\`calls\` says which calls fail; leave out \`${key}\``;
  return [...wrong, { path: [...path, key], at: 'key', message }];
}

/** Times in the order in which they pass, and one end. */
function checkTimedEvents({ events, completes_at, fails_at }: TimedEvents, path: Path): Problem[] {
  const problems: Problem[] = [];
  if (events.length > MOST_TIMED_EVENTS) {
    const message = `${events.length} events; a collector of a test emits at most ${MOST_TIMED_EVENTS} in a run`;
    problems.push({ path: [...path, 'events'], message });
  }
  const late = events.findIndex(
    ({ at }, index) => index > 0 && toMilliseconds(at) < toMilliseconds(events[index - 1]?.at ?? 0),
  );
  if (late !== -1) {
    const message = `${events[late]?.at} is before ${events[late - 1]?.at}; list events in the order of their times`;
    problems.push({ path: [...path, 'events', late, 'at'], message });
  }
  if (completes_at !== undefined && fails_at !== undefined) {
    const message = 'a collector either completes or fails; leave out `completes_at` or `fails_at`';
    problems.push({ path: [...path, 'fails_at'], at: 'key', message });
  }
  const end = completes_at ?? fails_at;
  const last = events.at(-1)?.at;
  if (end !== undefined && last !== undefined && toMilliseconds(end) < toMilliseconds(last)) {
    const key = completes_at === undefined ? 'fails_at' : 'completes_at';
    problems.push({ path: [...path, key], message: `${end} is before the last event, at ${last}` });
  }
  return problems;
}

function isRow(value: unknown): value is RowExpectation {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function checkList(values: readonly unknown[], path: Path): Problem[] {
  if (values.length <= MOST_LISTED_VALUES) return [];
  const message = `${values.length} values; a list has at most ${MOST_LISTED_VALUES}: spread them over several runs or collectors`;
  return [{ path, message }];
}

/** What keeps marbles from being read, or makes them mean something else than they seem to. */
function readProblems(text: string, path: Path, given: readonly string[]): Problem[] {
  const time = strayTime(text, given);
  if (time !== undefined) {
    const message = `the time \`${time}\` in the marbles '${text}' is read as letters: set it off by spaces, and let something follow it, as in 'a ${time} b' or '${time} |'`;
    return [{ path, message }];
  }
  try {
    parseMarbleRow(text);
    return [];
  } catch (error) {
    if (error instanceof MillraceError) return [{ path, message: error.message }];
    return [{ path, message: `the marbles '${text}' cannot be read: ${(error as Error).message}` }];
  }
}

/** A time that RxJS would take for letters: one that touches something else, or ends the marbles. */
function strayTime(text: string, given: readonly string[]): string | undefined {
  const tokens = text.trim().split(/\s+/);
  for (const [index, token] of tokens.entries()) {
    const [time = ''] = /(?:\d+(?:\.\d+)?(?:ms|[smhd]))+/.exec(token) ?? [];
    const isMeant = time === token && index < tokens.length - 1;
    if (time !== '' && !isMeant && [...time].some((letter) => !given.includes(letter))) return time;
  }
  return undefined;
}

function readRow({ marbles = '', values = {} }: RowExpectation, path: Path): Problem[] {
  return readProblems(marbles, [...path, 'marbles'], Object.keys(values));
}

function checkRow(
  row: RowExpectation,
  path: Path,
  collected: ReadonlyMap<string, readonly unknown[]>,
): Problem[] {
  const wrong = readRow(row, path);
  if (wrong.length > 0) return wrong;
  const { marbles = '', values = {} } = row;
  const marblesPath = [...path, 'marbles'];
  if (parseMarbleRow(marbles).end !== undefined) {
    const message = `the marbles '${marbles}' have an end, but what an entry got has none; leave out | and #, and assert \`state\` and \`ended_at\``;
    return [{ path: marblesPath, message }];
  }
  const letters = lettersIn(marbles);
  const ambiguous = letters.filter(
    (letter) => !Object.hasOwn(values, letter) && (collected.get(letter)?.length ?? 0) > 1,
  );
  return [
    ...checkValues(letters, Object.keys(values), path, (letter) => collected.has(letter)),
    ...ambiguous.map((letter) => ({
      path: marblesPath,
      message: `several collectors emit \`${letter}\`; say in \`values\` what it stands for here`,
    })),
  ];
}

/** Letters without a value, and values without a letter. */
function checkValues(
  letters: readonly string[],
  given: readonly string[],
  path: Path,
  isKnown: (letter: string) => boolean,
): Problem[] {
  const spare = given.filter((letter) => !letters.includes(letter));
  const missing = [...new Set(letters)].filter((letter) => !given.includes(letter) && !isKnown(letter));
  return [
    ...missing.map((letter) => ({
      path: [...path, 'marbles'],
      message: `the letter \`${letter}\` has no value; add it to \`values\``,
    })),
    ...spare.map((letter): Problem => {
      const message = `the marbles have no letter \`${letter}\``;
      const suggestion = nearest(letter, missing);
      return { path: [...path, 'values', letter], at: 'key', message, suggestion };
    }),
  ];
}
