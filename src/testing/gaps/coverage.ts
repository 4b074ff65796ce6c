import { formatPath, isMapping, type Path } from '../../sdk/checks/problem.ts';
import { type AnalyticsConfig, forwardersOf, type PipelineConfig } from '../../sdk/config.ts';
import { isMask } from '../../sdk/plugin.ts';
import type { PipelineRun } from '../pipeline-run.ts';
import type { TraceRow } from '../trace.ts';
import type { LoadedTest, TestResult } from '../yaml/test-suite.ts';

/** A part of a configuration that tests can reach. */
export interface CoverageItem {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** Where it stands: `processors.secrets.rules.KEY`. */
  readonly path: string;
  /** What no test does if it is not reached, in words: `no test has text that this rule masks`. */
  readonly gap: string;
  readonly isReached: boolean;
  /** The card of a drawing that it belongs to, and what is missing there. */
  readonly node: { readonly kind: 'collect' | 'process' | 'forward' | 'pipeline'; readonly name: string };
  readonly mark: string;
}

/** A part that is to be reached, and how a run tells that it was. */
interface Part extends Pick<CoverageItem, 'gap' | 'node' | 'mark'> {
  readonly path: Path;
  isReachedBy(run: PipelineRun): boolean;
}

/**
 * Which parts of configurations their tests reach: collectors, processors, rules of masks, forwarders, both ways of
 * conditions, and what happens when something fails.
 *
 * @param tests of all the configurations, with their results
 */
export function coverageOf(tests: readonly LoadedTest[], results: readonly TestResult[]): CoverageItem[] {
  const items = new Map<string, CoverageItem>();
  for (const source of new Set(tests.map((test) => test.source))) {
    for (const name of Object.keys(source.config.pipelines)) {
      const runs = tests.flatMap((test, index) =>
        test.source === source
          ? (results[index]?.runs.filter(({ trace }) => trace.pipeline === name) ?? [])
          : [],
      );
      for (const { path, isReachedBy, ...part } of partsOf(source.config, name)) {
        const { file, line, column } = source.place(path);
        const item = {
          file,
          line,
          column,
          path: formatPath(path),
          ...part,
          isReached: runs.some(isReachedBy),
        };
        const key = JSON.stringify([file, item.path, item.gap]);
        // Another test may bring other environment variables, and another pipeline may use the same entry.
        if (items.get(key)?.isReached !== true) items.set(key, item);
      }
    }
  }
  return [...items.values()].sort((a, b) => (a.file === b.file ? a.line - b.line || a.column - b.column : 0));
}

function partsOf(config: AnalyticsConfig, name: string): Part[] {
  const pipeline = config.pipelines[name] as PipelineConfig;
  const { collect, process = [] } = pipeline;
  return [
    ...collect.map(
      (collector): Part => ({
        path: ['collectors', collector],
        gap: 'no test has an event of this collector',
        node: { kind: 'collect', name: collector },
        mark: 'no event',
        isReachedBy: (run) => eventsOf(run, collector, 'collect').length > 0,
      }),
    ),
    ...process.flatMap((processor, index) => processorParts(config, processor, process[index - 1])),
    ...forwardersOf(pipeline).flatMap((_, index) => forwarderParts(name, pipeline, index)),
    ...failureParts(name, pipeline),
  ];
}

/** An event has reached a processor if the one before has let one pass. */
function processorParts(config: AnalyticsConfig, name: string, before: string | undefined): Part[] {
  const entry = config.processors[name];
  const rules: unknown = entry !== undefined && 'rules' in entry ? entry.rules : undefined;
  const node = { kind: 'process', name } as const;
  const names = isMask(entry?.loaded_plugin) && isMapping(rules) ? Object.keys(rules) : [];
  return [
    {
      ...{ path: ['processors', name], gap: 'no test has an event that reaches this processor' },
      ...{ node, mark: 'no event' },
      isReachedBy: (run) =>
        run.trace.rows.some(({ place, marks }) => {
          const isBefore = before === undefined ? place.kind === 'collect' : place.name === before;
          return isBefore && marks.some(({ kind }) => kind === 'event');
        }),
    },
    ...names.map(
      (rule): Part => ({
        ...{ path: ['processors', name, 'rules', rule], gap: 'no test has text that this rule masks' },
        ...{ node, mark: `rule ${rule}` },
        isReachedBy: ({ maskingRules }) => maskingRules.get(name)?.has(rule) === true,
      }),
    ),
  ];
}

function forwarderParts(pipeline: string, config: PipelineConfig, index: number): Part[] {
  const route = config.forward[index] as PipelineConfig['forward'][number];
  const name = typeof route === 'string' ? route : route.to;
  const path = ['pipelines', pipeline, 'forward', ...(config.forward.length > 1 ? [index] : [])];
  const node = { kind: 'forward', name } as const;
  const handed = (run: PipelineRun) =>
    // A real forwarder tells only what it has delivered.
    new Set([
      ...(rowOf(run, name, 'forward')?.handed?.map(({ event }) => event) ?? []),
      ...eventsOf(run, name, 'forward').flatMap((mark) => ('event' in mark ? [mark.event] : [])),
    ]);
  const reached: Part = {
    ...{ path, gap: `no test has an event that reaches ${name}`, node, mark: 'no event' },
    isReachedBy: (run) => handed(run).size > 0,
  };
  if (typeof route === 'string') return [reached];
  const last = config.process?.at(-1);
  const spared: Part = {
    ...{ path: [...path, 'when'], gap: 'no test has an event for which this is false', node },
    mark: 'condition false',
    isReachedBy: (run) => {
      const sent = handed(run);
      const left =
        last === undefined
          ? config.collect.flatMap((collector) => eventsOf(run, collector, 'collect'))
          : eventsOf(run, last, 'process');
      return left.some((mark) => 'event' in mark && !sent.has(mark.event));
    },
  };
  return [reached, spared];
}

/** What a pipeline does when a forwarder or a collector fails. */
function failureParts(name: string, { delivery, restart }: PipelineConfig): Part[] {
  const { attempts = Number.POSITIVE_INFINITY, dead_letter } = delivery;
  const path = ['pipelines', name];
  const node = { kind: 'pipeline', name } as const;
  const parts: (Part | undefined)[] = [
    attempts > 1
      ? {
          ...{ path: [...path, 'forward'], gap: 'no test has a forwarder that fails and is tried again' },
          ...{ node, mark: 'retries', isReachedBy: ({ stats }) => stats.retries > 0 },
        }
      : undefined,
    dead_letter !== undefined
      ? {
          path: [...path, 'delivery', 'dead_letter'],
          gap: 'no test has an event that becomes a dead letter',
          ...{ node: { kind: 'forward', name: dead_letter }, mark: 'dead letters' },
          isReachedBy: ({ stats }) => stats.dead_lettered > 0,
        }
      : undefined,
    dead_letter === undefined && Number.isFinite(attempts)
      ? {
          path: [...path, 'delivery', 'attempts'],
          gap: 'no test has an event that is dropped after the last attempt',
          ...{ node, mark: 'last attempt' },
          isReachedBy: ({ stats }) => (stats.dropped.forwarder_failed ?? 0) > 0,
        }
      : undefined,
    restart
      ? {
          ...{ path, gap: 'no test has a collector that fails, so that the pipeline is restarted' },
          ...{ node, mark: 'restarts' },
          isReachedBy: ({ states }) => states.some(({ state }) => state === 'backing_off'),
        }
      : undefined,
  ];
  return parts.filter((part) => part !== undefined);
}

function rowOf(run: PipelineRun, name: string, kind: TraceRow['place']['kind']): TraceRow | undefined {
  return run.trace.rows.find(({ place }) => place.name === name && place.kind === kind);
}

function eventsOf(run: PipelineRun, name: string, kind: TraceRow['place']['kind']) {
  return rowOf(run, name, kind)?.marks.filter((mark) => mark.kind === 'event') ?? [];
}
