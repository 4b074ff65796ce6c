import { firstValueFrom, timer } from 'rxjs';
import { toUtc } from '../../../operators/internal.ts';
import type { AnalyticsConfig } from '../../sdk/config.ts';
import type { CollectedEvent } from '../../sdk/events.ts';
import { toJson } from '../../sdk/serialise.ts';
import type { RecordedEvent, RecordedRun, Recording } from './recorder.ts';
import { hasSettingsOf, maskAllBy, maskBy, type Processor } from './run-processor.ts';
import { maskNames } from './watch-masks.ts';

/** An event as a recording shows it. */
export interface ShownEvent {
  readonly at: number;
  /** A whole event, so that it can be found again by its data. */
  value: ShownValue;
  /** Whether `value` stands in the place of an event that must not be shown. */
  isHidden: boolean;
  /** The size of the event as JSON. */
  readonly bytes: number;
}

// No interface, because those are no records.
export type ShownValue = {
  readonly data: Readonly<Record<string, unknown>>;
  readonly timestamp?: string;
  readonly tag?: string;
};

/** What a collector emitted in one run of the pipeline, as a recording shows it. */
export interface MaskedRun extends Omit<RecordedRun, 'events'> {
  readonly events: readonly ShownEvent[];
}

/** Replaces an event that must not be shown. */
export function hideEvent(event: ShownEvent): void {
  event.value = placeholder(event.bytes);
  event.isHidden = true;
}

function placeholder(bytes: number): ShownValue {
  return { data: { recorded: 'not shown', bytes } };
}

/** Events that are masked before the pipelines of this process have a turn. */
const SLICE = 256;

/**
 * Masks the events of a recording as they were collected: by the processors of the pipeline that remove secrets, in their
 * order, and then by `redact` with its default packs, because a recording is shown to more people than what the pipeline forwards. An event
 * that cannot be masked becomes a placeholder.
 *
 * @param timeLeft real milliseconds until all further events become placeholders
 * @returns the runs of each collector
 */
export async function maskEvents(
  masks: readonly Processor[],
  recording: Recording,
  timeLeft: () => number,
): Promise<ReadonlyMap<string, readonly MaskedRun[]>> {
  const maskAll = masks.map((entry) => maskAllBy(entry));
  const masked = new Map<string, readonly MaskedRun[]>();
  for (const [name, runs] of recording.collectors) {
    const blocks = new KeyBlocks();
    const maskedRuns: MaskedRun[] = [];
    masked.set(name, maskedRuns);
    for (const { events, ...run } of runs) {
      const shown: ShownEvent[] = [];
      maskedRuns.push({ ...run, events: shown });
      for (let start = 0; start < events.length; start += SLICE) {
        const slice = events.slice(start, start + SLICE);
        const isLate = timeLeft() === 0;
        const known = slice.map(({ event }) => !isLate && !isCut(event) && !blocks.mayBeInOne(event));
        const results = maskKnown(slice, known, maskAll);
        for (const [position, recorded] of slice.entries()) {
          shown.push(shownEvent(recorded, recorded.at - run.startedAt, results[position]));
        }
        // The pipelines of this process have a turn.
        await firstValueFrom(timer(0));
      }
    }
  }
  return masked;
}

/** Half of a secret, where a line was cut, may look like none. */
function isCut(event: CollectedEvent): boolean {
  return (event as { readonly truncated?: unknown }).truncated === true;
}

/** Masks those events of which `known` is true. */
function maskKnown(
  slice: readonly RecordedEvent[],
  known: readonly boolean[],
  maskAll: readonly ReturnType<typeof maskAllBy>[],
): (CollectedEvent | undefined)[] {
  let positions = slice.flatMap((_, position) => (known[position] ? position : []));
  let events = positions.map((position) => {
    // Without what the collector keeps beside the event.
    const { event } = slice[position] as RecordedEvent;
    return { timestamp: event.timestamp, data: event.data, ...tagOf(event) } as CollectedEvent;
  });
  for (const mask of maskAll) {
    const masked = mask(events);
    positions = positions.filter((_, index) => masked[index] !== undefined);
    events = masked.filter((event) => event !== undefined);
  }
  const all = slice.map((): CollectedEvent | undefined => undefined);
  for (const [index, position] of positions.entries()) all[position] = events[index];
  return all;
}

function shownEvent(
  { event, stamp }: RecordedEvent,
  at: number,
  masked: CollectedEvent | undefined,
): ShownEvent {
  const bytes = sizeOf(event);
  const value = masked && shownValue(masked, stamp);
  return { at, bytes, value: value ?? placeholder(bytes), isHidden: value === undefined };
}

/**
 * The masks of a recording: those of the pipeline, and `redact` as it is without settings unless one of them is at least
 * that.
 */
export function masksOf(config: AnalyticsConfig, pipeline: string, defaultMask: Processor): Processor[] {
  const masks = maskNames(config, pipeline).map((name) => config.processors[name] as Processor);
  return masks.some((mask) => hasSettingsOf(mask, defaultMask)) ? masks : [...masks, defaultMask];
}

/** The last word of a line of a private key, and not of a digest. */
const KEY_LINE = /(?:^|[\s"'])(?![0-9a-f]+["',\\n]*$)[A-Za-z0-9+/]{40,}={0,2}["',\\n]*$/;

/**
 * Lines at the start of a source that may belong to a private key whose first line came before the recording. A mask does
 * not know them without that line.
 */
class KeyBlocks {
  readonly #sourcesPastKeyLines = new Set<unknown>();

  mayBeInOne({ data }: CollectedEvent): boolean {
    const { source, line } = data as Readonly<Record<string, unknown>>;
    if (this.#sourcesPastKeyLines.has(source)) return false;
    if (typeof line === 'string' && KEY_LINE.test(line.trimEnd())) return true;
    this.#sourcesPastKeyLines.add(source);
    return false;
  }
}

/** Masks messages, such as reasons of errors, as lines. */
export function messageMask(masks: readonly Processor[]): (message: string) => string {
  const all = masks.map((mask) => maskBy(mask));
  return (message) => {
    const event: CollectedEvent = { timestamp: '', data: { line: message } };
    const masked = all.reduce<CollectedEvent | undefined>((one, mask) => one && mask(one), event);
    const line: unknown = masked?.data.line;
    return typeof line === 'string' ? line : 'not shown';
  };
}

function tagOf(event: CollectedEvent): { readonly tag?: string } {
  const { tag } = event as { readonly tag?: unknown };
  return typeof tag === 'string' ? { tag } : {};
}

/** Milliseconds: a collector that stamps an event when it emits it is not late by more. */
const MAX_STAMP_DELAY_MS = 1000;

/** Undefined for an event that has no JSON form. Its timestamp is left out if it is the time at which it was emitted. */
function shownValue(event: CollectedEvent, stamp: number): ShownValue | undefined {
  try {
    const data = JSON.parse(toJson(event.data)) as ShownValue['data'];
    const timestamp = typeof event.timestamp === 'string' ? toUtc(event.timestamp) : undefined;
    const isOwn = timestamp !== undefined && Math.abs(Date.parse(timestamp) - stamp) > MAX_STAMP_DELAY_MS;
    return { data, ...(isOwn ? { timestamp } : {}), ...tagOf(event) };
  } catch {
    return undefined;
  }
}

function sizeOf({ data }: CollectedEvent): number {
  try {
    return Buffer.byteLength(toJson(data));
  } catch {
    return 0;
  }
}
