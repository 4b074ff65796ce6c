import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { firstValueFrom, NEVER, of } from 'rxjs';
import { ENGINE_METRICS } from '../../src/admin/engine-metrics.ts';
import { Metrics } from '../../src/admin/metrics.ts';
import { PipelineCounters } from '../../src/engine/counters.ts';
import type { Manager } from '../../src/engine/manager.ts';
import type { PipelineRunContext } from '../../src/sdk/context.ts';
import { PluginError } from '../../src/sdk/errors.ts';
import { EventBatch } from '../../src/sdk/event-batch.ts';
import { collectedEvent } from '../../src/sdk/events.ts';
import { ROOT } from '../support/build.ts';
import { testManager } from '../support/pipelines.ts';

const page = readFileSync(join(ROOT, 'docs/monitoring.md'), 'utf8');

function watched(manager: Manager) {
  const health = manager.health();
  return Object.values(manager.states()).flatMap((status) => {
    const counters = manager.counters(status.pipeline);
    const found = health[status.pipeline];
    return counters === undefined || found === undefined ? [] : [{ status, counters, health: found }];
  });
}

async function textOf(metrics: Metrics): Promise<string> {
  let text = '';
  for await (const part of metrics.text()) text += part;
  return text;
}

/** The value of a line of the text format. */
const shownAs = (text: string, line: string) =>
  text
    .split('\n')
    .find((each) => each.startsWith(`${line} `))
    ?.slice(line.length + 1);

describe('metrics of the engine', () => {
  it('are those of the table in docs/monitoring.md', () => {
    const rows = [...page.matchAll(/^\| `(millrace_\w+)` \| (\w+) \| (.*?) \| (.*?) \|$/gm)].map(
      ([, name, type, labels = '', help]) => ({
        name,
        type,
        labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label]) => label),
        help,
      }),
    );
    const expected = ENGINE_METRICS.map(({ name, type, labels, help }) => ({
      name,
      type,
      labels: ['pipeline', ...labels],
      help,
    }));
    expect(rows.filter(({ name }) => name !== 'millrace_build_info')).toEqual(expected);
  });

  it('say what the pipeline has done, without content of its events', async () => {
    const secret = 'hunter2-content';
    const manager = testManager({
      collect: { source: () => of(new EventBatch([1, 2, 3].map((n) => collectedEvent({ n, secret })))) },
      process: {
        odd: ({ event }) => {
          if (event.data.n === 2) throw new PluginError('two');
          return event.data.n === 3 ? undefined : event;
        },
      },
      forward: { out: ({ ctx }) => ctx.stats.bytes(10) },
    });
    const metrics = new Metrics(() => watched(manager));
    manager.start();
    await firstValueFrom(manager.finished$);
    const text = await textOf(metrics);
    const entry = (kind: string, name: string) =>
      `{pipeline="main",kind="${kind}",entry="${name}",plugin="my_${name}"`;
    expect(shownAs(text, `millrace_events_received_total${entry('collect', 'source')}}`)).toBe('3');
    expect(shownAs(text, `millrace_events_sent_total${entry('process', 'odd')}}`)).toBe('1');
    expect(shownAs(text, `millrace_events_failed_total${entry('process', 'odd')}}`)).toBe('1');
    expect(shownAs(text, `millrace_events_dropped_total${entry('process', 'odd')},reason="filtered"}`)).toBe(
      '1',
    );
    expect(shownAs(text, `millrace_sent_bytes_total${entry('forward', 'out')}}`)).toBe('10');
    expect(shownAs(text, `millrace_forward_batch_events_count${entry('forward', 'out')}}`)).toBe('1');
    expect(shownAs(text, 'millrace_pipeline_state{pipeline="main",state="completed"}')).toBe('1');
    expect(shownAs(text, 'millrace_pipeline_ready{pipeline="main"}')).toBe('1');
    expect(text).toMatch(/^process_cpu_seconds_total \d/m);
    expect(text).toMatch(/^nodejs_eventloop_lag_p99_seconds /m);
    expect(text).not.toContain(secret);
  });

  it('have the drops of every reason from the start, so that an alert sees the first one', async () => {
    const manager = testManager({
      collect: { source: () => NEVER },
      process: { mask: ({ event }) => event },
      forward: { out: () => {}, dead: () => {} },
      pipeline: { forward: [{ to: 'out', when: 'data.n > 1' }], delivery: { dead_letter: 'dead' } },
    });
    manager.start();
    const text = await textOf(new Metrics(() => watched(manager)));
    const drops = text.split('\n').filter((line) => line.startsWith('millrace_events_dropped_total{'));
    expect(drops.map((line) => line.replace(/plugin="my_\w+",|pipeline="main",/g, ''))).toEqual([
      'millrace_events_dropped_total{kind="process",entry="mask",reason="filtered"} 0',
      'millrace_events_dropped_total{kind="process",entry="mask",reason="processor_failed"} 0',
      'millrace_events_dropped_total{kind="collect",entry="source",reason="collector_failed"} 0',
      'millrace_events_dropped_total{kind="collect",entry="source",reason="buffer_full"} 0',
      'millrace_events_dropped_total{kind="forward",entry="out",reason="forwarder_failed"} 0',
      'millrace_events_dropped_total{kind="forward",entry="out",reason="route_failed"} 0',
      'millrace_events_dropped_total{kind="dead_letter",entry="dead",reason="forwarder_failed"} 0',
      'millrace_events_dropped_total{reason="no_route"} 0',
    ]);
    expect(manager.stats().main?.dropped).toEqual({});
    await firstValueFrom(manager.stop());
  });

  it('count what a collector cannot read as failed, and as given to the dead letter', async () => {
    const poison = collectedEvent({ payload: 'x' });
    const manager = testManager({
      collect: { source: () => of(EventBatch.refused(poison, new PluginError('not JSON'), () => {})) },
      forward: { out: () => {}, dead: () => {} },
      pipeline: { forward: 'out', delivery: { dead_letter: 'dead' } },
    });
    const metrics = new Metrics(() => watched(manager));
    manager.start();
    await firstValueFrom(manager.finished$);
    const text = await textOf(metrics);
    const source = '{pipeline="main",kind="collect",entry="source",plugin="my_source"}';
    expect(shownAs(text, `millrace_events_failed_total${source}`)).toBe('1');
    expect(shownAs(text, `millrace_events_dead_lettered_total${source}`)).toBe('1');
    expect(shownAs(text, `millrace_events_sent_total${source}`)).toBe('0');
  });

  it('show at most 1,000 rules of an entry, and count the others together', async () => {
    const events = Array.from({ length: 1200 }, (_, n) => collectedEvent({ n }));
    const manager = testManager({
      collect: { source: () => of(new EventBatch(events)) },
      process: {
        mask: ({ ctx, event }) => {
          ctx.stats.masked(`rule ${event.data.n}`, 1);
          return event;
        },
      },
      forward: { out: () => {} },
    });
    const metrics = new Metrics(() => watched(manager));
    manager.start();
    await firstValueFrom(manager.finished$);
    const text = await textOf(metrics);
    const rules = text.split('\n').filter((line) => line.startsWith('millrace_values_masked_total{'));
    expect(rules).toHaveLength(1001);
    expect(rules.at(-1)).toMatch(/rule="other"\} 200$/);
  });

  it('come in parts, and let the process do other work between two parts', async () => {
    const pipelines = Array.from({ length: 1000 }, (_, n) => {
      const counters = new PipelineCounters();
      counters.entry({ kind: 'collect', name: 'app_log' }, 'file');
      counters.entry({ kind: 'process', name: 'mask' }, 'redact');
      const out = counters.entry({ kind: 'forward', name: 'archive' }, 'disk');
      for (const size of [1, 3, 1000]) out.batchEvents.observe(size);
      const pipeline = `pipeline-${n}`;
      const health = { pipeline, state: 'running', isReady: true, isStalled: false, problems: [] } as const;
      return { status: { pipeline, state: 'running', since: '', failures: 0 } as const, counters, health };
    });
    let reads = 0;
    const metrics = new Metrics(() => {
      reads++;
      return pipelines;
    });
    let length = 0;
    let parts = 0;
    let turns = 0;
    const counting = setInterval(() => turns++, 0);
    for await (const part of metrics.text()) {
      expect(part.length).toBeLessThan(200_000);
      length += part.length;
      parts++;
    }
    clearInterval(counting);
    expect(reads).toBe(1);
    // 75 series for each pipeline, with some 120 characters each.
    expect(length).toBeLessThan(9_500_000);
    expect(turns).toBeGreaterThan(parts / 4);
  });

  it('escape what names may have', async () => {
    const counters = new PipelineCounters();
    const pipeline = 'a "b" \\ c\nd';
    const health = { pipeline, state: 'running', isReady: true, isStalled: false, problems: [] } as const;
    const status = { pipeline, state: 'running', since: '', failures: 0 } as const;
    const text = await textOf(new Metrics(() => [{ status, counters, health }]));
    expect(text).toContain('millrace_pipeline_ready{pipeline="a \\"b\\" \\\\ c\\nd"} 1\n');
  });

  it('have no lag of the event loop that was not measured', async () => {
    const metrics = new Metrics(() => []);
    for (let scrape = 0; scrape < 3; scrape++) {
      const lags = (await textOf(metrics)).match(/^nodejs_eventloop_lag\w* .*$/gm) ?? [];
      const values = lags.map((line) => Number(line.split(' ')[1]));
      expect(values.filter((value) => !(value >= 0 && value < 1000))).toEqual([]);
    }
  });

  it('give a histogram in cumulative buckets', async () => {
    const manager = testManager({
      collect: { source: () => of(new EventBatch([1, 2, 3].map((n) => collectedEvent({ n })))) },
      forward: { out: () => {} },
    });
    const metrics = new Metrics(() => watched(manager));
    const entry = manager.counters('main')?.entry({ kind: 'forward', name: 'out' }, 'my_out');
    for (const size of [1, 3, 3, 1000, 100_000]) entry?.batchEvents.observe(size);
    const lines = (await textOf(metrics))
      .split('\n')
      .filter((line) => line.startsWith('millrace_forward_batch_events_'))
      .map((line) => line.replace(/,?pipeline=.*\}/, '}').replace('millrace_forward_batch_events_', ''));
    expect(lines).toContain('bucket{le="1"} 1');
    expect(lines).toContain('bucket{le="4"} 3');
    expect(lines).toContain('bucket{le="1024"} 4');
    expect(lines).toContain('bucket{le="+Inf"} 5');
    expect(lines.filter((line) => line.startsWith('count'))).toEqual([expect.stringMatching(/ 5$/)]);
  });
});

describe('metrics of plugins', () => {
  const inRun = async (use: (ctx: PipelineRunContext) => void, areRemoved = false) => {
    const metrics: Metrics = new Metrics(() => (areRemoved ? [] : watched(manager)));
    const manager: Manager = testManager({
      collect: {
        source: ({ ctx }) => {
          use(ctx);
          return of(collectedEvent({ n: 1 }));
        },
      },
      forward: { out: () => {} },
      options: { metrics: metrics.of },
    });
    manager.start();
    const [status] = await firstValueFrom(manager.finished$);
    return { status, text: await textOf(metrics) };
  };
  const LABELS = 'pipeline="main",kind="collect",entry="source",plugin="my_source"';

  it('appear with the labels of their entry', async () => {
    const { text } = await inRun(({ metrics }) => {
      const replies = { name: 'replies_total', help: 'Replies.', labels: ['status'] } as const;
      metrics.counter(replies).inc(2, { status: '200' });
      metrics.counter(replies).inc(1, { status: '200' });
      metrics.gauge({ name: 'open_connections', help: 'Connections.' }).set(7);
      metrics.histogram({ name: 'reply_bytes', help: 'Bytes.', buckets: [10, 100] }).observe(50);
    });
    expect(shownAs(text, `millrace_plugin_replies_total{${LABELS},status="200"}`)).toBe('3');
    expect(shownAs(text, `millrace_plugin_open_connections{${LABELS}}`)).toBe('7');
    expect(shownAs(text, `millrace_plugin_reply_bytes_bucket{le="100",${LABELS}}`)).toBe('1');
  });

  it('are bounded: further combinations of labels are counted together', async () => {
    const { text } = await inRun(({ metrics }) => {
      const seen = metrics.counter({ name: 'seen_total', help: 'Seen.', labels: ['id'] });
      for (let id = 0; id < 5000; id++) seen.inc(1, { id: String(id) });
    });
    const lines = text.split('\n').filter((line) => line.startsWith('millrace_plugin_seen_total'));
    expect(lines).toHaveLength(1001);
    expect(shownAs(text, `millrace_plugin_seen_total{${LABELS},id="other"}`)).toBe('4000');
  });

  it('disappear with their pipeline', async () => {
    const { text } = await inRun(({ metrics }) => {
      metrics
        .counter({ name: 'replies_total', help: 'Replies.', labels: ['status'] })
        .inc(2, { status: '200' });
      metrics.gauge({ name: 'open_connections', help: 'Connections.' }).set(7);
      metrics.histogram({ name: 'reply_bytes', help: 'Bytes.' }).observe(50);
    }, true);
    expect(text).not.toContain('pipeline="main"');
  });

  it.each([
    [{ name: 'Replies_total', help: 'Replies.' }, 'lower-case letters'],
    [{ name: 'replies', help: 'Replies.' }, 'has to end in _total'],
    [{ name: 'replies_total', help: '' }, 'has no `help`'],
    [{ name: 'replies_total', help: 'Replies.', labels: ['pipeline'] }, 'a label "pipeline"'],
  ])('are refused where Prometheus would not take them: %j', async (options, message) => {
    const { status } = await inRun(({ metrics }) => void metrics.counter(options));
    expect(status).toMatchObject({ state: 'failed' });
    expect(String(status?.error)).toContain(message);
  });

  it('are refused with the name of another one', async () => {
    const { status } = await inRun(({ metrics }) => {
      metrics.counter({ name: 'replies_total', help: 'Replies.' });
      metrics.counter({ name: 'replies_total', help: 'Replies.', labels: ['status'] });
    });
    expect(String(status?.error)).toContain('exists as a counter with other labels');
  });
});
