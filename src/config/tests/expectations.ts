import * as z from 'zod';
import { integer } from '../../sdk/schema-parts.ts';
import { amount, condition, duration, excluded, matcher, oneOrMore, values, word } from './values.ts';

/** What is asserted of the events that left one entry of the pipeline. */
export const rowExpectation = () =>
  z
    .strictObject({
      marbles: z
        .string()
        .optional()
        .describe('Exactly these events, at these times and in this order.')
        .meta({ examples: ['a 1s b'] }),
      values: values(matcher())
        .optional()
        .describe('What the letters of `marbles` stand for. Default: what collectors emit as that letter.')
        .meta({ examples: [{ a: 'GET /', b: { user: 'ada' } }] }),
      times: z
        .array(duration())
        .optional()
        .describe('One event at each of these times, and no other event.')
        .meta({ examples: [['0s', '1s', '1.5s']] }),
      within: duration().optional().describe('The difference in time that `marbles` and `times` tolerate.'),
      count: z
        .union([
          amount(),
          z.strictObject({
            at_least: amount().optional().describe('The least number of events.'),
            at_most: amount().optional().describe('The greatest number of events.'),
          }),
        ])
        .optional()
        .describe('How many events came.')
        .meta({ examples: [3, { at_least: 1 }] }),
      exactly: z.array(matcher()).optional().describe('Exactly these events, in any order.'),
      in_order: z
        .array(matcher())
        .min(1)
        .optional()
        .describe('These events in this order; others may be between them.'),
      all: oneOrMore(matcher()).optional().describe('Every event matches.'),
      any: oneOrMore(matcher()).optional().describe('At least one event matches.'),
      none: oneOrMore(matcher())
        .optional()
        .describe(
          'No event matches. If none came, it fails, unless `count: 0` or an empty list expects that.',
        ),
      always: oneOrMore(condition())
        .optional()
        .describe('CEL conditions over `data`, `timestamp` and `tag` that are true for every event.')
        .meta({ examples: ['data.status < 500'] }),
      contains_no: oneOrMore(excluded())
        .optional()
        .describe('Strings, or conditions, that no event has in any key or value.')
        .meta({ examples: ['hunter2', { when: 'has(data.password)' }] }),
      snapshot: z
        .literal(true)
        .optional()
        .describe('The events are those of the snapshot file; `millrace test --update` writes it.'),
    })
    .meta({ examples: [{ count: 3 }] })
    .check((ctx) => {
      if (ctx.issues.length > 0) return;
      const { values, within, ...assertions } = ctx.value;
      const refuse = (path: string[], message: string) =>
        ctx.issues.push({ code: 'custom', input: ctx.value, path, message });
      if (values !== undefined && assertions.marbles === undefined) {
        refuse(
          ['values'],
          'values belong to marbles: add `marbles`, or compare with `exactly` or `in_order`',
        );
      }
      if (within !== undefined && assertions.marbles === undefined && assertions.times === undefined) {
        refuse(['within'], 'within belongs to `marbles` or `times`, of which there are none');
      }
      if (
        ctx.issues.length === 0 &&
        Object.values(assertions).every((assertion) => assertion === undefined)
      ) {
        refuse([], 'nothing is asserted here; add `marbles`, `count`, `all` or another assertion');
      }
    });
/** What can be asserted of an entry, but not of a file at the end. */
export const NOT_OF_FILES = ['marbles', 'times', 'snapshot'] as const;
type Row = ReturnType<typeof rowExpectation>;
export type RowExpectation = Readonly<z.output<Row>>;

const STATES = ['running', 'backing_off', 'completed', 'failed', 'stopped', 'crashed'] as const;
const REASONS = [
  'filtered',
  'collector_failed',
  'processor_failed',
  'forwarder_failed',
  'no_route',
  'route_failed',
  'buffer_full',
  'given_up',
] as const;

const dropExpectation = () =>
  z.strictObject({
    by: z.string().optional().describe('The entry that dropped them.'),
    reason: word(...REASONS)
      .optional()
      .describe('Why they were dropped.'),
    event: matcher().optional().describe('The dropped events.'),
    count: integer().min(1).default(1).describe('How many of them.'),
  });
export type DropExpectation = Readonly<z.output<ReturnType<typeof dropExpectation>>>;

/** Laws that any pipeline should obey, and what they say. */
export const LAW_TEXTS = {
  nothing_lost: 'no event is lost',
  nothing_twice: 'no forwarder delivers an event twice',
  order: 'forwarders deliver the events of a collector in their order',
  no_secret_out: 'no rule of a mask matches in any output',
  bounded_in_flight: 'at most `max_in_flight` events are in flight',
} as const;
export type Law = keyof typeof LAW_TEXTS;
export const LAWS = Object.keys(LAW_TEXTS) as [Law, ...Law[]];
const lawsText = Object.entries(LAW_TEXTS)
  .map(([law, text]) => `\`${law}\` (${text})`)
  .join(', ');

/** What can be asserted of a whole run. Every other name in `expect` is that of an entry. */
export const RUN_EXPECTATIONS = [
  'contains_no',
  'always',
  'laws',
  'dropped',
  'dead_letters',
  'retries',
  'state',
  'states',
  'ended_at',
  'ended_within',
  'files',
] as const;

function runExpectations(row: Row) {
  /** An entry of the pipeline may have the name of an assertion: a mapping is always about the entry. */
  const unlessRow = <T extends z.ZodType>(assertion: T) => z.union([assertion, row]).optional();
  return {
    contains_no: unlessRow(oneOrMore(excluded()))
      .describe('Strings, or conditions, of which no forwarder gets an event.')
      .meta({ examples: ['hunter2'] }),
    always: unlessRow(oneOrMore(condition()))
      .describe('CEL conditions that are true for every event that a forwarder gets.')
      .meta({ examples: ['data.status < 500'] }),
    laws: unlessRow(z.array(word(...LAWS)).min(1))
      .describe(`Laws that the run obeys: ${lawsText}.`)
      .meta({ examples: [['nothing_lost', 'order']] }),
    dropped: unlessRow(z.union([word('none'), z.array(dropExpectation()).min(1)]))
      .describe('`none`, or exactly the events that were dropped.')
      .meta({ examples: [[{ by: 'secrets', reason: 'processor_failed' }], 'none'] }),
    dead_letters: unlessRow(amount())
      .describe('How many events reached the dead letter.')
      .meta({ examples: [1] }),
    retries: unlessRow(amount())
      .describe('How often forwarders were tried again.')
      .meta({ examples: [2] }),
    state: unlessRow(word(...STATES)).describe('The last state of the pipeline.'),
    states: unlessRow(z.array(word(...STATES)).min(1)).describe('All states, in this order.'),
    ended_at: unlessRow(duration()).describe('When the run ended: a time from its start.'),
    ended_within: unlessRow(duration()).describe('The run ended at or before this time.'),
    files: unlessRow(z.record(z.string().min(1), z.union([word('missing'), z.array(matcher()), row])))
      .describe(
        'What is in virtual files at the end, by their paths: each line is an event, or a line of text. Or `missing`.',
      )
      .meta({ examples: [{ '/out/events.jsonl': ['GET /', 'GET /about'], '/out/old.jsonl': 'missing' }] }),
  } satisfies Record<(typeof RUN_EXPECTATIONS)[number], z.ZodType>;
}

export function expectations() {
  const row = rowExpectation();
  return (
    z
      .object(runExpectations(row))
      // A list: these events, in this order, and no others.
      .catchall(
        z
          .union([row, z.array(matcher())])
          .describe('What left an entry: a list of exactly these events, or a mapping of assertions.')
          .meta({ examples: [['GET /', { user: 'ada' }], { count: 2 }] }),
      )
      .refine((expect) => Object.keys(expect).length > 0, {
        message: 'nothing is asserted; name a forwarder and what it is to get',
      })
  );
}
