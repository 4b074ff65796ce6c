import * as z from 'zod';
import { DURATION } from '../../sdk/quantities.ts';
import { integer, oneCharacter } from '../../sdk/schema-parts.ts';

/**
 * `/api/users` is a path and no expression with the flags u, s, e, r, s. A single letter is always meant as a flag:
 * a wrong one must not make an expression a text that is found nowhere.
 */
const EXPRESSION = /^\/(.+)\/([gimsu]*|[a-z])$/s;

/**
 * The regular expression that a text `/…/flags` stands for; undefined for other text. Flags are i, m, s and u.
 *
 * @throws SyntaxError if it is not valid
 * @example
 * expressionIn('/k-[0-9]+/i'); // /k-[0-9]+/i
 * expressionIn('/api/users'); // undefined
 */
export function expressionIn(text: string): RegExp | undefined {
  const [, body, flags = ''] = EXPRESSION.exec(text) ?? [];
  if (body === undefined) return undefined;
  if (!/^[gimsu]*$/.test(flags)) throw new SyntaxError(`${flags} is not a flag; flags are i, m, s and u`);
  // With `g` a match would depend on the one before.
  return new RegExp(body, flags.replaceAll('g', ''));
}

/** A text at any depth of a value that looks like an expression and is none. */
interface ExpressionProblem {
  readonly path: (string | number)[];
  readonly input: string;
  readonly reason: string;
}

/** The wrong expressions in a value, at any depth. */
function expressionProblems(value: unknown, path: readonly (string | number)[] = []): ExpressionProblem[] {
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

/** Elsewhere in a configuration plain numbers are seconds, so here they are refused; 0 is the same in all units. */
export const duration = () =>
  z.preprocess(
    (value) => (value === 0 ? '0s' : typeof value === 'number' ? String(value) : value),
    z
      .string()
      .refine((text) => DURATION.test(text.trim()), {
        message: 'a duration with its unit, such as 250ms, 3s, 1m30s, 2h or 1d',
      })
      .meta({ pattern: DURATION.source }),
  );

export const amount = () => integer().min(0);

/** Issues for the expressions in a value that are none. */
function refuseWrongExpressions<T>(ctx: z.core.ParsePayload<T>): void {
  for (const { reason, ...place } of expressionProblems(ctx.value)) {
    const message = `a valid regular expression between the slashes (${reason})`;
    ctx.issues.push({ code: 'custom', message, ...place });
  }
}

/** A word with a meaning. Not a bare literal: of a union, the alternative for text must refuse other types as such. */
export const word = <const T extends readonly [string, ...string[]]>(...words: T) =>
  z.string().meta({ enum: words }).pipe(z.enum(words));

/** What an event is: a line, a value, data, or a whole event. */
export const eventValue = () =>
  z.union([z.string(), z.number(), z.boolean(), z.record(z.string(), z.unknown())]);
export const values = <T extends z.ZodType>(value: T) => z.record(oneCharacter(), value);

/** What an event is to be like. */
export const matcher = () => eventValue().check(refuseWrongExpressions);

export const condition = () => z.string().min(1).meta({ format: 'cel' });

/** A string that must not occur, or a condition that must be true for no event. */
export const excluded = () =>
  z.union([
    z.string().min(1).check(refuseWrongExpressions),
    z.strictObject({ when: condition().describe('A CEL condition: no event may make it true.') }),
  ]);
export const oneOrMore = <T extends z.ZodType>(item: T) =>
  z.union([z.array(item).min(1), item.transform((one): z.output<T>[] => [one])]);
