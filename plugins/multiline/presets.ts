/** A line in this state is followed by one that matches, in the state `to`. */
interface Rule {
  readonly from: readonly string[];
  readonly match: RegExp;
  readonly to: string;
}

interface Preset {
  /** How a stack trace begins: literals of which its first line has one, and what that line looks like. */
  readonly start: RegExp;
  readonly to: string;
  readonly rules: readonly Rule[];
}

const rule = (from: string | readonly string[], match: RegExp, to: string): Rule => ({
  from: [from].flat(),
  match,
  to,
});

/** `name: message`. */
const HEAD = 'head';
const FRAMES = 'frames';

/**
 * The message goes on: empty or indented lines, and the comparisons of assertions. Other lines at the start of a line may
 * just as well be the next ones of the log.
 */
const message = rule(HEAD, /^[\t ]*$|^[\t ]+\S|^[+-] |^.+ !==? .+$/, HEAD);

/** Stack traces as the runtimes write them. A trace begins with its exception, not with the line of the log before it. */
export const PRESETS = {
  java: {
    start: /(?:Exception|Error|Throwable)(?::|$)|^Exception in thread /,
    to: HEAD,
    rules: [
      rule([HEAD, FRAMES], /^[\t ]+(?:at |\.\.\. \d+ (?:more|common frames omitted))/, FRAMES),
      rule([HEAD, FRAMES], /^[\t ]*(?:Caused by|Suppressed): /, HEAD),
      rule([HEAD, FRAMES], /^[\t ]*\[CIRCULAR REFERENCE: ?/, FRAMES),
      message,
    ],
  },
  node: {
    start: /(?:Error|Exception)(?: \[[A-Z_0-9]+\])?(?::|$)/,
    to: HEAD,
    rules: [
      rule([HEAD, FRAMES], /^[\t ]+at /, FRAMES),
      rule([HEAD, FRAMES], /^[\t ]*\[(?:cause|errors)\]: /, HEAD),
      // The fields of an error follow its frames in braces.
      rule([FRAMES, 'fields'], /^(?:[\t ]+\S|\})/, 'fields'),
      message,
    ],
  },
  python: {
    start: /(?:^|[\t ])Traceback \(most recent call last\):$/,
    to: FRAMES,
    rules: [
      rule(['raised', 'chained'], /^(?:During handling of|The above exception was)/, 'chained'),
      rule(['raised', 'chained'], /^$/, 'chained'),
      rule(['raised', 'chained'], /^Traceback \(most recent call last\):$/, FRAMES),
      rule(FRAMES, /^[\t ]/, FRAMES),
      rule(FRAMES, /^[\w.]+(?::|$)/, 'raised'),
    ],
  },
  go: {
    start: /^(?:panic|fatal error|runtime): |\bpanic serving /,
    to: 'panic',
    rules: [
      rule(['panic', 'goroutine'], /^(?:\[signal |\tpanic: |panic: |goroutine \d+ )/, 'goroutine'),
      rule(['panic', 'goroutine'], /^$/, 'goroutine'),
      rule('goroutine', /^(?:[^\s:]+\(.*\)|created by \S.*)$/, 'frame'),
      rule('frame', /^\t/, 'goroutine'),
      rule('goroutine', /^exit status \d+$/, 'exit'),
    ],
  },
  ruby: {
    start: /^\S.*:\d+:in [`'].*: .*\(\S+\)$|(?:Error|Exception)(?: \(.*\))?:?$/,
    to: HEAD,
    rules: [
      rule([HEAD, FRAMES], /^[\t ]+(?:\d+: )?from /, FRAMES),
      rule([HEAD, FRAMES], /^[\t ]+\S.*:\d+:in [`']/, FRAMES),
      rule(HEAD, /^[\t ]*$/, HEAD),
    ],
  },
  dotnet: {
    start: /^Unhandled exception[.:] |(?:Exception|Error): /,
    to: HEAD,
    rules: [
      rule([HEAD, FRAMES], /^[\t ]+(?:at |--- End of )/, FRAMES),
      rule([HEAD, FRAMES], /^--- End of stack trace /, FRAMES),
      rule([HEAD, FRAMES], /^[\t ]*---> /, HEAD),
      message,
    ],
  },
} as const satisfies Record<string, Preset>;

export type PresetName = keyof typeof PRESETS;

export interface TraceState {
  readonly preset: PresetName;
  readonly name: string;
}

/** The state of the first line of a stack trace; undefined for any other line. */
export function beginTrace(names: readonly PresetName[], line: string): TraceState | undefined {
  const preset = names.find((name) => PRESETS[name].start.test(line));
  return preset && { preset, name: PRESETS[preset].to };
}

/** The state of a line that continues a stack trace; undefined for any other line. */
export function continueTrace({ preset, name }: TraceState, line: string): TraceState | undefined {
  const rules: readonly Rule[] = PRESETS[preset].rules;
  const found = rules.find(({ from, match }) => from.includes(name) && match.test(line));
  return found && { preset, name: found.to };
}

/** Tells of many lines whether one of them may begin a stack trace. */
export function traceFinder(names: readonly PresetName[]): (lines: string) => boolean {
  const starts = names.map((name) => new RegExp(PRESETS[name].start.source, 'm'));
  return (lines) => starts.some((start) => start.test(lines));
}
