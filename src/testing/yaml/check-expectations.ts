import { type RowExpectation, RUN_EXPECTATIONS, type TestDefinition } from '../../sdk/tests-config.ts';
import type { PipelineRun } from '../pipeline-run.ts';
import { type Finding, handedTo, receivedBy } from './received.ts';
import {
  checkAll,
  checkAny,
  checkCount,
  checkExactly,
  checkInOrder,
  checkList,
  checkNone,
  type ItemPath,
} from './row-events.ts';
import { checkMarbles, checkTimes, collectedValues } from './row-marbles.ts';
import { checkContainsNo, checkRun } from './run-assertions.ts';

/** The assertions of a test that do not hold. */
export function checkExpectations({ expect, collect }: TestDefinition, run: PipelineRun): Finding[] {
  const collected = collectedValues(collect);
  const rows = Object.entries(expect).flatMap(([name, row]): Finding[] => {
    const findings = isEntry(name, row) ? checkRow(row, name, run, collected) : [];
    return findings.map((finding) => ({ ...finding, path: [name, ...finding.path] }));
  });
  return [...rows, ...checkForwarders(expect, run), ...checkRun(expect, run)];
}

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
  name: string,
  run: PipelineRun,
  collected: ReadonlyMap<string, readonly unknown[]>,
): Finding[] {
  const received = receivedBy(run, name);
  if (isList(row)) return checkList(row, received);
  return [
    ...(row.marbles === undefined ? [] : checkMarbles(row, received, collected)),
    ...(row.times === undefined ? [] : checkTimes(row, received)),
    ...(row.count === undefined ? [] : checkCount(row.count, received)),
    ...(row.exactly === undefined ? [] : checkExactly(row.exactly, received)),
    ...(row.in_order === undefined ? [] : checkInOrder(row.in_order, received)),
    ...(row.all === undefined ? [] : checkAll(row.all, received, itemPath)),
    ...(row.any === undefined ? [] : checkAny(row.any, received, itemPath)),
    ...(row.none === undefined ? [] : checkNone(row.none, received, itemPath)),
    ...(row.contains_no === undefined
      ? []
      : checkContainsNo(row.contains_no, handedTo(run, name), itemPath, isNoneWanted(row))),
  ];
}

/** A single matcher may stand without a list. */
const itemPath: ItemPath = (assertion, items, index) =>
  items.length === 1 ? [assertion] : [assertion, index];

function isList(row: Row): row is readonly unknown[] {
  return Array.isArray(row);
}

/** Whether a row says that no event is to come. */
function isNoneWanted(row: Row): boolean {
  if (isList(row)) return row.length === 0;
  return row.count === 0 || row.exactly?.length === 0 || row.times?.length === 0;
}

/** `contains_no` of the whole test: what no forwarder may get, the dead letter included. */
function checkForwarders(expect: TestDefinition['expect'], run: PipelineRun): Finding[] {
  const { contains_no } = expect;
  if (!Array.isArray(contains_no)) return [];
  const forwarders = run.trace.rows.filter(({ place }) => ['forward', 'dead_letter'].includes(place.kind));
  const received = forwarders.flatMap(({ place: { name } }) =>
    handedTo(run, name).map((event) => ({ ...event, by: name })),
  );
  const isNone = forwarders.every(({ place: { kind, name } }) => {
    const row: unknown = Object.hasOwn(expect, name) ? expect[name as keyof typeof expect] : undefined;
    return kind === 'dead_letter' || (isEntry(name, row) && isNoneWanted(row));
  });
  return checkContainsNo(contains_no, received, itemPath, isNone);
}
