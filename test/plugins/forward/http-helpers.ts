import { afterEach } from '@jest/globals';
import { lastValueFrom, type Observable, toArray } from 'rxjs';
import http from '../../../plugins/forward/http.ts';
import type { PipelineRunContext } from '../../../src/sdk/context.ts';
import type { CollectedEvent } from '../../../src/sdk/events.ts';
import type { ForwardPlugin } from '../../../src/sdk/plugin.ts';
import { testContext } from '../../support/context.ts';
import { type Answerer, type HttpSink, httpSink } from '../../support/http-sink.ts';
import { tempFolder } from '../../support/temp-folder.ts';

export const temp = tempFolder();
export const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

export async function sinkOf(answer?: Answerer): Promise<HttpSink> {
  const sink = await httpSink(answer);
  ends.unshift(() => sink.close());
  return sink;
}

export const contextOf = (settings: object) => contextFor(http, settings);

/** A context of a forwarder, whose run ends with the test. */
export function contextFor(plugin: ForwardPlugin, settings: object): PipelineRunContext<never> {
  const run = new AbortController();
  ends.unshift(() => run.abort());
  const config = plugin.get_config_schema().safeParse({ plugin: 'own', ...settings });
  if (!config.success) throw new Error(JSON.stringify(config.error.issues));
  return testContext(config.data as never, { signal: run.signal }) as never;
}

export const event = (n: number, more = {}): CollectedEvent => ({
  timestamp: '2026-01-01T00:00:00.000Z',
  data: { line: `line ${n}`, ...more },
});
export const events = (count: number) => Array.from({ length: count }, (_, n) => event(n));
export const done = (sent: unknown) => lastValueFrom((sent as Observable<never>).pipe(toArray()));
export const sendTo = (ctx: PipelineRunContext<never>, batch: readonly CollectedEvent[]) =>
  done(http.forwardBatch?.({ ctx, events: batch, id: 'id' as never }));
export const failure = async (sent: Promise<unknown>): Promise<Record<string, unknown> & Error> => {
  try {
    await sent;
  } catch (error) {
    return error as Record<string, unknown> & Error;
  }
  throw new Error('it did not fail');
};
