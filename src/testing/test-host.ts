import { throwError } from 'rxjs';
import type { Host } from '../sdk/context.ts';
import { MillraceError } from '../sdk/errors.ts';

const missing = (what: string) =>
  throwError(
    () =>
      new MillraceError(
        'MILLRACE_TEST_HOST',
        `the test has no host for ${what}; give testPipeline the option \`host\``,
      ),
  );

/** The host of a test that needs none: what asks it for something is told so. */
export const testHost: Host = {
  id: 'test',
  role: 'test',
  events: () => missing('events'),
  functions: () => [],
  call: (fn) => missing(`the function ${fn}`),
};
