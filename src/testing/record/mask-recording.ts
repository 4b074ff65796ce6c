import { firstValueFrom, timer } from 'rxjs';
import { escapedForms, withhold, withholderFor } from '../../sdk/checks/shown-values.ts';
import type { AnalyticsConfig } from '../../sdk/config.ts';
import type { CollectedEvent } from '../../sdk/events.ts';
import { HIDDEN } from '../../sdk/printable.ts';
import { inCommon } from '../aligned-rows.ts';
import type { PipelineRun } from '../pipeline-run.ts';
import { hideFindings } from './hide-findings.ts';
import { makeTest } from './make-test.ts';
import {
  hideEvent,
  type MaskedRun,
  maskEvents,
  masksOf,
  messageMask,
  type ShownEvent,
} from './mask-events.ts';
import { forwarderNames } from './recorded-expectation.ts';
import type { Recording } from './recorder.ts';
import type { RecordingFacts } from './recording-facts.ts';
import { type Replay, replayRecording } from './replay-recording.ts';
import { hasSettingsOf, makeDefaultMask, type Processor } from './run-processor.ts';
import { EventSearch, OutputSearch } from './search-secrets.ts';
import { differences, type MaskFinding, maskNames, watchMasks } from './watch-masks.ts';

/** A recording as it may be shown. Only this is written: it holds no event or message as it was recorded. */
export interface MaskedRecording extends Omit<Recording, 'collectors'> {
  readonly collectors: ReadonlyMap<string, readonly MaskedRun[]>;
}

export function allEvents({ collectors }: MaskedRecording): ShownEvent[] {
  return [...collectors.values()].flat().flatMap(({ events }) => events);
}

/** A replay of a masked recording. */
interface MaskedReplay extends Replay {
  /** The forwarders that got something in which masks still find a secret: only the number of their events may be shown. */
  readonly unmasked: ReadonlySet<string>;
}

/**
 * Masks a recording. This is the one place where that happens, after the recording has ended and before any of it is
 * written. What cannot be masked is not shown.
 *
 * 1. Events are masked as they were collected.
 * 2. The pipeline is replayed with them, until masks find nothing more, wherever in the pipeline they are: an event that
 *    processors have parsed may show a secret that its line does not.
 * 3. Messages of errors are masked as lines. A message that quotes what was removed from an event does not show it.
 *
 * @param timeLeft real milliseconds until what is not masked yet is hidden
 */
export async function maskRecording(
  recording: Recording,
  facts: RecordingFacts,
  timeLeft: () => number,
): Promise<{ readonly masked: MaskedRecording; readonly replay: MaskedReplay }> {
  const { config, pipeline } = facts;
  const defaultMask = await makeDefaultMask();
  const masks = masksOf(config, pipeline, defaultMask);
  const collectors = await maskEvents(masks, recording, timeLeft);
  const withEvents = { ...recording, collectors };
  const replay = await hideSecrets(withEvents, facts, defaultMask, timeLeft);
  const message = messageWithout(() => removedFrom(recording, withEvents), masks, config);
  const reasons = new Map(
    Array.from(recording.reasons, ([name, counts]) => [name, maskedCounts(counts, message)] as const),
  );
  return {
    masked: { ...withEvents, reasons },
    replay: { ...replay, problem: replay.problem && message(replay.problem) },
  };
}

/** Messages that differ only in what is masked are the same. */
function maskedCounts(
  counts: ReadonlyMap<string, number>,
  masked: (message: string) => string,
): ReadonlyMap<string, number> {
  const result = new Map<string, number>();
  for (const [reason, count] of counts) {
    const shown = masked(reason);
    result.set(shown, (result.get(shown) ?? 0) + count);
  }
  return result;
}

function messageWithout(
  removed: () => ReadonlySet<string>,
  masks: readonly Processor[],
  config: AnalyticsConfig,
): (message: string) => string {
  const masked = messageMask(masks);
  const withoutVariables = withholderFor(config);
  let all: ReadonlySet<string> | undefined;
  return (message) => {
    all ??= removed();
    const quoted = [...all].filter((value) => escapedForms(value).some((form) => message.includes(form)));
    const hidden = quoted.map((value) => ({ name: '', value, shown: HIDDEN }));
    return masked(withhold(withoutVariables(message), hidden));
  };
}

/** What masks have removed from events; of an event that is not shown, all strings that it has. */
function removedFrom(recording: Recording, masked: MaskedRecording): ReadonlySet<string> {
  const removed = new Set<string>();
  for (const [name, runs] of recording.collectors) {
    for (const [index, { events }] of runs.entries()) {
      for (const [position, { event }] of events.entries()) {
        const shown = masked.collectors.get(name)?.[index]?.events[position];
        const pairs = shown?.isHidden === false ? differences(event.data, shown.value.data) : undefined;
        const texts = pairs ?? stringsIn(event.data).map((text) => [text, ''] as const);
        for (const text of texts.flatMap(removedTexts)) removed.add(text);
      }
    }
  }
  return removed;
}

/** What of a string is not in the other one: all between their common start and end, and each word of that. */
function removedTexts([before, after]: readonly [before: string, after: string]): string[] {
  const characters = [...before];
  const { head, tail } = inCommon(characters, [...after]);
  const middle = characters.slice(head, characters.length - tail).join('');
  const words = before.split(/[\s"'`,;:=&?(){}[\]<>\\]+/).filter((word) => !after.includes(word));
  return [middle, ...words];
}

function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}

/** Rounds in which masks look at the recorded events: replacing one secret may show another one. */
const MAX_ROUNDS = 4;

/**
 * Replays a masked recording until masks find nothing more in it: what they find is replaced where it was collected, and an
 * event in which it cannot be found is hidden. Returns the last replay.
 */
async function hideSecrets(
  recording: MaskedRecording,
  facts: RecordingFacts,
  redact: Processor,
  timeLeft: () => number,
): Promise<MaskedReplay> {
  const { config, pipeline } = facts;
  const all = allEvents(recording);
  const last = config.processors[config.pipelines[pipeline]?.process?.at(-1) ?? ''];
  const isLast = last !== undefined && hasSettingsOf(last, redact);
  const hasOthers = hasOtherProcessors(config, pipeline);
  // What masks alone leave of masked events has no secrets.
  const defaultMask = isLast || !hasOthers ? undefined : redact;
  const search = { config, pipeline, defaultMask, asksMasks: !masksComeFirst(config, pipeline) };
  const outputSearch = new OutputSearch(defaultMask);
  const forwarders = forwarderNames(config, pipeline);
  const replay = async () => {
    // Between two replays, pipelines of this process have a turn.
    await firstValueFrom(timer(0));
    const found: MaskFinding[] = [];
    const watched = watchMasks(config, pipeline, (finding) => found.push(finding), timeLeft);
    const { originOf, seen } = watched;
    const replayed = replayRecording(
      watched.config,
      (lastRunStartsAt) => makeTest(recording, facts, lastRunStartsAt),
      timeLeft,
    );
    const output = replayed.run && outputSearch.findingsIn(replayed.run, forwarders, originOf);
    const findings = () => {
      // Of an event that was delivered, masks have seen all, unless something that was made of it went no further.
      const lost = new Set(lostEvents(replayed.run).map((event) => originOf(event).data));
      const isDelivered = ({ value: { data } }: ShownEvent) =>
        output?.delivered.has(data) === true && !lost.has(data);
      const others = all.filter((event) => !event.isHidden && !isDelivered(event));
      return [
        ...(search.asksMasks ? found : []),
        ...(output?.findings ?? []),
        ...findingsInEvents(others, search, seen, timeLeft),
      ];
    };
    return { ...replayed, unmasked: output?.unmasked ?? new Set<string>(), findings };
  };
  let replayed = await replay();
  if (hasOthers) {
    let isClean = false;
    // Masks that come first have seen the events, also if they cannot be replayed.
    const isLookedAt = () => replayed.run !== undefined || !search.asksMasks;
    for (let round = 1; round <= MAX_ROUNDS && isLookedAt() && !isClean; round++) {
      isClean = !hideFindings(replayed.findings(), all, round) && timeLeft() > 0;
      if (!isClean && timeLeft() > 0) replayed = await replay();
    }
    if (!isClean) {
      for (const event of all) hideEvent(event);
      replayed = await replay();
    }
  }
  const { test, run, problem, unmasked } = replayed;
  return { test, run, problem, unmasked };
}

/** Events that were dropped, or that a plugin failed on. */
function lostEvents(run: PipelineRun | undefined): CollectedEvent[] {
  const marks = run?.trace.rows.flatMap(({ marks }) => marks) ?? [];
  return marks.flatMap((mark) => ('event' in mark && mark.kind !== 'event' ? mark.event : []));
}

/** What masks find in each event on its own. One that cannot be looked at, and that no mask has seen, is a finding too. */
function findingsInEvents(
  events: readonly ShownEvent[],
  options: ConstructorParameters<typeof EventSearch>[0],
  seen: ReadonlySet<object>,
  timeLeft: () => number,
): MaskFinding[] {
  const search = new EventSearch(options);
  const mustBeSeen = options.asksMasks;
  const findings = events.flatMap((event): readonly MaskFinding[] => {
    const { data } = event.value;
    const unseen = mustBeSeen && !seen.has(data) ? [{ data, replaced: undefined, lines: undefined }] : [];
    return timeLeft() === 0 ? [] : (search.findingsIn(event) ?? unseen);
  });
  search.end();
  return findings;
}

/** Whether every mask sees the events as they were collected, so that a recording is masked as the pipeline masks. */
function masksComeFirst(config: AnalyticsConfig, pipeline: string): boolean {
  const names = config.pipelines[pipeline]?.process ?? [];
  const masks = maskNames(config, pipeline);
  return masks.every((name, index) => name === names[index]);
}

/** Whether something makes other events of those that were masked when they were collected. */
function hasOtherProcessors(config: AnalyticsConfig, pipeline: string): boolean {
  return maskNames(config, pipeline).length < (config.pipelines[pipeline]?.process ?? []).length;
}
