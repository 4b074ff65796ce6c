import type { AnalyticsConfig } from '../../sdk/config.ts';
import type { CollectedEvent } from '../../sdk/events.ts';
import { isMask } from '../../sdk/plugin.ts';
import { toJson } from '../../sdk/serialise.ts';
import { toEvent } from '../marbles.ts';
import type { PipelineRun } from '../pipeline-run.ts';
import { receivedBy } from '../yaml/received.ts';
import type { ShownEvent } from './mask-events.ts';
import { maskBy, type Processor, processBy } from './run-processor.ts';
import { differences, type MaskFinding } from './watch-masks.ts';

/** Returns undefined if it fails, or does not give its results at once. */
type Step = (events: readonly CollectedEvent[]) => readonly CollectedEvent[] | undefined;

interface SearchOptions {
  readonly config: AnalyticsConfig;
  readonly pipeline: string;
  /** Looks at what comes out of the last processor. Undefined if that does the same. */
  readonly defaultMask: Processor | undefined;
  /** Whether the masks of the pipeline are asked as well. */
  readonly asksMasks: boolean;
}

/**
 * Looks for secrets in what the processors of a pipeline make of recorded events. Each event passes all of them on its own,
 * also a filter that drops it: what a run drops reaches no mask after the filter, and is in the recording all the same.
 */
export class EventSearch {
  readonly #steps: readonly Step[];
  readonly #ended = new AbortController();
  #findings: Omit<MaskFinding, 'data' | 'lines'>[] = [];

  constructor({ config, pipeline, defaultMask, asksMasks }: SearchOptions) {
    const names = config.pipelines[pipeline]?.process ?? [];
    const processors = names.map((name) => config.processors[name] as Processor);
    this.#steps = [
      ...processors.map((entry) => this.#step(entry, asksMasks && isMask(entry.loaded_plugin))),
      ...(defaultMask === undefined ? [] : [this.#step(defaultMask, true)]),
    ];
  }

  #step(entry: Processor, isAsked: boolean): Step {
    const process = processBy(entry, this.#ended.signal);
    return (events) => {
      const all: CollectedEvent[] = [];
      for (const event of events) {
        const results = process(event);
        if (results === undefined) return undefined;
        if (isAsked && results.length === 0) this.#findings.push({ replaced: undefined });
        for (const { data } of isAsked ? results : []) {
          const replaced = differences(event.data, data);
          if (replaced?.length !== 0) this.#findings.push({ replaced });
        }
        all.push(...(results.length === 0 ? [event] : results));
      }
      return all;
    };
  }

  /** Returns undefined if a processor fails, or does not give its results at once: later masks have not seen the event. */
  findingsIn({ value }: ShownEvent): readonly MaskFinding[] | undefined {
    this.#findings = [];
    let events: readonly CollectedEvent[] | undefined = [toEvent(value)];
    for (const step of this.#steps) {
      events = step(events);
      if (events === undefined) return undefined;
    }
    return this.#findings.map(({ replaced }) => ({ data: value.data, replaced, lines: undefined }));
  }

  /** The plugins have no more to do. */
  end(): void {
    this.#ended.abort();
  }
}

/** What forwarders got in a replay. */
interface Output {
  readonly findings: readonly MaskFinding[];
  /** The forwarders that got something in which `redact` finds a secret. */
  readonly unmasked: ReadonlySet<string>;
  /** The data of the collected events of which a forwarder got something. */
  readonly delivered: ReadonlySet<object>;
}

/** Looks for secrets in what forwarders get, in one replay after the other. */
export class OutputSearch {
  readonly #defaultMask: Processor | undefined;
  /** Data as JSON in which nothing was found, wherever it was in an earlier replay. */
  #clean: ReadonlySet<string> = new Set();

  /** @param defaultMask undefined if the last processor does the same. */
  constructor(defaultMask: Processor | undefined) {
    this.#defaultMask = defaultMask;
  }

  findingsIn(
    run: PipelineRun,
    forwarders: Iterable<string>,
    originOf: (event: CollectedEvent) => CollectedEvent,
  ): Output {
    const findings: MaskFinding[] = [];
    const unmasked = new Set<string>();
    const delivered = new Set<object>();
    const clean = new Set<string>();
    const found = new Set<string>();
    // Several forwarders may get the same event.
    const known = new Map<CollectedEvent, MaskFinding['replaced']>();
    for (const name of forwarders) {
      const replacedIn = this.#search(clean, found);
      for (const { event } of receivedBy(run, name)) {
        const { data } = originOf(letterOf(event) ?? event);
        delivered.add(data);
        const replaced = known.has(event) ? known.get(event) : replacedIn(event);
        known.set(event, replaced);
        if (replaced?.length === 0) continue;
        unmasked.add(name);
        findings.push({ data, replaced, lines: undefined });
      }
    }
    this.#clean = new Set([...clean].filter((text) => !found.has(text)));
    return { findings, unmasked, delivered };
  }

  #search(clean: Set<string>, found: Set<string>): (event: CollectedEvent) => MaskFinding['replaced'] {
    if (this.#defaultMask === undefined) return () => [];
    const mask = maskBy(this.#defaultMask);
    return (event) => {
      const text = textOf(event);
      const isClean = text !== undefined && this.#clean.has(text);
      const masked = isClean ? event : mask(event);
      const replaced = masked && differences(event.data, masked.data);
      if (text !== undefined) (replaced?.length === 0 ? clean : found).add(text);
      return replaced;
    };
  }
}

/** Undefined for an event that has no JSON form. */
function textOf({ data }: CollectedEvent): string | undefined {
  try {
    return toJson(data);
  } catch {
    return undefined;
  }
}

/** The event in an entry of a dead letter. */
function letterOf({ data }: CollectedEvent): CollectedEvent | undefined {
  const { kind, plugin, event } = data as Readonly<Record<string, unknown>>;
  const isEntry = typeof kind === 'string' && typeof plugin === 'string';
  return isEntry && typeof event === 'object' && event !== null ? (event as CollectedEvent) : undefined;
}
