import { resolve } from 'node:path';
import { type RowExpectation, RUN_EXPECTATIONS } from '../../config/tests/expectations.ts';
import type { TestDefinition } from '../../config/tests/test-definition.ts';
import { isMapping } from '../../sdk/checks/problem.ts';
import type { RouteCondition } from '../../sdk/config.ts';
import type { CollectedEvent } from '../../sdk/events.ts';
import { parseJson } from '../../sdk/parse-json.ts';
import type { PipelineRun } from '../pipeline-run.ts';
import { isForwarder } from '../trace.ts';
import { type Finding, handedTo, type ReceivedEvent, receivedBy } from './received.ts';
import {
  checkAll,
  checkAny,
  checkCount,
  checkExactly,
  checkInOrder,
  checkList,
  checkNone,
} from './row-events.ts';
import { checkMarbles, checkTimes, collectedValues } from './row-marbles.ts';
import { checkAlways, checkContainsNo, checkRun } from './run-assertions.ts';
import type { LoadedTest } from './test-suite.ts';

/** The assertions of a test that do not hold. */
export function checkExpectations(
  { name, definition, conditions, snapshots }: CheckedTest,
  run: PipelineRun,
): Finding[] {
  const { expect, collect = {} } = definition;
  const collected = collectedValues(collect);
  const hasFiles = definition.files !== undefined;
  const rows = Object.entries(expect).flatMap(([entry, row]): Finding[] => {
    if (entry === 'files' && hasFiles) return [];
    const findings = isEntry(entry, row)
      ? checkRow(row, receivedBy(run, entry), handedTo(run, entry), collected, conditions)
      : [];
    if (isEntry(entry, row) && !isList(row) && row.snapshot === true) {
      findings.push(...snapshots.check(name, entry, receivedBy(run, entry)));
    }
    return findings.map((finding) => ({ ...finding, path: [entry, ...finding.path] }));
  });
  const files = hasFiles ? checkFiles(expect.files, run, conditions) : [];
  return [...rows, ...files, ...checkForwarders(expect, run, conditions), ...checkRun(expect, run)];
}

/** What is in virtual files, each line as an event. */
function checkFiles(
  expected: TestDefinition['expect']['files'],
  { files }: PipelineRun,
  conditions: Conditions,
): Finding[] {
  return Object.entries(expected ?? {}).flatMap(([path, row]): Finding[] => {
    const content = files.get(resolve(path));
    if (row === 'missing') {
      return content === undefined
        ? []
        : [{ path: ['files', path], message: 'expected no such file, it is there' }];
    }
    if (content === undefined) {
      const all = files.size === 0 ? 'there are none' : `there are ${[...files.keys()].join(', ')}`;
      return [{ path: ['files', path], message: `expected the file ${path}; ${all}` }];
    }
    const events = eventsIn(content);
    return checkRow(row as Row, events, events, new Map(), conditions).map((finding) => ({
      ...finding,
      path: ['files', path, ...finding.path],
    }));
  });
}

/** The events of a file of JSON Lines; a line that is none is a line of text. */
function eventsIn(content: string): ReceivedEvent[] {
  const lines = content.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines.map((line) => {
    let event: unknown;
    try {
      event = parseJson(line);
    } catch {
      // Handled below, like JSON that is not an event.
    }
    const isOne = isMapping(event) && isMapping(event.data);
    return { at: 0, event: (isOne ? event : { timestamp: '', data: { line } }) as CollectedEvent };
  });
}

/** What is needed of a test to check a run of it. */
type CheckedTest = Pick<LoadedTest, 'name' | 'definition' | 'conditions' | 'snapshots'>;

/** Compiled conditions, by their source. */
type Conditions = ReadonlyMap<string, RouteCondition>;

type Row = RowExpectation | readonly unknown[];

/** Mappings are about entries; a list is, unless its name is that of an assertion about the run. */
function isEntry(name: string, row: unknown): row is Row {
  return (
    typeof row === 'object' &&
    row !== null &&
    (!Array.isArray(row) || !RUN_EXPECTATIONS.some((known) => known === name))
  );
}

function checkRow(
  row: Row,
  received: readonly ReceivedEvent[],
  handed: readonly ReceivedEvent[],
  collected: ReadonlyMap<string, readonly unknown[]>,
  conditions: Conditions,
): Finding[] {
  if (isList(row)) return checkList(row, received);
  const { marbles, times, count, exactly, in_order, all, any, none, contains_no, always } = row;
  const isNoneWanted = wantsNone(row);
  const looked = { received: handed, isNoneWanted, conditions };
  const findings = [
    marbles !== undefined && checkMarbles(row, received, collected),
    times && checkTimes(row, received),
    count !== undefined && checkCount(count, received),
    exactly && checkExactly(exactly, received),
    in_order && checkInOrder(in_order, received),
    all && checkAll(all, received),
    any && checkAny(any, received),
    none && checkNone(none, received, isNoneWanted),
    contains_no && checkContainsNo(contains_no, looked),
    always && checkAlways(always, looked),
  ];
  return findings.flatMap((each) => each || []);
}

function isList(row: Row): row is readonly unknown[] {
  return Array.isArray(row);
}

/** Whether a row says that no event is to come. */
function wantsNone(row: Row): boolean {
  if (isList(row)) return row.length === 0;
  return row.count === 0 || row.exactly?.length === 0 || row.times?.length === 0;
}

/** `contains_no` and `always` of the whole test: about all that forwarders get, the dead letter included. */
function checkForwarders(
  expect: TestDefinition['expect'],
  run: PipelineRun,
  conditions: Conditions,
): Finding[] {
  const { contains_no, always } = expect;
  if (!Array.isArray(contains_no) && !Array.isArray(always)) return [];
  const forwarders = run.trace.rows.filter(({ place }) => isForwarder(place));
  const received = forwarders.flatMap(({ place: { name } }) =>
    handedTo(run, name).map((event) => ({ ...event, by: name })),
  );
  const isNoneWanted = forwarders.every(({ place: { kind, name } }) => {
    const row: unknown = Object.hasOwn(expect, name) ? expect[name as keyof typeof expect] : undefined;
    return kind === 'dead_letter' || (isEntry(name, row) && wantsNone(row));
  });
  const looked = { received, isNoneWanted, conditions };
  return [
    ...(Array.isArray(contains_no) ? checkContainsNo(contains_no, looked) : []),
    ...(Array.isArray(always) ? checkAlways(always, looked) : []),
  ];
}
