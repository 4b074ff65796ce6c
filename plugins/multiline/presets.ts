/** A line in one of these states is followed by one that matches, in the state `to`. */
export interface Rule {
  readonly from: readonly string[];
  readonly match: RegExp;
  readonly to: string;
  /**
   * `certain`: the line belongs to the trace, and so do all that wait. `pending`: it waits for a line that is certain.
   * `as before`: it waits if the line before it does.
   */
  readonly certainty: 'certain' | 'as before' | 'pending';
}

/** What a line is that no rule matches, and that begins neither a record of the log nor another trace. */
interface Text {
  /** Default: the same state. */
  readonly to?: string;
  /** Whether the line belongs to the trace. Default: if a line that is certain follows. */
  readonly isCertain?: boolean;
  /** Whether the trace may end with such lines. */
  readonly isLast?: boolean;
}

interface Start {
  readonly match: RegExp;
  readonly to: string;
  /** Whether the runtime prints an empty line before it. */
  readonly followsEmptyLine?: boolean;
}

/**
 * How a runtime writes its stack traces. All expressions are anchored, or begin with a literal, and look at a bounded part
 * of a line. None of them backtracks over more than that part once.
 */
export interface Preset {
  /**
   * One of these is in the first line of a trace; for a candidate, in the line that shows that it is one. Strings that begin
   * with a rare character are found fastest.
   */
  readonly hints: readonly (string | RegExp)[];
  /** First lines, after what the log puts in front of every line. */
  readonly starts: readonly Start[];
  /** A first line that begins with the exception, not with a record of the log. Default: what `starts` matches. */
  readonly head?: RegExp;
  /** Lines that begin a trace only if one of the next lines shows it. A log may have many of them. */
  readonly candidates?: readonly Start[];
  readonly rules: readonly Rule[];
  readonly text: Readonly<Record<string, Text>>;
}

const certainty =
  (certainty: Rule['certainty']) =>
  (from: string | readonly string[], match: RegExp, to: string): Rule => ({
    from: [from].flat(),
    match,
    to,
    certainty,
  });
const certain = certainty('certain');
const asBefore = certainty('as before');
const pending = certainty('pending');
const start = (match: RegExp, to: string): Start => ({ match, to });
const startAfterEmptyLine = (match: RegExp, to: string): Start => ({ match, to, followsEmptyLine: true });

/** `name: message`, and further lines of the message. */
const HEAD = 'head';
const FRAMES = 'frames';
/** No more than a few known lines follow. */
const END = 'end';
/** A name that is not known to be one of an exception. */
export const CANDIDATE = 'candidate';

const EMPTY = /^[\t ]*$/;
/** Frames after a candidate: what all of them have is a hint. */
const AT_FRAME = /^(?:\t+| {2,})at /;
const AT = / {2}at /;
const INDENTED = /^[\t ]+\S/;

const java: Preset = {
  hints: ['xception', 'Error', 'Throwable', '\tat ', AT],
  starts: [
    start(/nested exception is:[\t ]*$/, 'nested'),
    start(/(?:Exception|Error|Throwable)(?:\$[\w$]{1,200})?(?::|[\t ]*$)|^Exception (?:in thread|\[)/, HEAD),
  ],
  head: /^(?:Exception in thread |(?:[\p{L}\w$]{1,100}\.){1,30}[\p{L}\w$]{0,200}(?:Exception|Error|Throwable)(?:\$[\w$]{1,200})?(?::|[\t ]*$))/u,
  candidates: [
    start(
      /^(?:(?:[a-z_][\w$]{0,60}\.){1,20}[A-Z][\w$]{0,120}|[A-Z]\w{0,120}\$[\w$]{1,120})(?:: |[\t ]*$)/,
      CANDIDATE,
    ),
  ],
  rules: [
    certain(
      [HEAD, FRAMES, CANDIDATE],
      /^[\t ]+(?:at |\.\.\. (?:\d|suppressed ))|^at [\w$.<>/@]{1,500}\(|^\.\.\. \d+ (?:more|common frames omitted)$/,
      FRAMES,
    ),
    certain(
      [HEAD, FRAMES],
      /^[\t ]*(?:Caused by|Suppressed|Wrapped by):?.{0,3500}nested exception is:[\t ]*$/,
      'nested',
    ),
    certain([HEAD, FRAMES], /^[\t ]*(?:Caused by|Suppressed|Wrapped by):? /, HEAD),
    certain(
      [HEAD, FRAMES],
      /^[\t ]*(?:[Nn]ested|[Ii]nternal|[Ll]inked) [Ee]xception(?: is)?:[\t ]*$/,
      'nested',
    ),
    certain([HEAD, FRAMES], /^[\t ]*(?:Nested|Internal|Linked) Exception(?: is)?: /, HEAD),
    certain([HEAD, FRAMES], /^[\t *-]*root cause\b.{0,40}$/i, 'nested'),
    asBefore('nested', EMPTY, 'nested'),
    certain([HEAD, FRAMES], /^[\t ]*\[CIRCULAR REFERENCE: ?/, FRAMES),
    // Reactor tells where a chain of operators was put together.
    certain(
      [HEAD, FRAMES],
      /^(?:Error has been observed |Original Stack Trace:|Assembly trace from producer )/,
      FRAMES,
    ),
    asBefore(HEAD, INDENTED, HEAD),
    asBefore(FRAMES, INDENTED, FRAMES),
    pending(HEAD, EMPTY, HEAD),
    pending(FRAMES, EMPTY, FRAMES),
  ],
  text: { [CANDIDATE]: {}, [HEAD]: {}, nested: { to: HEAD, isCertain: true } },
};

/** A name, and a code or another name in brackets, as Node.js writes them. */
const NODE_NAME = String.raw`(?:Uncaught |Unhandled )?(?=[A-Z][\w$]{0,100}[a-z])[A-Z][\w$]{0,120}(?: \[[\w .$-]{1,100}\])?(?:: |:?$)`;

const node: Preset = {
  hints: [
    'xception',
    'Error',
    'Rejection',
    'Uncaught:',
    'Warning: ',
    'FATAL ERROR: ',
    '<--- ',
    '^',
    '\tat ',
    AT,
  ],
  starts: [
    start(/^\((?:node|electron):\d+\) /, CANDIDATE),
    startAfterEmptyLine(/^FATAL ERROR: |^<--- Last few GCs --->$/, 'native'),
    start(/^\[[\w$]{0,100}(?:Error|Exception|Rejection)\b.{0,3000}\] \{$/, 'fields'),
    start(/^Uncaught:$/, 'caret'),
    start(/(?:Error|Exception)(?: \[[\w .$-]{1,100}\])?(?::|$)/, HEAD),
  ],
  head: /^(?:Uncaught )?[\w$]{0,100}(?:Error|Exception)(?: \[[\w .$-]{1,100}\])?(?::|$)/,
  candidates: [
    startAfterEmptyLine(
      /^(?:\S.{0,1000}\.[cm]?[jt]sx?|node:[\w/]{1,200}|evalmachine\.<anonymous>|\[(?:eval|stdin|worker eval)\](?:-wrapper|\d)?):\d+$/,
      'source',
    ),
    start(new RegExp(`^(?:(?:ERROR|WARN|error|warn):? )?${NODE_NAME}`), CANDIDATE),
  ],
  rules: [
    certain('source', /^[\t ]*\^+[\t ]*$/, 'caret'),
    certain('caret', EMPTY, 'caret'),
    certain([HEAD, FRAMES], /^[\t ]+at /, FRAMES),
    certain(CANDIDATE, AT_FRAME, FRAMES),
    certain([HEAD, FRAMES, CANDIDATE], /^\(Use `\w+ --trace-/, FRAMES),
    certain([HEAD, FRAMES, 'fields'], /^(?:Thrown at:|Emitted 'error' event .{0,200}at:)$/, FRAMES),
    // The properties of an error follow its frames in braces.
    certain([HEAD, FRAMES, 'fields'], /^[\t ]+(?:\[(?:cause|errors)\]: |[\]}])/, 'fields'),
    certain([HEAD, FRAMES, 'fields'], /^[\]}]+;?$/, FRAMES),
    asBefore([FRAMES, 'fields'], INDENTED, 'fields'),
    asBefore(HEAD, INDENTED, HEAD),
    certain([HEAD, FRAMES, 'fields'], /^Node\.js v\d/, END),
    pending(HEAD, EMPTY, HEAD),
    pending(FRAMES, EMPTY, FRAMES),
    pending('fields', EMPTY, 'fields'),
    certain('native', /^(?:<--- |-{3,} |FATAL ERROR: |\[\d+:0x| ?\d+: 0x|[\t ]+\S)/, 'native'),
    pending('native', EMPTY, 'native'),
  ],
  text: { [CANDIDATE]: {}, [HEAD]: {}, source: {}, caret: { to: HEAD, isCertain: true } },
};

/** Not a level, as in `ERROR:root:message`. A class may lie in a function, and its name may have any letters. */
const PYTHON_NAME = String.raw`(?!(?:DEBUG|INFO|WARN|WARNING|ERROR|CRITICAL|FATAL):)[\p{L}_][\p{L}\p{M}\p{N}_.<>-]{0,500}`;

const python: Preset = {
  hints: [
    'Traceback (',
    'RemoteTraceback',
    'xception',
    'Error',
    'Warning: ',
    '(most recent call first)',
    'File "',
    'Logging error',
    'Fatal Python',
  ],
  starts: [
    start(/^[\t |]*\+ Exception Group Traceback \(most recent call last\):$/, 'group'),
    start(/(?:^|[\t |+])Traceback \(most recent call last\):$/, FRAMES),
    start(/^[\w.]{0,300}RemoteTraceback:[\t ]*$/, 'remote'),
    start(/^--- Logging error ---$|^Exception ignored (?:in|on)\b|^Exception in thread /, 'announced'),
    start(
      /\b(?:Task|Future) exception was never retrieved$|\bException in callback |^unhandled exception during asyncio/,
      'announced',
    ),
    start(/^ {2}File ".{1,1000}", line \d+$/, FRAMES),
    start(/^ {2}File ".{1,1000}", line \d+, in /, 'stack'),
    start(/^╭─+ Traceback \(most recent call last\) ─+╮$/, FRAMES),
    start(
      /^Fatal Python error: |^(?:Current thread|Thread) 0x[\da-f]+ .{0,100}\(most recent call first\):$/,
      'fatal',
    ),
    start(/^\S.{0,1000}:\d+: \w{1,100}Warning: /, 'warning'),
    // A cause that was never raised has no traceback of its own.
    start(
      new RegExp(`^(?=.{0,500}?(?:Error|Exception|Warning)(?::|$))${PYTHON_NAME}(?::|$)`, 'u'),
      CANDIDATE,
    ),
  ],
  rules: [
    certain(
      ['raised', 'chained', CANDIDATE],
      /^(?:During handling of the above|The above exception was)/,
      'chained',
    ),
    asBefore('chained', EMPTY, 'chained'),
    certain(['announced', 'chained'], /^Traceback \(most recent call last\):$/, FRAMES),
    certain('chained', /^[\w.]{0,300}RemoteTraceback:[\t ]*$/, 'remote'),
    certain(['chained', 'group'], /^ +[|+]/, 'group'),
    certain('stack', INDENTED, 'stack'),
    certain(
      'announced',
      /^(?:future|handle|source_traceback|task|transport|protocol|context): /,
      'announced',
    ),
    certain('announced', INDENTED, 'announced'),
    certain('remote', /^"""$/, 'quoted'),
    certain('quoted', /^"""$/, 'raised'),
    certain(FRAMES, /^(?:[\t │╭╰╮╯┃]|> File ")/, FRAMES),
    certain([FRAMES, 'chained'], new RegExp(`^${PYTHON_NAME}(?::|$)`, 'u'), 'raised'),
    // What `logging` adds when it fails.
    certain('raised', /^Call stack:$/, FRAMES),
    certain([FRAMES, 'raised'], /^(?:Message: |Arguments: )/, 'raised'),
    asBefore('raised', INDENTED, 'raised'),
    certain(
      'fatal',
      /^(?:Current thread|Thread) 0x|^(?:[\t ]+|<)\S|^(?:Python runtime state|Extension modules): /,
      'fatal',
    ),
    certain('warning', INDENTED, 'warned'),
    certain(['warning', 'warned'], /^RuntimeWarning: Enable tracemalloc /, END),
    pending([FRAMES], EMPTY, FRAMES),
    pending('raised', EMPTY, 'raised'),
    pending('fatal', EMPTY, 'fatal'),
    pending(CANDIDATE, EMPTY, CANDIDATE),
    certain('quoted', EMPTY, 'quoted'),
  ],
  text: { raised: { isLast: true }, quoted: { isCertain: true }, group: {}, [CANDIDATE]: {} },
};

const go: Preset = {
  hints: ['panic', 'goroutine ', 'fatal error: ', 'runtime: ', '=========', 'SIG', 'unexpected fault', '\t/'],
  starts: [
    start(
      /^(?:panic|fatal error|runtime): |\bpanic serving |\bObserved a panic\b|^unexpected fault address 0x|^SIG[A-Z]{2,8}: /,
      'panic',
    ),
    start(/(?:^|[\t ])goroutine \d+ [^\n]{0,200}\]:$/, 'goroutine'),
    start(/\bpanic recovered:/, 'gin'),
    start(/^={18}$/, 'race'),
  ],
  // zap writes frames without parentheses.
  candidates: [start(/^[a-z][\w./-]{0,300}\.[\w.()*[\]-]{1,200}$/, CANDIDATE)],
  rules: [
    certain(
      'panic',
      /^(?:\[?panic: |fatal error: |runtime: |SIG[A-Z]{2,8}: |PC=0x|signal arrived |\t)/,
      'panic',
    ),
    certain(['panic', 'goroutine'], /^(?:\[signal |goroutine \d|runtime stack:$)/, 'goroutine'),
    certain('goroutine', /^(?:\t|\.\.\.|runtime: )/, 'goroutine'),
    certain('frame', /^\t/, 'goroutine'),
    certain('frame', /^\.\.\./, 'goroutine'),
    certain(CANDIDATE, /^\t\S{1,1000}\.(?:go|s):\d+/, 'goroutine'),
    asBefore('goroutine', /^(?:(?=.{0,4095}\)$)[^\s:(]{1,1000}\(|created by \S)/, 'frame'),
    pending('goroutine', /^[\w./-]{1,500}\.[\w.()*[\]-]{1,200}$/, 'frame'),
    // Registers, after a signal.
    certain('goroutine', /^(?:[a-z]{1,6}\d{0,2}) {1,6}0x[\da-f]+$/, 'goroutine'),
    certain('goroutine', /^exit status \d+$/, END),
    pending('panic', EMPTY, 'panic'),
    pending('goroutine', EMPTY, 'goroutine'),
    certain('gin', /^\S.{0,1000}:\d+ \(0x[\da-f]+\)$/, 'gin'),
    asBefore('gin', INDENTED, 'gin'),
    pending('gin', EMPTY, 'gin'),
    certain('race', /^WARNING: DATA RACE$/, 'raced'),
    certain(
      'raced',
      /^(?:[\t ]+\S|(?:Previous )?(?:[Aa]tomic )?(?:[Rr]ead|[Ww]rite) (?:at|of) |Goroutine \d|\[failed)/,
      'raced',
    ),
    certain('raced', /^={18}$/, 'race over'),
    pending('raced', EMPTY, 'raced'),
    certain('race over', /^(?:Found \d+ data race|exit status )/, 'race over'),
  ],
  text: { panic: {}, gin: {} },
};

/** A frame. What `in` names is in quotes: the first one was a backtick before Ruby 3.4. */
const RUBY_FRAME = String.raw`\S.{0,1000}?:\d+:in [\`'][^\`']{0,500}'`;
const RUBY_HEAD = new RegExp(`^${RUBY_FRAME}: `);
const RUBY_HEAD_AND_CLASS = new RegExp(String.raw`^(?=.{0,4095}\([A-Z][\w:]{0,200}\)$)${RUBY_FRAME}: `);
/** Raised while another exception was handled: Ruby prints that one after it, in the form of another trace. */
const RUBY_FRAME_OF_RESCUE = String.raw`\S.{0,1000}?:\d+:in [\`'](?:rescue|ensure) in [^\`']{0,500}'`;
const RUBY_STATES = [HEAD, 'raised', FRAMES] as const;
/** The states of a trace in a rescue, after which its cause may follow. */
const RUBY_STATES_OF_RESCUE = ['head of rescue', 'raised of rescue', 'frames of rescue'] as const;

const ruby: Preset = {
  hints: [':in `', ":in '", 'xception', 'Error', '::', 'Traceback (', '--> ', 'syntax error'],
  starts: [
    start(/^Traceback \(most recent call last\):$/, 'announced'),
    start(/terminated with exception \(report_on_exception is true\):$/, 'announced'),
    start(new RegExp(`^${RUBY_FRAME_OF_RESCUE}: `), 'raised of rescue'),
    start(RUBY_HEAD_AND_CLASS, 'raised'),
    start(RUBY_HEAD, HEAD),
    start(/^\S.{0,1000}:\d+: syntax errors? |^\S.{0,1000}: --> \S/, HEAD),
    start(
      /(?:^|[\s(])(?:[A-Z]\w{0,100}::){1,10}[A-Z]\w{0,100}(?: \(|: )|(?:Error|Exception)(?: \(|: |:?$)|#<[A-Z][\w:]{0,200}(?:Error|Exception)/,
      HEAD,
    ),
  ],
  head: new RegExp(String.raw`^(?:${RUBY_FRAME}: |(?:[A-Z]\w{0,100}::){0,10}[A-Z]\w{0,100} \(.{0,4095}\):$)`),
  rules: [
    certain('announced', /^[\t ]+\d+: from /, 'announced'),
    certain(['announced', 'frames of rescue'], new RegExp(`^${RUBY_FRAME_OF_RESCUE}: `), 'raised of rescue'),
    certain(['announced', 'frames of rescue'], RUBY_HEAD_AND_CLASS, 'raised'),
    certain(['announced', 'frames of rescue'], RUBY_HEAD, HEAD),
    certain(
      [...RUBY_STATES, ...RUBY_STATES_OF_RESCUE],
      new RegExp(`^[\\t ]*(?:from )?${RUBY_FRAME_OF_RESCUE}$`),
      'frames of rescue',
    ),
    ...[RUBY_STATES, RUBY_STATES_OF_RESCUE].flatMap(([head, raised, frames]) => [
      certain([head, raised, frames], new RegExp(`^[\\t ]*(?:from )?${RUBY_FRAME}$`), frames),
      certain([head, raised, frames], /^[\t ]+(?:from |\.\.\. ?\d+ levels)/, frames),
      certain([head, raised, frames], /^Caus(?:es|ed by):$/, 'causes'),
      certain([head, raised, frames], /^Caused by:? /, head),
      // Rails shows no method of a view.
      certain([head, raised, frames], /^[\t ]*[^\s:]{1,500}\.(?:e?rb|haml|slim|jbuilder|ru):\d+$/, frames),
      // What `error_highlight` and `did_you_mean` add to a message.
      certain([head, raised], /^[\t ]*[\^~]+[\t ]*$|^Did you mean\?|^[\t >]*\d{0,6} \|/, raised),
      ...[head, raised].flatMap((state) => [asBefore(state, INDENTED, state), pending(state, EMPTY, state)]),
      pending(frames, EMPTY, frames),
    ]),
  ],
  text: {
    [HEAD]: {},
    'head of rescue': {},
    raised: { isLast: true },
    'raised of rescue': { isLast: true },
    causes: { to: HEAD, isCertain: true },
  },
};

const dotnet: Preset = {
  hints: ['xception', 'Error', 'Process terminated', 'Fatal error', 'Stack overflow', '\tat ', AT],
  starts: [
    startAfterEmptyLine(/^Unhandled [Ee]xception[.:]$/, 'announced'),
    start(/^Unhandled [Ee]xception[.:] |^(?:Process terminated|Fatal error|Stack overflow)\./, HEAD),
    start(/(?:Exception|Error)(?:`\d{1,2})?(?:\[.{1,200}\])?(?: \([^)]{0,200}\))?(?:: |:?$)/, HEAD),
  ],
  head: /^[\t ]*(?:Unhandled [Ee]xception[.:]?(?: |$)|(?:[\p{L}\w`]{1,100}[.+]){1,30}[\p{L}\w]{0,200}(?:Exception|Error)(?:`\d{1,2})?(?:\[.{1,200}\])?(?: \([^)]{0,200}\))?(?:: |:?$))/u,
  candidates: [start(/^(?:[A-Z][\w`]{0,60}[.+]){1,20}[A-Z][\w`]{0,120}(?: \([^)\n]{0,100}\))?: /, CANDIDATE)],
  rules: [
    certain([HEAD, FRAMES], /^[\t ]+(?:at |--- End of )/, FRAMES),
    certain(CANDIDATE, AT_FRAME, FRAMES),
    certain([HEAD, FRAMES], /^--- End of /, FRAMES),
    certain([HEAD, FRAMES], /^[\t ]*---> /, HEAD),
    certain(FRAMES, /^<---$/, FRAMES),
    certain([HEAD, FRAMES], /^(?:Repeat \d+ times:|-{16,})$/, FRAMES),
    certain([HEAD, FRAMES], /^\[ERROR\] FATAL UNHANDLED EXCEPTION: /, HEAD),
    certain(HEAD, /^(?:File name|Parameter name|FileName|Fusion log): /i, HEAD),
    certain(
      FRAMES,
      /^(?:ClientConnectionId|Error Number|Server stack trace|Exception rethrown at)\b/,
      FRAMES,
    ),
    certain(HEAD, /^Server stack trace:/, FRAMES),
    asBefore(HEAD, INDENTED, HEAD),
    asBefore(FRAMES, INDENTED, FRAMES),
    pending(HEAD, EMPTY, HEAD),
    pending(FRAMES, EMPTY, FRAMES),
  ],
  text: { [CANDIDATE]: {}, announced: { to: HEAD, isCertain: true }, [HEAD]: {} },
};

const php: Preset = {
  hints: [
    'PHP ',
    'Fatal error: ',
    'fatal error: ',
    'Parse error: ',
    'Core error: ',
    'Compile error: ',
    'xception',
    'Error',
    'Uncaught ',
    '[object] (',
    'Stack trace:',
    '#0 ',
  ],
  starts: [
    start(/\{"exception":"\[object\] \(|^\[object\] \(/, 'monolog'),
    startAfterEmptyLine(/^(?:Fatal|Parse|Recoverable fatal|Catchable fatal) error: /, HEAD),
    start(
      /(?:^|[\t \]"])(?:PHP )?(?:Fatal|Parse|Recoverable fatal|Catchable fatal|Core|Compile) error: |(?:^|[\t \]"])PHP (?:Warning|Notice|Deprecated): /,
      HEAD,
    ),
    start(/^(?:PHP )?(?:exception '|Uncaught )|(?:Exception|Error)(?::|$)/, HEAD),
  ],
  candidates: [start(/^.{0,3000}[\t ]in \S{1,1000}(?::| on line )\d+$/, CANDIDATE)],
  head: /^(?:PHP )?(?:Fatal|Parse|Recoverable fatal|Catchable fatal) error: /,
  rules: [
    certain([CANDIDATE, HEAD, FRAMES, 'thrown'], /^(?:PHP )?(?:Stack trace|Call Stack):$/, FRAMES),
    certain(CANDIDATE, /^#0 /, FRAMES),
    certain([HEAD, FRAMES], /^#\d+ /, FRAMES),
    certain(FRAMES, /^(?:PHP)? +\d+\.(?:\d+ +\d+ +\d+\.)? /, FRAMES),
    certain(FRAMES, /^Next \S/, HEAD),
    certain([HEAD, FRAMES], /^[\t ]+thrown in /, 'thrown'),
    certain(['monolog'], /^\[(?:stacktrace|previous exception)\]/, 'monolog'),
    certain('monolog', /^#\d+ /, 'monolog'),
    certain('monolog', /^"\}/, END),
    pending('monolog', EMPTY, 'monolog'),
    asBefore(HEAD, INDENTED, HEAD),
    pending(HEAD, EMPTY, HEAD),
    pending([FRAMES, 'thrown'], EMPTY, FRAMES),
  ],
  text: { [HEAD]: {}, monolog: {} },
};

const rust: Preset = {
  hints: [
    'panicked',
    'Error: ',
    'ERROR',
    'WARN',
    'Stack backtrace:',
    'stack backtrace:',
    'overflowed its stack',
    'fatal runtime error',
    'memory allocation of',
  ],
  starts: [
    startAfterEmptyLine(/^thread '.{0,500}' (?:\(\d+\) )?panicked at .{0,2000}:$/, 'panicked'),
    startAfterEmptyLine(
      /^thread '.{0,500}' (?:\(\d+\) )?(?:panicked at |has overflowed its stack)|^The application panicked \(crashed\)\./,
      HEAD,
    ),
    start(/^(?:fatal runtime error: |memory allocation of \d+ bytes failed)/, HEAD),
    start(/^Error:(?: |$)/, 'error'),
    start(/\b(?:ERROR|WARN)\b/, 'error record'),
    start(/^[Ss]tack backtrace:$/, FRAMES),
  ],
  head: /^thread '.{0,500}' (?:\(\d+\) )?panicked at /,
  rules: [
    certain(
      ['panicked', 'message', HEAD, FRAMES],
      /^(?:note: |fatal runtime error: |thread caused |thread panicked |Aborted)/,
      FRAMES,
    ),
    certain(['panicked', 'message', HEAD, FRAMES, 'error', 'error record'], /^[Ss]tack backtrace:$/, FRAMES),
    certain(
      [HEAD, 'message', FRAMES, 'error', 'error record'],
      /^(?:Caused by|Location|Causes|Backtrace):?$/,
      FRAMES,
    ),
    certain(
      [HEAD, FRAMES, 'error'],
      /^(?:Message: |Location: |Metadata: |Backtrace omitted|Run with |(?:Note|Suggestion|Warning|Error|Help): | {2}[━═]{3})/,
      FRAMES,
    ),
    certain('panicked', EMPTY, 'message'),
    certain('error', /^\}$/, FRAMES),
    asBefore('message', INDENTED, 'message'),
    asBefore(HEAD, INDENTED, HEAD),
    asBefore('error', INDENTED, 'error'),
    certain(FRAMES, INDENTED, FRAMES),
    ...[HEAD, 'message', FRAMES, 'error', 'error record'].map((state) => pending(state, EMPTY, state)),
  ],
  text: {
    panicked: { to: 'message', isCertain: true },
    message: { isLast: true },
    [HEAD]: {},
    error: { isLast: true },
  },
};

/** Stack traces as the runtimes write them. A trace begins with its exception, not with the line of the log before it. */
export const PRESETS = { java, node, python, go, ruby, dotnet, php, rust } as const satisfies Record<
  string,
  Preset
>;
export type PresetName = keyof typeof PRESETS;
