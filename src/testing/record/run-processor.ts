import { NEVER } from 'rxjs';
import { parseConfig } from '../../config/parse-config.ts';
import { processLines } from '../../rows/process-lines.ts';
import type { PluginConfig } from '../../sdk/config.ts';
import type { PipelineRunContext } from '../../sdk/context.ts';
import { isEvent } from '../../sdk/event-batch.ts';
import type { CollectedEvent } from '../../sdk/events.ts';
import { LineEvents } from '../../sdk/line-events.ts';
import type { ProcessPlugin } from '../../sdk/plugin.ts';
import { availableResults, streamResults } from '../../sdk/plugin.ts';
import { toJson } from '../../sdk/serialise.ts';
import { pluginContext } from '../plugin-context.ts';
import { testHost, withoutAudit } from '../stand-ins.ts';

export type Processor = PluginConfig<ProcessPlugin>;

/** `redact` as it is without settings. */
export async function makeDefaultMask(): Promise<Processor> {
  const config = await parseConfig({
    collectors: { none: { plugin: 'test', count: 1 } },
    processors: { redact: { plugin: 'redact' } },
    forwarders: { none: { plugin: 'noop' } },
    pipelines: { none: { collect: 'none', process: 'redact', forward: 'none' } },
    host_config: {},
  });
  return config.processors.redact as Processor;
}

/** Whether a processor finds all that another one finds: it has the same settings, and perhaps further rules. */
export function hasSettingsOf(entry: Processor, other: Processor): boolean {
  return entry.plugin === other.plugin && settingsOf(entry) === settingsOf(other);
}

function settingsOf(entry: Processor): string {
  const { rules: _, name: __, ...settings } = { ...entry } as Record<string, unknown>;
  return toJson(Object.fromEntries(Object.entries(settings).sort(([a], [b]) => (a < b ? -1 : 1))));
}

/** Returns undefined for an event that the mask does not let pass, or not at once. */
export function maskBy(entry: Processor): (event: CollectedEvent) => CollectedEvent | undefined {
  return maskIn(contextOf(withoutAudit(entry), new AbortController().signal), entry);
}

/** {@link maskBy} for many events: the lines of a source are masked together, which takes a fraction of the time. */
export function maskAllBy(
  entry: Processor,
): (events: readonly CollectedEvent[]) => (CollectedEvent | undefined)[] {
  const ctx = contextOf(withoutAudit(entry), new AbortController().signal);
  const mask = maskIn(ctx, entry);
  return (events) => {
    const masked: (CollectedEvent | undefined)[] = [];
    for (let start = 0; start < events.length; start = masked.length) {
      const lines = linesFrom(events, start);
      const mapping = lines && entry.loaded_plugin.mapLines?.({ ctx, envelope: lines.envelope });
      if (lines === undefined || mapping === undefined) {
        masked.push(mask(events[start] as CollectedEvent));
        continue;
      }
      const missing = new Set<number>();
      const { texts } = processLines(lines, mapping, {
        failed: (index) => missing.add(index),
        dropped: (_, indexes) => {
          for (const index of indexes()) missing.add(index);
        },
      });
      let next = 0;
      for (let index = 0; index < lines.size; index++) {
        const event = events[start + index] as CollectedEvent;
        const line = missing.has(index) ? undefined : texts.lines[next++];
        masked.push(line === undefined ? undefined : { ...event, data: { ...event.data, line } });
      }
    }
    return masked;
  };
}

/** Events of consecutive lines of one file. Their timestamps are ignored. */
function linesFrom(events: readonly CollectedEvent[], start: number): LineEvents | undefined {
  const source = events[start]?.data.source;
  const lines: string[] = [];
  for (let event = events[start]; event !== undefined; event = events[start + lines.length]) {
    const { line, source: other, ...others } = event.data as Readonly<Record<string, unknown>>;
    const isLine = typeof line === 'string' && other === source && Object.keys(others).length === 0;
    if (!isLine || Object.hasOwn(event, 'tag')) break;
    lines.push(line);
  }
  if (lines.length === 0 || typeof source !== 'string') return undefined;
  return LineEvents.of(lines, { timestamp: START_OF_TIME, source, backfill: false, isTruncated: false });
}

const START_OF_TIME = '1970-01-01T00:00:00.000Z';

function maskIn(ctx: PipelineRunContext<never>, entry: Processor) {
  const process = processIn(ctx, entry);
  return (event: CollectedEvent): CollectedEvent | undefined => {
    const results = process(event);
    return results?.length === 1 ? results[0] : undefined;
  };
}

/** A processor outside a pipeline. Returns undefined if it fails, or does not give its results at once. */
export function processBy(
  entry: Processor,
  signal: AbortSignal,
): (event: CollectedEvent) => readonly CollectedEvent[] | undefined {
  return processIn(contextOf(withoutAudit(entry), signal), entry);
}

function processIn(ctx: PipelineRunContext<never>, { loaded_plugin }: Processor) {
  return (event: CollectedEvent): readonly CollectedEvent[] | undefined => {
    try {
      const returned: unknown = loaded_plugin.process({ ctx, event });
      const results = availableResults<CollectedEvent>(returned) ?? resultsNow(returned);
      return results?.every(isEvent) ? results : undefined;
    } catch {
      return undefined;
    }
  };
}

/** What an Observable or an iterable gives at once; undefined if more may come. */
function resultsNow(returned: unknown): readonly CollectedEvent[] | undefined {
  const results: CollectedEvent[] = [];
  let isComplete = false;
  streamResults<CollectedEvent>(returned)
    .subscribe({
      next: (event) => results.push(event),
      error: () => {},
      complete: () => {
        isComplete = true;
      },
    })
    .unsubscribe();
  return isComplete ? results : undefined;
}

function contextOf(config: PluginConfig, signal: AbortSignal): PipelineRunContext<never> {
  return pluginContext(config, {
    pipeline: 'recording',
    host: testHost,
    random: Math.random,
    signal,
    demand: { room: Number.POSITIVE_INFINITY, room$: NEVER },
  }) as PipelineRunContext<never>;
}
