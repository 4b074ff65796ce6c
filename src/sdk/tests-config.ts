import * as z from 'zod';

import { integer, oneCharacter } from './schema-parts.ts';

/**
 * `/api/users` is a path and no expression with the flags u, s, e, r, s. A single letter is always meant as a flag:
 * a wrong one must not make an expression a text that is found nowhere.
 */
const EXPRESSION = /^\/(.+)\/([gimsu]*|[a-z])$/s;

/**
 * The regular expression that a text `/…/flags` stands for; undefined for other text. Flags are i, m, s and u.
 *
 * @throws SyntaxError if it is no valid one
 * @example
 * expressionIn('/k-[0-9]+/i'); // /k-[0-9]+/i
 * expressionIn('/api/users'); // undefined
 */
export function expressionIn(text: string): RegExp | undefined {
  const [, body, flags = ''] = EXPRESSION.exec(text) ?? [];
  if (body === undefined) return undefined;
  if (!/^[gimsu]*$/.test(flags)) throw new SyntaxError(`${flags} is no flag; flags are i, m, s and u`);
  // With `g` a match would depend on the one before.
  return new RegExp(body, flags.replaceAll('g', ''));
}

/** A text at any depth of a value that looks like an expression and is none. */
export interface ExpressionProblem {
  readonly path: (string | number)[];
  readonly input: string;
  readonly reason: string;
}

/** The wrong expressions in a value, at any depth. */
export function expressionProblems(
  value: unknown,
  path: readonly (string | number)[] = [],
): ExpressionProblem[] {
  if (typeof value === 'string') {
    const reason = reasonOf(value);
    return reason === undefined ? [] : [{ path: [...path], input: value, reason }];
  }
  if (Array.isArray(value)) {
    return value.flatMap((item, index) => expressionProblems(item, [...path, index]));
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => expressionProblems(item, [...path, key]));
}

function reasonOf(text: string): string | undefined {
  try {
    expressionIn(text);
    return undefined;
  } catch (error) {
    // The engine quotes the whole expression first, which stands in the message already.
    return (error as Error).message.replace(/^Invalid regular expression: .*: /s, '');
  }
}

const DURATION = /^\d+(?:\.\d+)?\s*(?:ms|s|m|h|d)$/;

/** Elsewhere in a configuration plain numbers are seconds, so here they are refused; 0 is the same in all units. */
const duration = () =>
  z.preprocess(
    (value) => (value === 0 ? '0s' : typeof value === 'number' ? String(value) : value),
    z
      .string()
      .refine((text) => DURATION.test(text.trim()), {
        message: 'a duration with its unit, such as 250ms, 3s, 5m, 2h or 1d',
      })
      .meta({ pattern: DURATION.source }),
  );

const amount = () => integer().min(0);

/** Issues for the expressions in a value that are none. */
function refuseWrongExpressions<T>(ctx: z.core.ParsePayload<T>): void {
  for (const { reason, ...place } of expressionProblems(ctx.value)) {
    const message = `a valid regular expression between the slashes (${reason})`;
    ctx.issues.push({ code: 'custom', message, ...place });
  }
}

/** A word with a meaning. Not a bare literal: of a union, the alternative for text must refuse other types as such. */
const word = <const T extends readonly [string, ...string[]]>(...words: T) =>
  z.string().meta({ enum: words }).pipe(z.enum(words));

/** What an event is: a line, a value, data, or a whole event. */
const eventValue = () => z.union([z.string(), z.number(), z.boolean(), z.record(z.string(), z.unknown())]);
const values = <T extends z.ZodType>(value: T) => z.record(oneCharacter(), value);

/** What an event is to be like. */
const matcher = () => eventValue().check(refuseWrongExpressions);
const oneOrMore = <T extends z.ZodType>(item: T) =>
  z.union([z.array(item).min(1), item.transform((one): z.output<T>[] => [one])]);

/** What is asserted of the events that left one entry of the pipeline. */
const rowExpectation = () =>
  z
    .strictObject({
      marbles: z.string().optional(),
      values: values(matcher()).optional(),
      times: z.array(duration()).optional(),
      within: duration().optional(),
      count: z
        .union([amount(), z.strictObject({ at_least: amount().optional(), at_most: amount().optional() })])
        .optional(),
      exactly: z.array(matcher()).optional(),
      in_order: z.array(matcher()).min(1).optional(),
      all: oneOrMore(matcher()).optional(),
      any: oneOrMore(matcher()).optional(),
      none: oneOrMore(matcher()).optional(),
      contains_no: oneOrMore(z.string().min(1).check(refuseWrongExpressions)).optional(),
    })
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
type Row = ReturnType<typeof rowExpectation>;
export type RowExpectation = Readonly<z.output<Row>>;

const STATES = ['running', 'backing_off', 'completed', 'failed', 'stopped'] as const;
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
    by: z.string().optional(),
    reason: word(...REASONS).optional(),
    event: matcher().optional(),
    count: integer().min(1).default(1),
  });
export type DropExpectation = Readonly<z.output<ReturnType<typeof dropExpectation>>>;

/** What can be asserted of a whole run. Every other name in `expect` is that of an entry. */
export const RUN_EXPECTATIONS = [
  'contains_no',
  'dropped',
  'dead_letters',
  'retries',
  'state',
  'states',
  'ended_at',
  'ended_within',
] as const;

function runExpectations(row: Row) {
  /** An entry of the pipeline may have the name of an assertion: a mapping is always about the entry. */
  const unlessRow = <T extends z.ZodType>(assertion: T) => z.union([assertion, row]).optional();
  return {
    contains_no: unlessRow(oneOrMore(z.string().min(1).check(refuseWrongExpressions))),
    dropped: unlessRow(z.union([word('none'), z.array(dropExpectation()).min(1)])),
    dead_letters: unlessRow(amount()),
    retries: unlessRow(amount()),
    state: unlessRow(word(...STATES)),
    states: unlessRow(z.array(word(...STATES)).min(1)),
    ended_at: unlessRow(duration()),
    ended_within: unlessRow(duration()),
  } satisfies Record<(typeof RUN_EXPECTATIONS)[number], z.ZodType>;
}

function expectations() {
  const row = rowExpectation();
  return (
    z
      .object(runExpectations(row))
      // A list: these events, in this order, and no others.
      .catchall(z.union([row, z.array(matcher())]))
      .refine((expect) => Object.keys(expect).length > 0, {
        message: 'nothing is asserted; name a forwarder and what it is to get',
      })
  );
}

const collectorInput = () =>
  z.union([
    word('keep'),
    z.array(eventValue()),
    z.strictObject({
      marbles: z.union([z.string(), z.array(z.string()).min(1)]),
      values: values(eventValue()).optional(),
    }),
  ]);
export type CollectorInput = Readonly<z.output<ReturnType<typeof collectorInput>>>;

/** A time in which all calls of a forwarder fail. */
const outage = () =>
  z
    .strictObject({
      from: duration().describe('When the outage begins: a time from the start of the test.'),
      to: duration().describe('When it ends: later than `from`.'),
    })
    .describe('Calls that begin or end in this time fail.');

const forwarderInput = () =>
  z.union([
    word('keep'),
    z.strictObject({
      takes: duration().optional(),
      fails: z.union([amount(), word('always'), outage(), z.array(outage()).min(1)]).optional(),
      permanent: z.boolean().optional(),
    }),
  ]);

const newTestDefinition = () =>
  z.strictObject({
    pipeline: z.string().optional(),
    env: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
    collect: z.record(z.string(), collectorInput()),
    forward: z.record(z.string(), forwarderInput()).optional(),
    seed: integer().optional(),
    until: duration().optional(),
    once: z.boolean().optional(),
    expect: expectations(),
  });

let definition: ReturnType<typeof newTestDefinition> | undefined;

/**
 * Ours: one test of a pipeline in virtual time. `millrace test` runs it; a run of the configuration ignores it. Made
 * where there is one: a tenth of the time that a start spends on schemas.
 */
export function testDefinition(): ReturnType<typeof newTestDefinition> {
  definition ??= newTestDefinition();
  return definition;
}
export type TestDefinition = Readonly<z.output<ReturnType<typeof newTestDefinition>>>;
