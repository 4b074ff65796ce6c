import type { TestDefinition } from '../../config/tests/test-definition.ts';
import { flowLines, flowText } from '../yaml/yaml-text.ts';
import type { RecordedInput, RecordedTest } from './make-test.ts';
import type { ShownValue } from './mask-events.ts';
import type { RecordingFacts } from './recording-facts.ts';

/** The file below its comments. */
export function testLines(
  test: RecordedTest,
  expect: TestDefinition['expect'],
  { files, startedAt }: RecordingFacts,
): string[] {
  const { pipeline, collect, forward = {}, once, until, drain_timeout } = test;
  const [file] = files;
  const state = until === undefined ? 'completed' : 'stopped';
  const wanted = Object.keys(expect).length === 0 ? { state } : expect;
  return [
    `config: ${files.length === 1 ? flowText(file) : flowText(files)}`,
    'tests:',
    `  ${flowText(`recorded at ${startedAt}`)}:`,
    `    pipeline: ${flowText(pipeline)}`,
    '    collect:',
    ...Object.entries(collect).flatMap(([name, input]) => [
      `      ${flowText(name)}:`,
      ...collectLines(input),
    ]),
    ...(Object.keys(forward).length === 0 ? [] : ['    forward:']),
    ...Object.entries(forward).flatMap(([name, given]) => [
      `      ${flowText(name)}:`,
      ...flowLines('calls', given.calls, 8),
    ]),
    ...(once === undefined ? [] : [`    once: ${once}`]),
    ...(until === undefined ? [] : [`    until: ${until}`]),
    ...(drain_timeout === undefined ? [] : [`    drain_timeout: ${drain_timeout}`]),
    '    expect:',
    ...Object.entries(wanted).flatMap(([name, row]) => expectLines(name, row)),
  ];
}

function collectLines(input: RecordedInput | { readonly runs: readonly RecordedInput[] }): string[] {
  if (!('runs' in input)) return timedLines(input).map((line) => `        ${line}`);
  return [
    '        runs:',
    ...input.runs.flatMap((run) =>
      timedLines(run).map((line, index) => `          ${index === 0 ? '- ' : '  '}${line}`),
    ),
  ];
}

function timedLines({ events, completes_at, fails_at }: RecordedInput): string[] {
  return [
    ...(events.length === 0 ? ['events: []'] : ['events:']),
    ...events.map(({ at, value }) => `  - { at: ${at}, value: ${flowText(shortValue(value))} }`),
    ...(completes_at === undefined ? [] : [`completes_at: ${completes_at}`]),
    ...(fails_at === undefined ? [] : [`fails_at: ${fails_at}`]),
  ];
}

/** The short form in which an author writes a value: a line as a string, and data without the event around it. */
function shortValue(value: ShownValue): unknown {
  const { data, ...others } = value;
  if (Object.keys(others).length > 0 || (typeof data.data === 'object' && data.data !== null)) return value;
  return typeof data.line === 'string' && Object.keys(data).length === 1 ? data.line : data;
}

/** Assertions about the run on one line, and events each on a line. */
function expectLines(name: string, row: unknown): string[] {
  const key = flowText(name);
  const list = Array.isArray(row) ? row : (row as { exactly?: unknown } | null)?.exactly;
  if (!Array.isArray(list) || list.length === 0 || name === 'states')
    return [`      ${key}: ${flowText(row)}`];
  const isBare = Array.isArray(row);
  return [
    `      ${key}:`,
    ...(isBare ? [] : ['        exactly:']),
    ...list.map((item) => `${isBare ? '        ' : '          '}- ${flowText(item)}`),
  ];
}
