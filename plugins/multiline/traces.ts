import { isRecord, LINE_PREFIX, type LogLine, readLine } from './log-line.ts';
import { CANDIDATE, PRESETS, type Preset, type PresetName, type Rule } from './presets.ts';

/** The maximum number of lines that wait for a line that decides whether they belong to a trace. */
const MOST_PENDING = 100;
/** The maximum after a line that may also be a line of the log. */
const MOST_AFTER_CANDIDATE = 8;
/** The maximum number of further lines of a message at the end of a trace. */
const MOST_OF_LAST_MESSAGE = 25;

/** What a trace is after one of its lines. */
export interface TraceState {
  /** The state of each preset whose trace this may be. */
  readonly states: ReadonlyMap<PresetName, string>;
  /** What the log puts in front of its lines: nothing, something, or something right before the exception. */
  readonly prefixed: 'no' | 'yes' | 'at head';
  /** Whether no line has shown yet that it is one. */
  readonly isCandidate: boolean;
  /** How many lines wait for one that says that they belong to the trace. */
  readonly pending: number;
  /** Whether no line but the first one has come, or the one before it that leads to it. */
  readonly isFirst: boolean;
}

interface TraceOptions {
  readonly presets: readonly PresetName[];
  /** Whether the line before a trace belongs to it. */
  readonly hasLead: boolean;
}

/** The state of an empty line that may be the first one of a trace. */
const EMPTY_LINE = 'empty line';

const LEAD: TraceState = { states: new Map(), prefixed: 'no', isCandidate: true, pending: 0, isFirst: true };

/** Tells which lines are a stack trace. Each line is looked at once, by the presets that its trace may still be of. */
export function traceRecognizer({ presets, hasLead }: TraceOptions) {
  const all: readonly [PresetName, Preset][] = presets.map((name) => [name, PRESETS[name]]);
  // Colours may lie within what a hint looks for.
  const hints = [...new Set([...all.flatMap(([, preset]) => preset.hints), '\x1b', '#011'])];
  const candidates = all.flatMap(([, preset]) => [
    ...(preset.candidates ?? []).map(({ match }) => match.source.slice(1)),
    ...(mayFollowEmptyLine(preset) ? ['$'] : []),
  ]);
  const candidate =
    candidates.length === 0 ? undefined : new RegExp(`${LINE_PREFIX}(?:${candidates.join('|')})`, 'my');

  /**
   * Whether one of these lines may begin a trace. A candidate does only if a frame follows soon: that is among these lines,
   * or the candidate is among the last ones.
   */
  const mayBegin = (lines: string): boolean =>
    isHinted(hints, lines) || (candidate !== undefined && hasCandidate(candidate, lines));

  const beginTrace = (line: string): TraceState | undefined => {
    if (!mayBegin(line)) return undefined;
    const { prefix, content } = readLine(line);
    const states = new Map<PresetName, string>();
    let isCandidate = true;
    for (const [name, preset] of all) {
      const start = startOf(preset, content);
      const candidate = start === undefined ? candidateOf(preset, content) : undefined;
      if (start !== undefined) isCandidate = false;
      if (start ?? candidate) states.set(name, (start ?? candidate) as string);
    }
    if (states.size === 0) return undefined;
    const isAtHead = isCandidate || all.some(([, preset]) => isHead(preset, content));
    const prefixed = prefix === '' ? 'no' : isAtHead ? 'at head' : 'yes';
    return { states, prefixed, isCandidate, pending: 0, isFirst: true };
  };

  /** A line of text belongs to a message, unless it begins a record of the log or another trace. */
  const isText = (content: string, { head }: Preset) =>
    !isRecord(content) &&
    head?.test(content) !== true &&
    // Of all presets, those whose first lines are like no others.
    !all.some(
      ([, preset]) =>
        preset.head === undefined &&
        preset.starts.some(({ match, to }) => to !== CANDIDATE && match.exec(content)?.index === 0),
    );

  const continueTrace = (state: TraceState, line: string): TraceState | undefined => {
    const { prefixed, pending } = state;
    const read = readLine(line);
    const content = contentOf(state, read);
    const mayBeText = prefixed !== 'yes' || read.prefix === '';
    const found = new Map<PresetName, readonly [to: string, isPending: boolean]>();
    for (const [name, from] of state.states) {
      const preset: Preset = PRESETS[name];
      if (from === EMPTY_LINE) {
        const { starts, candidates = [] } = preset;
        const start = [...starts, ...candidates].find(
          (each) => each.followsEmptyLine && each.match.test(content),
        );
        if (start !== undefined) found.set(name, [start.to, candidates.includes(start)]);
        continue;
      }
      const rule: Rule | undefined = preset.rules.find(
        (each) => each.from.includes(from) && each.match.test(content),
      );
      if (rule !== undefined) {
        const isPending = rule.certainty === 'pending' || (rule.certainty === 'as before' && pending > 0);
        found.set(name, [rule.to, isPending]);
        continue;
      }
      const ofText = preset.text[from];
      if (ofText === undefined) continue;
      const belongs = ofText.isCertain ? !isRecord(content) : mayBeText && isText(content, preset);
      if (belongs) found.set(name, [ofText.to ?? from, ofText.isCertain !== true]);
    }
    const isPending = [...found.values()].every((each) => each[1]);
    const states = new Map(Array.from(found, ([name, [to]]) => [name, to] as const));
    const most = state.isCandidate ? MOST_AFTER_CANDIDATE : MOST_PENDING;
    if (states.size === 0 || (isPending && pending === most)) return undefined;
    const isCandidate = state.isCandidate && isPending;
    return { states, prefixed, isCandidate, pending: isPending ? pending + 1 : 0, isFirst: false };
  };

  /** Whether the first line of a trace belongs to the line before it. */
  const afterLead = (line: string): TraceState | undefined => {
    const state = isRecord(readLine(line).content) ? undefined : beginTrace(line);
    return state && { ...state, isFirst: false };
  };

  return {
    begin: (line: string) => beginTrace(line) ?? (hasLead ? LEAD : undefined),
    next: (state: TraceState, line: string) =>
      continueTrace(state, line) ?? (hasLead && state.isFirst ? afterLead(line) : undefined),
    isPending: ({ pending }: TraceState) => pending > 0,
    /** The last message of a trace has no end. A record of the log after it shows that the lines between are not of the log. */
    keepsPending: (state: TraceState, line: string) =>
      state.pending <= MOST_OF_LAST_MESSAGE &&
      [...state.states].some(([name, each]) => (PRESETS[name] as Preset).text[each]?.isLast === true) &&
      isRecord(contentOf(state, readLine(line))),
    mayBegin: hasLead ? () => true : mayBegin,
  };
}

/** A line without what the log puts in front of every line, if the first line of the trace has that. */
const contentOf = ({ prefixed }: TraceState, { prefix, content }: LogLine): string =>
  prefixed === 'no' ? prefix + content : content;

const startOf = ({ hints, starts }: Preset, content: string): string | undefined =>
  isHinted(hints, content) ? starts.find(({ match }) => match.test(content))?.to : undefined;

const candidateOf = (preset: Preset, content: string): string | undefined =>
  content === '' && mayFollowEmptyLine(preset)
    ? EMPTY_LINE
    : preset.candidates?.find(({ match }) => match.test(content))?.to;

const mayFollowEmptyLine = ({ starts, candidates = [] }: Preset): boolean =>
  [...starts, ...candidates].some(({ followsEmptyLine }) => followsEmptyLine);

const isHinted = (hints: Preset['hints'], lines: string): boolean =>
  hints.some((hint) => (typeof hint === 'string' ? lines.includes(hint) : hint.test(lines)));

/** Whether a line is the first one of a trace from its first character on. */
const isHead = ({ head, starts }: Preset, content: string) =>
  head?.test(content) === true || starts.some(({ match }) => match.exec(content)?.index === 0);

/** Whether one of the last lines is a candidate, of which the frame may come with the next lines. */
function hasCandidate(candidate: RegExp, lines: string): boolean {
  for (let count = 0, end = lines.length; count <= MOST_AFTER_CANDIDATE; count++) {
    const start = end === 0 ? 0 : lines.lastIndexOf('\n', end - 1) + 1;
    candidate.lastIndex = start;
    if (candidate.test(lines)) return true;
    if (start === 0) return false;
    end = start - 1;
  }
  return false;
}
