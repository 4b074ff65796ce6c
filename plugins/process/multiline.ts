import * as z from 'zod';
import { MaskError } from '../../operators/index.ts';
import {
  bytes,
  type CollectedEvent,
  defineProcessor,
  integer,
  type LineJoining,
  ProcessConfigBase,
  seconds,
} from '../../src/sdk/index.ts';
import { boundedExpression } from '../expressions/bounded-expression.ts';
import { regularExpression } from '../expressions/schema.ts';
import { CONTAINER_FORMATS, type ContainerFormatName } from '../multiline/container-lines.ts';
import { PRESETS, type PresetName } from '../multiline/presets.ts';
import { type TraceState, traceRecognizer } from '../multiline/traces.ts';
import { TimeLimit } from '../time-limits/bounded-time.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

const trace = z.enum(Object.keys(PRESETS) as PresetName[]);
const container = z.enum(Object.keys(CONTAINER_FORMATS) as ContainerFormatName[]);

/** Other lines of a container may come between the parts of one, and a secret may lie across two parts. */
const SECONDS_FOR_PARTS = 60;

const schema = ProcessConfigBase.extend({
  start: regularExpression()
    .optional()
    .describe('A line that matches begins an event; all others continue one.'),
  continue: regularExpression()
    .optional()
    .describe('A line that matches continues an event; all others begin one.'),
  preset: z
    .union([z.array(trace).min(1), trace.transform((name) => [name]), container])
    .optional()
    .describe(
      'Joins the stack traces of these languages, or the parts of long lines of containers; others stay alone.',
    ),
  lead: integer()
    .min(0)
    .max(1)
    .default(0)
    .describe('Lines of the log before a stack trace that belong to it, such as the one that announces it.'),
  field: z.string().min(1).default('line').describe('The field with the line.'),
  lines: integer().min(2).max(10_000).default(500).describe('The most lines of an event.'),
  bytes: bytes()
    .min(KIB)
    .max(16 * MIB)
    .default(MIB)
    .describe('The most bytes of an event.'),
  seconds: seconds()
    .gt(0)
    .max(3600)
    .optional()
    .describe(
      'Seconds after its first line at which an event leaves, whatever may follow. Default: 1, for `cri` and `docker` 60.',
    ),
}).check((ctx) => {
  const { start, continue: continued, preset, lead } = ctx.value;
  const fail = (message: string) => ctx.issues.push({ code: 'custom', input: ctx.value, message });
  if ([start, continued, preset].filter((value) => value !== undefined).length !== 1)
    fail('expected exactly one of `start`, `continue` and `preset`');
  else if (lead > 0 && !Array.isArray(preset))
    fail('`lead` is for stack traces: expected a `preset` of a language with it');
});
type Settings = z.output<typeof schema>;

export default defineProcessor({
  description: 'Joins lines that belong together into one event, such as those of a stack trace.',
  example: `
traces:
  plugin: multiline
  preset: [java, python]
`,
  exampleEvents: [
    { given: { line: 'ready' }, gives: [{ line: 'ready' }] },
    { given: { line: 'java.io.IOException: disk full' }, gives: [] },
    {
      given: { line: '\tat app.Main.run(Main.java:7)' },
      gives: [{ line: 'java.io.IOException: disk full\n\tat app.Main.run(Main.java:7)' }],
    },
  ],
  schema,
  shownSettings: { preset: '', start: '', continue: '', lines: '', seconds: ' s' },
  /** An event that is handed over alone stays as it is: `joinLines` has joined them before. */
  process: ({ event }) => [event],
  joinLines: ({ ctx }) => joiningOf(ctx.config),
});

function joiningOf({ field, lines, bytes, seconds, ...config }: Settings): LineJoining {
  const isOfContainer = typeof config.preset === 'string';
  return {
    lineOf: ({ data }) => {
      const line = Object.hasOwn(data, field) ? data[field] : undefined;
      return typeof line === 'string' ? line : undefined;
    },
    withLine: (event: CollectedEvent, line) => ({ ...event, data: { ...event.data, [field]: line } }),
    readsLines: field === 'line',
    maxLines: lines,
    maxBytes: bytes,
    seconds: seconds ?? (isOfContainer ? SECONDS_FOR_PARTS : 1),
    ...matching(config),
  };
}

type Matching = Omit<LineJoining, 'lineOf' | 'withLine' | 'readsLines' | 'maxLines' | 'maxBytes' | 'seconds'>;

function matching({
  start,
  continue: continued,
  preset,
  lead,
}: Pick<Settings, 'start' | 'continue' | 'preset' | 'lead'>): Matching {
  if (typeof preset === 'string') {
    const { partOf, mayHaveParts, streamOf, joinsBytes, join } = CONTAINER_FORMATS[preset];
    return {
      begin: (line) => (partOf(line) === 'other' ? 'other' : undefined),
      next: (_, line) => partOf(line),
      mayBegin: mayHaveParts,
      streamOf,
      joinsBytes,
      isComplete: (state) => state === 'last',
      join,
    };
  }
  if (preset !== undefined) {
    const traces = traceRecognizer({ presets: preset, hasLead: lead > 0 });
    const attempt = boundedAttempts();
    return {
      begin: (line) => attempt(() => traces.begin(line), line, undefined),
      next: (state, line) => attempt(() => traces.next(state as TraceState, line), line, undefined),
      isPending: (state) => traces.isPending(state as TraceState),
      keepsPending: (state, line) =>
        attempt(() => traces.keepsPending(state as TraceState, line), line, false),
      mayBegin: (lines) => attempt(() => traces.mayBegin(lines), lines, true),
    };
  }
  const find = boundedExpression(start ?? continued ?? '');
  const continuesOnMatch = start === undefined;
  return {
    begin: () => true,
    next: (_, line) => ((find(line) !== null) === continuesOnMatch ? true : undefined),
  };
}

/** Characters that the expressions of presets look through in a moment, whatever they are. */
const SHORT = 2048;

/** Answers a question about a text; with `otherwise` for a long text on which an expression takes too long. */
function boundedAttempts(): <T>(ask: () => T, text: string, otherwise: T) => T {
  const { bound: within } = new TimeLimit();
  return (ask, text, otherwise) => {
    if (text.length <= SHORT) return ask();
    try {
      return within(ask, text.length);
    } catch (error) {
      if (error instanceof MaskError) return otherwise;
      throw error;
    }
  };
}
