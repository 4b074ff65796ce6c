import fs from 'node:fs';
import { resolve } from 'node:path';
import {
  bindNodeCallback,
  catchError,
  concat,
  defer,
  ignoreElements,
  type Observable,
  throwError,
} from 'rxjs';
import * as z from 'zod';
import { longTimer } from '../../operators/index.ts';
import { APPEND_FLAGS, FILE_MODE, writeError } from '../../operators/internal-files.ts';
import {
  type CollectedEvent,
  ForwardConfigBase,
  type PipelineRunContext,
  path,
  seconds,
  serialise,
  toJson,
} from '../../src/sdk/index.ts';

export const description =
  'Takes events and shows that it did: in a file, or in the shared cache. For tests.';

export const example = `
witness:
  plugin: test
  sleep: 0.5
  path: out/witness.txt
  message: an event came
`;

export const shownSettings = { sleep: ' s', path: '', add_event_to_shared_cache: '' };

export const traits = { writes };

const fields = ForwardConfigBase.extend({
  sleep: seconds().default(0).describe('Seconds that each event takes.'),
  path: path().optional().describe('The file that gets a line for each event.'),
  message: z.string().optional().describe('The text of the line.'),
  dump_event: z.boolean().default(false).describe('Whether the line has the event as JSON.'),
  add_event_to_shared_cache: z
    .boolean()
    .default(false)
    .describe('Append events to `collected_events` of the shared cache.'),
});

/** An event goes to a file or to the shared cache, not to both. */
export function _check_mutually_exclusive_parameters({
  path,
  add_event_to_shared_cache,
}: Pick<TestForwardConfig, 'path' | 'add_event_to_shared_cache'>): boolean {
  return path === undefined || !add_event_to_shared_cache;
}

/** docs/specification.md#29-forward-plugins */
export const TestForwardConfig = fields.refine(_check_mutually_exclusive_parameters, {
  path: ['add_event_to_shared_cache'],
  message: 'either path or add_event_to_shared_cache, they exclude each other',
});
export type TestForwardConfig = Readonly<z.output<typeof fields>>;

export function get_config_schema(): typeof TestForwardConfig {
  return TestForwardConfig;
}

function writes({ config }: { config: TestForwardConfig }): string | undefined {
  return config.path === undefined ? undefined : resolve(config.path);
}

const appendFile = bindNodeCallback(fs.appendFile as unknown as AppendText);
/** Node takes a number as well; its types do not know that. */
type AppendText = (
  path: string,
  text: string,
  options: { flag: number; mode: number },
  done: (error: Error | null) => void,
) => void;

/**
 * Waits `sleep` seconds. Then appends the event to `shared_cache.collected_events`; or a line to the file at
 * `path`: `{message: event}` as JSON, the message, the event as JSON, or nothing, as configured.
 */
export function forward({
  ctx,
  event,
}: {
  ctx: PipelineRunContext<TestForwardConfig>;
  event: CollectedEvent;
}): Observable<never> {
  const { config } = ctx;
  const act = defer(() => {
    if (config.add_event_to_shared_cache) remember(ctx.shared_cache, event);
    if (config.path === undefined) return [];
    const { path } = config;
    return appendFile(path, `${lineFor(config, event)}\n`, { flag: APPEND_FLAGS, mode: FILE_MODE }).pipe(
      catchError((error) => throwError(() => writeError(path, error))),
    );
  });
  const steps = config.sleep > 0 ? concat(longTimer(config.sleep * 1000), act) : act;
  return steps.pipe(ignoreElements());
}

function remember(cache: Record<string, unknown>, event: CollectedEvent): void {
  const events = cache.collected_events;
  if (Array.isArray(events)) events.push(event);
  else cache.collected_events = [event];
}

function lineFor({ message, dump_event }: TestForwardConfig, event: CollectedEvent): string {
  if (!dump_event) return message ?? '';
  return message === undefined ? serialise(event) : toJson({ [message]: event });
}
