import { throwError } from 'rxjs';
import type { Host } from '../../../sdk/context.ts';
import { type Check, demand, reasonOf } from '../check.ts';
import { collected, handled, type Observed, observe, pause } from '../observe.ts';
import { CONTENT, oddEvents } from '../sample-events.ts';

/** What happens when something is wrong. */
export const ERROR_CHECKS: readonly Check[] = [
  {
    name: 'errors: odd events give results or an error, and no error quotes an event',
    kinds: ['process', 'forward'],
    async run(subject) {
      const ctx = subject.context();
      for (const [oddity, event] of oddEvents()) {
        const { observed, uncaught } = await guarded(() =>
          observe(subject, () => handled(subject, ctx, event)),
        );
        demandNoCrash(observed, uncaught, `an event with ${oddity}`);
        demand(
          observed.end !== 'failed' || !textOf(observed.error).includes(CONTENT),
          `its error for an event with ${oddity} quotes the event, and errors are logged; throw a PluginError with a text of your own`,
        );
      }
      return undefined;
    },
  },
  {
    name: 'errors: a host that fails is an error of the collector, or nothing',
    kinds: ['collect'],
    async run(subject) {
      for (const host of failingHosts()) {
        const { observed, uncaught } = await guarded(() =>
          observe(subject, () => collected(subject, subject.context({ host }))),
        );
        demandNoCrash(observed, uncaught, 'a host that fails');
      }
      return undefined;
    },
  },
];

function demandNoCrash(observed: Observed<unknown>, uncaught: readonly unknown[], cause: string): void {
  const crashes = [...(observed.crash === undefined ? [] : [observed.crash.error]), ...uncaught];
  demand(
    crashes.length === 0,
    `${cause} makes it throw where nobody can catch it, which ends the process: ${reasonOf(crashes[0])}; let the Observable, promise or iterable that it returns fail instead`,
  );
}

function textOf(error: unknown): string {
  return error instanceof Error ? `${error.name} ${error.message}` : String(error);
}

/** Notes what would have ended the process. */
async function guarded<T>(run: () => Promise<T>): Promise<{ observed: T; uncaught: unknown[] }> {
  const uncaught: unknown[] = [];
  const note = (error: unknown) => uncaught.push(error);
  const kinds = ['uncaughtException', 'unhandledRejection'] as const;
  for (const kind of kinds) process.on(kind, note);
  try {
    const observed = await run();
    // A rejection counts as unhandled once the microtasks are done.
    await pause(1);
    return { observed, uncaught };
  } finally {
    for (const kind of kinds) process.off(kind, note);
  }
}

function failingHosts(): Host[] {
  const error = () => new Error('the host fails, to see what the plugin does');
  const host = (fail: () => never | ReturnType<typeof throwError>): Host => ({
    id: 'failing-host',
    role: 'test',
    events: fail as Host['events'],
    functions: () => [],
    call: fail as Host['call'],
  });
  return [
    host(() => {
      throw error();
    }),
    host(() => throwError(error)),
  ];
}
