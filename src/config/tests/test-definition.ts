import * as z from 'zod';
import { integer } from '../../sdk/schema-parts.ts';
import { expectations, LAWS, NOT_OF_FILES, rowExpectation } from './expectations.ts';
import { anySchema } from './generators.ts';
import { amount, condition, duration, eventValue, oneOrMore, values, word } from './values.ts';

/** Events of a file beside the tests. */
const valuesFile = () =>
  z.strictObject({
    file: z
      .string()
      .min(1)
      .describe(
        'A file of lines, or of JSON Lines if its name ends in .jsonl or .ndjson; relative to this one.',
      ),
  });

/** What a collector emits in one run, each event at its own time: for recordings, and for more events than letters. */
const timedEvents = () =>
  z.strictObject({
    events: z
      .array(
        z.strictObject({
          at: duration().describe('When it is emitted: a time from the start of the run.'),
          value: eventValue().describe('The event, as in a list.'),
        }),
      )
      .describe('The events, in the order of their times.')
      .meta({ examples: [[{ at: '0s', value: 'GET /' }]] }),
    completes_at: duration().optional().describe('When the collector completes. Default: never.'),
    fails_at: duration().optional().describe('When the collector fails, so that the pipeline restarts.'),
  });

const collectorInput = () =>
  z
    .union([
      word('keep'),
      z.array(eventValue()),
      z.strictObject({
        marbles: z
          .union([z.string(), z.array(z.string()).min(1)])
          .describe(
            'When events are emitted; a list has one string for each run of a pipeline that restarts.',
          )
          .meta({ examples: ['a 1s b|'] }),
        values: z
          .union([valuesFile(), values(eventValue())])
          .optional()
          .describe('The meaning of the letters; with a file, each letter is the next line.')
          .meta({ examples: [{ a: 'GET /', b: { user: 'ada' } }] }),
      }),
      z.strictObject({ values: valuesFile().describe('The events, emitted all at once.') }),
      timedEvents(),
      z.strictObject({
        runs: z
          .array(timedEvents())
          .min(1)
          .describe(
            'One item for each run of a pipeline that restarts; times count from the start of the run.',
          ),
      }),
      z.strictObject({
        from: z.string().min(1).describe('A forwarder of a pipeline above in `pipeline`: what it delivers.'),
        as: word('event', 'line')
          .optional()
          .describe('`line`: each event is a line of JSON, as a file has it. Default: the event itself.'),
      }),
    ])
    .meta({ examples: [['GET /', { user: 'ada' }], { marbles: 'a 1s b|' }] });
export type CollectorInput = Readonly<z.output<ReturnType<typeof collectorInput>>>;

/** A time in which all calls of a forwarder fail. */
const outage = () =>
  z
    .strictObject({
      from: duration().describe('When the outage begins: a time from the start of the test.'),
      to: duration().describe('When it ends: later than `from`.'),
    })
    .describe('Calls that begin or end in this time fail.');

/** Calls that fail because of what they deliver. */
const conditionalFailure = () =>
  z.strictObject({
    when: condition().describe('A CEL condition: calls with an event for which it is true fail.'),
    count: integer()
      .min(1)
      .optional()
      .describe('How many of these calls fail, the first ones. Default: all.'),
  });

/** One call of a forwarder, or several in a row that go the same way. */
const forwarderCall = () =>
  z.union([
    duration(),
    z.strictObject({
      takes: duration().optional().describe('How long the call takes. Default: no time.'),
      fails: z.boolean().optional().describe('Whether the call fails.'),
      rejects: z
        .array(integer().min(1))
        .min(1)
        .optional()
        .describe('The events of the call that fail, counted from 1; the others are delivered.'),
      permanent: z
        .union([z.boolean(), z.array(integer().min(1)).min(1)])
        .optional()
        .describe('Whether the failure is permanent, and not tried again; or those of `rejects` that are.'),
      fatal: z
        .boolean()
        .optional()
        .describe(
          'Whether every event would fail the same way, so that a run with `once` fails; with `permanent`, the pipeline fails.',
        ),
      retry_after: duration()
        .optional()
        .describe('How long the pipeline waits before it calls the forwarder again, for any event.'),
      backoff: duration()
        .optional()
        .describe('How long the pipeline waits before it tries these events again. Default: a random time.'),
      count: integer().min(1).optional().describe('How many calls in a row go this way. Default: 1.'),
    }),
  ]);

const forwarderInput = () =>
  z
    .union([
      word('keep'),
      z.strictObject({
        takes: duration().optional().describe('How long each call takes.'),
        fails: z
          .union([amount(), word('always'), outage(), z.array(outage()).min(1), conditionalFailure()])
          .optional()
          .describe(
            'Which calls fail: the first ones, all, those in an outage, or those with certain events.',
          )
          .meta({ examples: [2, 'always', { from: '10s', to: '2m' }, { when: 'data.user == "ada"' }] }),
        permanent: z.boolean().optional().describe('Whether failures are permanent, and not tried again.'),
        calls: z
          .array(forwarderCall())
          .min(1)
          .optional()
          .describe(
            'What each call does, one after the other; later ones succeed, and take what `takes` says.',
          )
          .meta({ examples: [['20ms', { takes: '5ms', fails: true }]] }),
      }),
    ])
    .meta({ examples: [{ takes: '3s' }, { fails: 2 }] });

const filePath = () => z.string().min(1).describe('The path, as in the configuration.');

const fileText = () =>
  z
    .strictObject({
      path: filePath(),
      lines: z.array(z.string()).min(1).optional().describe('Lines, each followed by a newline.'),
      text: z.string().optional().describe('Literal text, such as a part of a line.'),
      line: z.string().optional().describe('A line, in which `{n}` is its number, from 1.'),
      times: integer().min(1).optional().describe('How often `line` is written. Default: once.'),
      every: duration().optional().describe('The time from one `line` to the next. Default: none.'),
    })
    .meta({ examples: [{ path: '/var/log/app.log', lines: ['GET /', 'GET /about'] }] })
    .check((ctx) => {
      const { lines, text, line, times, every } = ctx.value;
      const refuse = (message: string) => ctx.issues.push({ code: 'custom', input: ctx.value, message });
      if ([lines, text, line].filter((given) => given !== undefined).length !== 1) {
        refuse('exactly one of `lines`, `text` and `line` says what is written');
      } else if (line === undefined && (times !== undefined || every !== undefined)) {
        refuse('`times` and `every` repeat `line`, of which there is none');
      }
    });

const fileMove = () =>
  z
    .strictObject({ from: filePath(), to: filePath() })
    .meta({ examples: [{ from: '/var/log/app.log', to: '/var/log/app.log.1' }] });

/** What happens to virtual files, or to the process. */
const fileStep = () =>
  z
    .strictObject({
      at: duration().optional().describe('When: a time from the start of the test. Default: before it.'),
      append: fileText().optional().describe('Adds to a file, which is created if it is not there.'),
      write: fileText().optional().describe('Replaces what a file holds.'),
      rename: fileMove().optional().describe('Renames a file, as a rotation does.'),
      copy: fileMove().optional().describe('Copies a file, as `copytruncate` does first.'),
      truncate: z
        .union([
          filePath(),
          z.strictObject({ path: filePath(), size: amount().describe('Bytes that stay.') }),
        ])
        .optional()
        .describe('Empties a file, or cuts it to a size.'),
      delete: filePath().optional().describe('Removes a file.'),
      free_space: z
        .union([amount(), word('unlimited')])
        .optional()
        .describe('How many more bytes the pipeline can write to its disk; 0: it is full.'),
      crash: word('process', 'power')
        .optional()
        .describe(
          '`process`: the process is killed, as by kill -9. `power`: the machine stops, and what was not synced is lost.',
        ),
      restart: z
        .literal(true)
        .optional()
        .describe('Starts the pipeline from its checkpoint; one that runs is stopped first.'),
    })
    .meta({
      examples: [
        { at: '1s', append: { path: '/var/log/app.log', lines: ['GET /'] } },
        { at: '2s', crash: 'process' },
      ],
    })
    .check((ctx) => {
      const { at: _, ...actions } = ctx.value;
      if (Object.values(actions).filter((given) => given !== undefined).length === 1) return;
      const message = `each step has exactly one of ${Object.keys(fileStep().shape).slice(1).join(', ')}`;
      ctx.issues.push({ code: 'custom', input: ctx.value, message });
    });

const newTestDefinition = () =>
  z
    .strictObject({
      pipeline: z
        .union([z.string(), z.array(z.string()).min(2)])
        .optional()
        .describe(
          'The pipeline to test, or several, in the order in which events reach them. Default: the only one.',
        ),
      env: z
        .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
        .optional()
        .describe('Environment variables for this test.'),
      any: anySchema(oneOrMore(condition()), word(...LAWS))
        .optional()
        .describe(
          'Generates events and failures, runs after runs. The smallest run that fails is shown as a test.',
        ),
      collect: z
        .record(z.string(), collectorInput())
        .optional()
        .describe('The events that each collector emits. A collector that is not named completes at once.')
        .meta({ examples: [{ log: ['GET /', { user: 'ada' }] }] }),
      forward: z
        .record(z.string(), forwarderInput())
        .optional()
        .describe('How forwarders behave. One that is not named delivers every event at once.')
        .meta({ examples: [{ archive: { fails: 2 } }] }),
      files: z
        .array(fileStep())
        .optional()
        .describe(
          'What happens to virtual files. Collectors and forwarders of files, such as `file` and `disk`, are then the real ones.',
        ),
      crash_everywhere: word('process', 'power')
        .optional()
        .describe(
          'Runs the test again for each call that changes the virtual disk, with a crash right after it and a restart 1 s later. With `any`, after three of them in each run.',
        ),
      seed: integer().optional().describe('Another seed gives other random delays and waits. Default: 1.'),
      until: duration().optional().describe('When to stop a pipeline that does not end by itself.'),
      drain_timeout: duration()
        .optional()
        .describe(
          'How long a stop waits for events in flight, as `--drain-timeout` of a run says. Default: 10s.',
        ),
      once: z
        .boolean()
        .optional()
        .describe(
          'Whether the run ends when all collectors have. Default: true; with false, `restart` restarts it.',
        ),
      expect: expectations()
        .optional()
        .describe(
          'What is asserted: of entries by their names, and of the run. Required, unless `any` asserts something.',
        )
        .meta({ examples: [{ archive: ['GET /'], dropped: 'none' }] }),
    })
    .check((ctx) => {
      const { any, files } = ctx.value;
      const require = (key: string, isGiven: boolean) => {
        if (isGiven) return;
        ctx.issues.push({ code: 'invalid_type', expected: 'record', input: undefined, path: [key] });
      };
      require('collect', any !== undefined || files !== undefined || ctx.value.collect !== undefined);
      require('expect', any?.always !== undefined ||
        any?.laws !== undefined ||
        ctx.value.expect !== undefined);
    })
    .check((ctx) => {
      const { files, collect, crash_everywhere, expect } = ctx.value;
      const refuse = (path: string[], message: string) =>
        ctx.issues.push({ code: 'custom', input: ctx.value, path, message });
      const paths = Object.keys(expect?.files ?? {});
      if (files === undefined) {
        if (crash_everywhere !== undefined) refuse(['crash_everywhere'], 'it needs `files`');
        // An entry may be called `files`: a mapping of assertions, or a list, is about it.
        const assertions = Object.keys(rowExpectation().shape);
        const isOfEntry = Array.isArray(expect?.files) || paths.every((path) => assertions.includes(path));
        if (!isOfEntry) {
          const message =
            'this test has no virtual files: add `files` with its steps, or assert what forwarders get by their names';
          refuse(['expect', 'files'], message);
        }
        return;
      }
      for (const [name, input] of Object.entries(collect ?? {})) {
        if (typeof input !== 'object' || !('from' in input)) continue;
        const message =
          'with `files`, pipelines run at the same time: let this collector follow a file that the other pipeline writes';
        refuse(['collect', name, 'from'], message);
      }
      for (const [path, row] of Object.entries(expect?.files ?? {})) {
        if (typeof row !== 'object' || Array.isArray(row)) continue;
        for (const key of NOT_OF_FILES.filter((each) => Object.hasOwn(row, each))) {
          const message =
            key === 'snapshot'
              ? 'a file has no snapshot: list its lines, or assert `count`, `in_order` or `any`'
              : 'the lines of a file have no times: assert `times` of the forwarder that writes it, or `in_order` here';
          refuse(['expect', 'files', path, key], message);
        }
      }
    })
    .meta({
      anyOf: [{ required: ['collect', 'expect'] }, { required: ['any'] }, { required: ['files', 'expect'] }],
    });

type Given = z.output<ReturnType<typeof newTestDefinition>>;
/** An interface, so that the declarations of types name it rather than spell it out. */
export interface TestDefinition extends Readonly<Omit<Given, 'collect' | 'expect'>> {
  readonly collect: NonNullable<Given['collect']>;
  readonly expect: NonNullable<Given['expect']>;
}

let definition: z.ZodType<TestDefinition> | undefined;

/**
 * Ours: one test of a pipeline in virtual time. `millrace test` runs it; a run of the configuration ignores it. Made
 * where there is one: a tenth of the time that a start spends on schemas.
 */
export function testDefinition(): z.ZodType<TestDefinition> {
  definition ??= newTestDefinition().transform(({ collect = {}, expect = {}, ...rest }) => ({
    ...rest,
    collect,
    expect,
  }));
  return definition;
}
