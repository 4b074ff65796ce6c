import * as z from 'zod';
import { integer } from '../../sdk/schema-parts.ts';

/** What a value of a generated event is made of: a value stands for itself, and a mapping says how one is made. */
export type Generator =
  | string
  | number
  | boolean
  | { readonly regex: string }
  | { readonly template: string; readonly with: Readonly<Record<string, Generator>> }
  | { readonly choice: readonly Generator[] }
  | { readonly number: string }
  | { readonly text: string }
  | { readonly file: string }
  | { readonly fields: Readonly<Record<string, Generator>> }
  | { readonly list: Generator; readonly length?: string | undefined };

const NUMBER = '-?\\d+(?:\\.\\d+)?';
const RANGE = new RegExp(`^(${NUMBER})(?:\\.\\.(${NUMBER}))?$`);
const TIME = '\\d+(?:\\.\\d+)?(?:ms|[smhd])';
const TIME_RANGE = new RegExp(`^(${TIME})(?:\\.\\.(${TIME}))?$`);
const RATE = /^(\d+(?:\.\d+)?)(?:\.\.(\d+(?:\.\d+)?))?\/([smhd])$/;

/** Both ends of a range; a single value is both. */
type Ends<T> = readonly [from: T, to: T];

/**
 * The ends of a range of numbers.
 *
 * @example
 * rangeOf('0..200'); // [0, 200]
 * rangeOf('3'); // [3, 3]
 */
export function rangeOf(text: string): Ends<number> {
  const [, from, to = from] = RANGE.exec(text) ?? [];
  return [Number(from), Number(to)];
}

/** The ends of a range of times, such as `0s..2s`. */
export function timesOf(text: string): Ends<string> {
  const [, from = '0s', to = from] = TIME_RANGE.exec(text) ?? [];
  return [from, to];
}

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * The shortest and the longest time between two events, in milliseconds: a single rate is an average.
 *
 * @example
 * gapsOf('10/s'); // [0, 200]
 * gapsOf('10..20/s'); // [50, 100]
 */
export function gapsOf(rate: string): Ends<number> {
  const [, from, to, unit = 's'] = RATE.exec(rate) ?? [];
  const [least, most] = [Number(from), Number(to ?? from)];
  const time = UNITS[unit] as number;
  return to === undefined ? [0, (2 * time) / least] : [time / most, time / least];
}

const isAscending = ([from, to]: Ends<number>) => from <= to;
const written = (value: unknown) => (typeof value === 'number' ? String(value) : value);

/** A range of whole numbers from 0 to a bound. */
const amounts = (most: number, wanted: string) =>
  z.preprocess(
    written,
    z
      .string()
      .refine(
        (text) => {
          const ends = rangeOf(text);
          return (
            RANGE.test(text) &&
            isAscending(ends) &&
            ends.every(Number.isInteger) &&
            ends[0] >= 0 &&
            ends[1] <= most
          );
        },
        { message: wanted },
      )
      .meta({ examples: ['0..10'] }),
  );

const numbers = () =>
  z.preprocess(
    written,
    z.string().refine((text) => RANGE.test(text) && isAscending(rangeOf(text)), {
      message: 'a range of numbers such as 0..100 or 0.5..1.5',
    }),
  );

const times = () =>
  z.string().refine((text) => TIME_RANGE.test(text), {
    message: 'a duration with its unit, or a range of them, such as 2s or 0s..2s',
  });

const rate = () =>
  z
    .string()
    .refine((text) => RATE.test(text) && gapsOf(text).every(Number.isFinite) && isAscending(gapsOf(text)), {
      message: 'a rate above 0, or a range of them, such as 10/s, 1..100/m or 6/h',
    });

function problemOfRegex(source: string): string | undefined {
  try {
    new RegExp(source);
    return undefined;
  } catch (error) {
    return (error as Error).message.replace(/^Invalid regular expression: .*: /s, '');
  }
}

const MOST_EVENTS = 1000;

let generator: z.ZodType<Generator> | undefined;

/** Made once: its alternatives contain it. */
function generatorSchema(): z.ZodType<Generator> {
  const inner = z.lazy(generatorSchema);
  generator ??= z
    .union([
      z.string(),
      z.number(),
      z.boolean(),
      z.strictObject({
        regex: z
          .string()
          .min(1)
          .check((ctx) => {
            const reason = problemOfRegex(ctx.value);
            if (reason === undefined) return;
            const message = `a valid regular expression (${reason})`;
            ctx.issues.push({ code: 'custom', input: ctx.value, message });
          })
          .describe('Strings that match this regular expression as a whole. Without look-around and \\b.')
          .meta({ examples: ['k-[0-9]{1,12}'] }),
      }),
      z.strictObject({
        template: z
          .string()
          .describe('A string with names in braces, each of which `with` says how to make.')
          .meta({ examples: ['GET /{path}'] }),
        with: z.record(z.string(), inner).describe('The values of the names in the template.'),
      }),
      z.strictObject({ choice: z.array(inner).min(1).describe('One of these.') }),
      z.strictObject({
        number: numbers()
          .describe('A number of this range: a whole one if both ends are.')
          .meta({ examples: ['0..100'] }),
      }),
      z.strictObject({
        text: amounts(10_000, 'a range of lengths such as 0..40').describe(
          'A string of any characters, so many of them.',
        ),
      }),
      z.strictObject({
        file: z
          .string()
          .min(1)
          .describe('A line of this file, relative to this one; of JSON Lines, a value.'),
      }),
      z.strictObject({ fields: z.record(z.string(), inner).describe('A mapping with these fields.') }),
      z.strictObject({
        list: inner.describe('A list of these.'),
        length: amounts(1000, 'a range of lengths such as 0..10')
          .optional()
          .describe('How many. Default: 0..10.'),
      }),
    ])
    .meta({ id: 'generator', description: 'A value, or a mapping that says how values are made.' });
  return generator;
}

/**
 * What events are generated for a test, and how forwarders behave, each run in another way.
 *
 * @param condition a CEL condition
 * @param law the name of a law
 */
export const anySchema = <C extends z.ZodType<string[]>, L extends z.ZodType<string>>(condition: C, law: L) =>
  z.strictObject({
    runs: integer().min(1).max(1_000_000).optional().describe('How many runs are tried. Default: 100.'),
    seed: integer().optional().describe('Another seed gives other runs. Default: 1; `--seed` overrides it.'),
    collect: z
      .record(
        z.string(),
        z.strictObject({
          events: amounts(MOST_EVENTS, `a number of events up to ${MOST_EVENTS}, or a range such as 0..200`)
            .optional()
            .describe(`How many events are emitted, ${MOST_EVENTS} at most. Default: 0..20.`)
            .meta({ examples: ['0..200'] }),
          rate: rate()
            .optional()
            .describe('How many events come in a time, on average, or a range. Default: all come at once.')
            .meta({ examples: ['10/s', '1..100/m'] }),
          fails: amounts(10, 'a number of failures up to 10, or a range such as 0..2')
            .optional()
            .describe('How often the collector fails, so that the pipeline restarts. Default: 0.'),
          values: z
            .array(generatorSchema())
            .min(1)
            .describe('The kinds of events: each event is generated from one of these.')
            .meta({ examples: [['GET /', { regex: 'key k-[0-9]+' }]] }),
        }),
      )
      .describe('The events that each of these collectors emits.')
      .meta({
        examples: [{ log: { events: '0..200', rate: '10/s', values: ['GET /', { regex: 'k-[0-9]+' }] } }],
      }),
    forward: z
      .record(
        z.string(),
        z.strictObject({
          takes: times()
            .optional()
            .describe('How long each call takes: a time, or a range.')
            .meta({ examples: ['0s..2s'] }),
          fails: amounts(100, 'a number of calls up to 100, or a range such as 0..3')
            .optional()
            .describe('How many calls fail, the first ones.'),
          permanent: z.boolean().optional().describe('Whether failures are permanent, and not tried again.'),
        }),
      )
      .optional()
      .describe('How forwarders behave. One that is not named behaves as `forward` of the test says.')
      .meta({ examples: [{ archive: { takes: '0s..2s', fails: '0..3' } }] }),
    always: condition
      .optional()
      .describe('CEL conditions that are true for every event that a forwarder gets.'),
    laws: z.array(law).min(1).optional().describe('Laws that every run obeys, as in `expect`.'),
  });
export type AnyDefinition = Readonly<z.output<ReturnType<typeof anySchema>>>;
export type GeneratedEvents = AnyDefinition['collect'][string];
