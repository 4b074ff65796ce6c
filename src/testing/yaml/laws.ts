import { isDeepStrictEqual } from 'node:util';
import { LAW_TEXTS, type Law } from '../../config/tests/expectations.ts';
import { type AnalyticsConfig, forwardersOf, type PipelineConfig } from '../../sdk/config.ts';
import type { CollectedEvent } from '../../sdk/events.ts';
import { isMask } from '../../sdk/plugin.ts';
import { toJson } from '../../sdk/serialise.ts';
import { timeText } from '../draw/value-text.ts';
import type { PipelineRun } from '../pipeline-run.ts';
import { runPipeline } from '../test-pipeline.ts';
import { isForwarder, type TraceMark, type TraceRow } from '../trace.ts';
import { valueText } from './matcher.ts';
import { countedEvents, type Finding, handedTo, listOf } from './received.ts';

/** How a run breaks a law: in one sentence, with the events of which it is so. */
interface Breach {
  readonly message: string;
  /** Without any, the law is not broken. Undefined if it is not about single events. */
  readonly lines?: readonly string[];
}

type Check = (run: PipelineRun, config: AnalyticsConfig) => readonly Breach[];

const CHECKS: Readonly<Record<Law, Check>> = {
  nothing_lost: nothingLost,
  nothing_twice: nothingTwice,
  order: inOrder,
  no_secret_out: noSecretOut,
  bounded_in_flight: boundedInFlight,
};

/**
 * The laws that runs do not obey.
 *
 * @param runs of the pipelines of a test, each of which has to obey them by itself
 */
export function checkLaws(
  laws: readonly Law[],
  runs: readonly PipelineRun[],
  config: AnalyticsConfig,
): Finding[] {
  return laws.flatMap((law, index) =>
    runs.flatMap((run) =>
      CHECKS[law](run, config)
        .filter(({ lines }) => lines?.length !== 0)
        .map(
          ({ message, lines = [] }): Finding => ({
            path: ['laws', index],
            message: `${LAW_TEXTS[law]}: ${message}`,
            details: listOf(lines, (line) => line),
          }),
        ),
    ),
  );
}

/** Every event is delivered, becomes a dead letter, or is left out by a condition or by a processor that says so. */
function nothingLost({ trace: { rows }, stats, endedAt }: PipelineRun, config: AnalyticsConfig): Breach[] {
  const isMeant = ({ place }: TraceRow, mark: TraceMark) => {
    if (mark.kind !== 'drop' || mark.reason === 'no_route') return true;
    return (
      mark.reason === 'filtered' && config.processors[place.name]?.loaded_plugin.traits?.filters === true
    );
  };
  const filtering = new Set<string>();
  const lost = rows.flatMap((row) =>
    row.marks.flatMap((mark) => {
      if (mark.kind !== 'drop' || isMeant(row, mark)) return [];
      if (mark.reason === 'filtered') filtering.add(row.place.name);
      return [`${timeText(mark.at)}  by ${row.place.name}, ${mark.reason}: ${valueText(mark.event.data)}`];
    }),
  );
  const hint =
    filtering.size === 0
      ? ''
      : `; if ${[...filtering].join(' and ')} may drop events on purpose, its plugin has to declare the trait \`filters: true\``;
  const open = endedAt === undefined ? stats.in_flight : 0;
  return [
    {
      message: `${countedEvents(lost.length)} ${lost.length === 1 ? 'was' : 'were'} lost${hint}`,
      lines: lost,
    },
    ...(open === 0
      ? []
      : [{ message: `${countedEvents(open)} had not been delivered when the test gave up` }]),
  ];
}

/** Equal events that were made of the same collected one are one event. */
function nothingTwice(run: PipelineRun): Breach[] {
  return forwarderRows(run).map((row): Breach => {
    const seen = new Map<string, number>();
    const lines: string[] = [];
    for (const { at, event, origin } of eventMarks(row)) {
      if (origin === undefined) continue;
      const { timestamp: _, ...own } = event;
      const key = toJson([origin.collector, origin.position, own]);
      const before = seen.get(key);
      if (before === undefined) seen.set(key, at);
      else lines.push(`${timeText(before)} and ${timeText(at)}  ${valueText(event.data)}`);
    }
    const message = `${row.place.name} delivered ${countedEvents(lines.length)} again`;
    return { message, lines };
  });
}

/** What comes again after a failure is not counted: only when an event was delivered for the first time. */
function inOrder(run: PipelineRun): Breach[] {
  const rows = forwarderRows(run).filter(({ place }) => place.kind === 'forward');
  return rows.map((row): Breach => {
    const last = new Map<string, { readonly position: number; readonly event: CollectedEvent }>();
    const seen = new Set<string>();
    const lines: string[] = [];
    for (const { at, event, origin } of eventMarks(row)) {
      if (origin === undefined) continue;
      const { collector, position } = origin;
      const before = last.get(collector);
      const isNew = !seen.has(`${collector} ${position}`);
      seen.add(`${collector} ${position}`);
      if (before === undefined || position > before.position) last.set(collector, { position, event });
      else if (isNew) {
        lines.push(`${timeText(at)}  ${valueText(event.data)} behind ${valueText(before.event.data)}`);
      }
    }
    const message = `${row.place.name} delivered ${countedEvents(lines.length)} behind later ones`;
    return { message, lines };
  });
}

/**
 * Masks what forwarders got once more, with the masks of the pipeline: where that changes an event, a rule matches. A
 * run of the pipeline with nothing but its masks does it, so that masks which need several events work as well.
 */
function noSecretOut(run: PipelineRun, config: AnalyticsConfig): Breach[] {
  const name = run.trace.pipeline;
  const pipeline = config.pipelines[name] as PipelineConfig;
  const masks = (pipeline.process ?? []).filter((processor) =>
    isMask(config.processors[processor]?.loaded_plugin),
  );
  const last = masks.at(-1);
  if (last === undefined) {
    return [{ message: `the pipeline ${name} has no processor that masks, so there is no rule` }];
  }
  return forwarderRows(run).map(({ place }): Breach => {
    const outputs = handedTo(run, place.name);
    const again = maskAgain(
      outputs.map(({ event }) => event),
      masks,
      name,
      config,
    );
    const marks = eventMarks(again.trace.rows.find((row) => row.place.name === last) as TraceRow);
    const masked = new Map(marks.map(({ origin, event }) => [origin?.position, event]));
    const lines = outputs.flatMap(({ at, event }, position) => {
      const after = masked.get(position);
      const isClean = after !== undefined && isDeepStrictEqual(after.data, event.data);
      // What the masks make of it shows which rule matches, and where.
      const shown = after === undefined ? 'the masks fail on it' : valueText(after.data);
      return isClean ? [] : [`${timeText(at)}  ${place.name}  ${valueText(event.data)} → ${shown}`];
    });
    const matched = `${countedEvents(lines.length)} that ${place.name} got`;
    return { message: `rules match in ${matched}; masked once more:`, lines };
  });
}

function maskAgain(
  events: readonly CollectedEvent[],
  masks: readonly string[],
  name: string,
  config: AnalyticsConfig,
): PipelineRun {
  const pipeline = config.pipelines[name] as PipelineConfig;
  const [collector = ''] = pipeline.collect;
  const only: PipelineConfig = {
    ...pipeline,
    collect: [collector],
    process: [...masks],
    forward: forwardersOf(pipeline).slice(0, 1),
    max_in_flight: events.length + 1,
    exactly_once: false,
    workers: 1,
    delivery: { ...pipeline.delivery, dead_letter: undefined },
  };
  return runPipeline(
    { ...config, pipelines: { [name]: only } },
    { pipeline: name, collect: { [collector]: { events: events.map((value) => ({ at: 0, value })) } } },
  );
}

/** Neither of collected events, nor of those that processors make of them, which wait for forwarders. */
function boundedInFlight({ trace }: PipelineRun, config: AnalyticsConfig): Breach[] {
  const { max_in_flight, workers } = config.pipelines[trace.pipeline] as PipelineConfig;
  // With workers, the window is as large as they need.
  if (workers > 1) return [];
  const over = (trace.flight ?? []).flatMap(({ at, most, mostResults }) => {
    if (most > max_in_flight) return [`${timeText(at)}  ${countedEvents(most)} of collectors`];
    return mostResults > max_in_flight
      ? [`${timeText(at)}  ${countedEvents(mostResults)} that processors made of fewer`]
      : [];
  });
  return [{ message: `more than ${max_in_flight} were in flight`, lines: over }];
}

function forwarderRows({ trace }: PipelineRun): TraceRow[] {
  return trace.rows.filter(({ place }) => isForwarder(place));
}

function eventMarks({ marks }: TraceRow) {
  return marks.filter((mark) => mark.kind === 'event');
}
