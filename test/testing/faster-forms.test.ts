import { describe, expect, it } from '@jest/globals';
import { map, type Observable, timer } from 'rxjs';
import { registerPlugin } from '../../src/config/registry.ts';
import { ProcessConfigBase } from '../../src/sdk/config.ts';
import type { PipelineRunContext } from '../../src/sdk/context.ts';
import type { CollectedEvent } from '../../src/sdk/events.ts';
import { ParsedEvents, type ParsedFields } from '../../src/sdk/parsed-events.ts';
import type { ProcessPlugin, RowOutcomes } from '../../src/sdk/plugin.ts';
import type { Rows } from '../../src/sdk/rows.ts';
import { testPipeline } from '../../src/testing/test-pipeline.ts';

interface Args {
  readonly ctx: PipelineRunContext;
  readonly event: CollectedEvent;
}

let plugins = 0;

/** The name of a new processor. */
function processor(plugin: Partial<ProcessPlugin>): string {
  const name = `faster-form-${plugins++}`;
  registerPlugin('process', name, {
    get_config_schema: () => ProcessConfigBase,
    process: ({ event }) => event,
    ...plugin,
  });
  return name;
}

const MARBLES = { marbles: 'a 1s b|', values: { a: '{"pin":"1234"}', b: '{"pin":"5678","n":2}' } };

/** Runs lines of a file through processors, and returns what the archive got. */
async function linesThrough(process: readonly object[], values: object = MARBLES.values) {
  const names = process.map((_, index) => `p${index}`);
  const run = await testPipeline(
    {
      collectors: { log: { plugin: 'file', paths: ['app.log'] } },
      processors: Object.fromEntries(process.map((entry, index) => [`p${index}`, entry])),
      forwarders: { archive: { plugin: 'noop' } },
      pipelines: { main: { collect: 'log', process: names, forward: 'archive' } },
      host_config: {},
    },
    { collect: { log: { ...MARBLES, values: values as never } } },
  );
  return run.events('archive').map(({ data }) => data);
}

const JSON_LINES = { plugin: 'parse', format: 'json' };
const upper = ({ event }: Args) => ({
  ...event,
  data: { ...event.data, line: String(event.data.line).toUpperCase() },
});

const hide = (data: ParsedFields): ParsedFields => ({ ...data, pin: '***' });
const rowsBy =
  (change: (data: ParsedFields) => ParsedFields) =>
  ({ rows }: { rows: Rows }) =>
    rows instanceof ParsedEvents
      ? (start: number, end: number) =>
          new ParsedEvents(
            rows.fields.slice(start, end).map(change),
            rows.envelope,
            rows.timestamps?.slice(start, end),
          )
      : undefined;
const hiding = ({ event }: Args) => ({ ...event, data: hide(event.data as ParsedFields) });

describe('a test in virtual time uses the faster forms of processors, as a run would', () => {
  it('passes if they do what process does', async () => {
    const lines = processor({ process: upper, mapLines: () => ({ map: (line) => line.toUpperCase() }) });
    expect(await linesThrough([{ plugin: lines }])).toMatchObject([{ line: '{"PIN":"1234"}' }, {}]);
    const rows = processor({ process: hiding, mapRows: rowsBy(hide) });
    expect(await linesThrough([JSON_LINES, { plugin: rows }])).toMatchObject([{ pin: '***' }, { n: 2 }]);
  });

  it('fails if a run would write other lines', async () => {
    const plugin = processor({ process: upper, mapLines: () => ({ map: (line) => line }) });
    await expect(linesThrough([{ plugin }])).rejects.toMatchObject({
      code: 'MILLRACE_TEST_FORM',
      message: expect.stringMatching(
        /^p0 \(faster-form-\d+\) has a faster form that is not like process.*for the line the string .*1234.* mapLines gave {.*}, where process gave {.*PIN/,
      ),
    });
  });

  it.each<[string, Partial<ProcessPlugin>, RegExp]>([
    [
      'masks nothing',
      { process: hiding, mapRows: rowsBy((data) => data) },
      /"pin":"1234".* where process gave .*\*\*\*/,
    ],
    [
      'loses a row',
      {
        mapRows:
          ({ rows }) =>
          (start, end) =>
            rows.slice(start, end - 1) as ParsedEvents,
      },
      /gave 0 rows for the rows 0 to 0, where 1 were neither dropped nor failed/,
    ],
    [
      'drops a row that is kept',
      {
        mapRows:
          ({ rows }) =>
          (start: number, _end: number, { dropped }: RowOutcomes) => {
            dropped(start);
            return rows.slice(0, 0) as ParsedEvents;
          },
      },
      /mapRows gave no event, where process gave/,
    ],
    [
      'throws',
      {
        mapRows: () => () => {
          throw new RangeError('boom');
        },
      },
      /the mapping of mapRows threw "RangeError/,
    ],
    [
      'does not fail where process does',
      {
        process() {
          throw new RangeError('boom');
        },
        mapRows: rowsBy((data) => data),
      },
      /mapRows gave .* where process failed with "RangeError/,
    ],
  ])('fails if mapRows %s', async (_, plugin, told) => {
    const rows = {
      ...plugin,
      mapRows: (args: never) =>
        (args as { rows: Rows }).rows instanceof ParsedEvents ? plugin.mapRows?.(args) : undefined,
    };
    await expect(linesThrough([JSON_LINES, { plugin: processor(rows) }])).rejects.toThrow(told);
  });

  it('names the first event that differs, of many', async () => {
    const change = (data: ParsedFields) => (data.n === 2 ? data : hide(data));
    const plugin = processor({ process: hiding, mapRows: rowsBy(change) });
    await expect(linesThrough([JSON_LINES, { plugin }])).rejects.toThrow(/for the event .*"pin":"5678"/);
  });

  it('fails for results that come later, or one by one', async () => {
    const later = ({ event }: Args): Observable<CollectedEvent> =>
      timer(10).pipe(map(() => upper({ event } as Args)));
    function* pulled({ event }: Args) {
      yield upper({ event } as Args);
    }
    for (const process of [later, pulled]) {
      const wrong = processor({ process, mapLines: () => ({ map: (line) => line }) });
      await expect(linesThrough([{ plugin: wrong }])).rejects.toThrow(/where process gave {.*PIN/);
      const right = processor({ process, mapLines: () => ({ map: (line) => line.toUpperCase() }) });
      expect(await linesThrough([{ plugin: right }])).toHaveLength(2);
    }
  });

  it('does not compare what chance decides', async () => {
    const plugin = processor({
      process: ({ ctx, event }: Args) => ({ ...event, data: { ...event.data, line: String(ctx.random()) } }),
      mapLines: ({ ctx }: { ctx: PipelineRunContext }) => ({ map: () => String(ctx.random()) }),
    });
    expect(await linesThrough([{ plugin }])).toHaveLength(2);
  });

  it('compares what depends on the events before, each form with its own memory', async () => {
    const isNew = (cache: Record<string, unknown>, line: unknown) => {
      const wasSeen = cache.last === line;
      cache.last = line;
      return !wasSeen;
    };
    const plugin = processor({
      traits: { needsOrder: true },
      process: ({ ctx, event }: Args) => (isNew(ctx.cache, event.data.line) ? event : []),
      mapLines: ({ ctx }: { ctx: PipelineRunContext }) => ({
        map: (line) => (isNew(ctx.cache, line) ? line : undefined),
      }),
    });
    const same = { a: 'one', b: 'one' };
    expect(await linesThrough([{ plugin }], same)).toMatchObject([{ line: 'one' }]);
    expect(await linesThrough([{ plugin }], { a: { line: 'one', n: 1 }, b: 'one' })).toHaveLength(1);
  });

  it('reads what other processors have shared, and changes none of it', async () => {
    const plugin = processor({
      process: ({ ctx, event }: Args) => {
        ctx.shared_cache.seen = Number(ctx.shared_cache.seen ?? 0) + 1;
        return { ...event, data: { ...event.data, line: String(ctx.shared_cache.seen) } };
      },
      mapLines: ({ ctx }: { ctx: PipelineRunContext }) => ({
        map: () => {
          ctx.shared_cache.seen = Number(ctx.shared_cache.seen ?? 0) + 1;
          return String(ctx.shared_cache.seen);
        },
      }),
    });
    expect(await linesThrough([{ plugin }])).toMatchObject([{ line: '1' }, { line: '2' }]);
  });
});
