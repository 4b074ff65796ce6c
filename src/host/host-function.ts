import type { z } from 'zod';
import { MillraceError } from '../sdk/errors.ts';

/** A function that pipelines may call by name. */
export interface HostFunction {
  readonly name: string;
  /** Returns a value, or a promise, an async iterable or an Observable of it. May throw. */
  call(args: readonly unknown[], kwargs: Readonly<Record<string, unknown>>): unknown;
}

interface Definition<P extends z.ZodObject> {
  readonly name: string;
  /** Their order is that of positional arguments; each may be given by its name instead. */
  readonly parameters: P;
  run(values: z.output<P>): unknown;
}

/**
 * A built-in function, whose arguments are checked before it runs.
 *
 * Errors of its `call`: MillraceError `MILLRACE_HOST_ARGUMENTS`, without the arguments' values.
 *
 * @example
 * const double = builtIn({
 *   name: 'test.double',
 *   parameters: z.strictObject({ n: z.number() }),
 *   run: ({ n }) => 2 * n,
 * });
 * double.call([21], {}); // 42
 */
export function builtIn<P extends z.ZodObject>({ name, parameters, run }: Definition<P>): HostFunction {
  const names = Object.keys(parameters.shape);
  const signature = `${name}(${names.join(', ')})`;
  const refuse = (reason: string) =>
    new MillraceError('MILLRACE_HOST_ARGUMENTS', `wrong arguments for ${signature}: ${reason}`);

  return {
    name,
    call(args, kwargs) {
      if (args.length > names.length) {
        throw refuse(`found ${args.length} positional ones; expected at most ${names.length}`);
      }
      const positional = Object.fromEntries(args.map((value, index) => [names[index] as string, value]));
      const twice = Object.keys(positional).find((key) => Object.hasOwn(kwargs, key));
      if (twice !== undefined) throw refuse(`\`${twice}\` is given by position and by name; give it once`);
      const parsed = parameters.safeParse({ ...kwargs, ...positional });
      if (!parsed.success) throw refuse(parsed.error.issues.map(describeIssue).join('; '));
      return run(parsed.data);
    },
  };
}

/** In words that quote names, never values: those may come from an event. */
function describeIssue(issue: z.core.$ZodIssue): string {
  if (issue.code === 'unrecognized_keys') return `unknown \`${issue.keys.join('`, `')}\``;
  return `\`${issue.path.join('.')}\`: ${issue.message}`;
}
