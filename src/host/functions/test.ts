import * as z from 'zod';
import { builtIn } from './host-function.ts';

/** `test.ping()`: true. */
export const ping = builtIn({ name: 'test.ping', parameters: z.strictObject({}), run: () => true });

/** `test.echo(text)`: its argument, unchanged. */
export const echo = builtIn({
  name: 'test.echo',
  parameters: z.strictObject({
    text: z.unknown().refine((value) => value !== undefined, { message: 'missing; expected a value' }),
  }),
  run: ({ text }) => text,
});
