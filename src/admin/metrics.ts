import { createRequire } from 'node:module';
import type { Counter, Gauge, Histogram as PromHistogram, Registry } from 'prom-client';
import { firstValueFrom, timer } from 'rxjs';
import { MOST_LABEL_VALUES, OTHER } from '../engine/counters.ts';
import { Histogram } from '../engine/histogram.ts';
import type { MetricsOf } from '../engine/manager.ts';
import { PluginError } from '../sdk/errors.ts';
import type { HistogramOptions, MetricOptions, PluginMetrics } from '../sdk/metrics.ts';
import { version } from '../version.ts';
import { ENGINE_METRICS, type EngineMetric, type WatchedPipeline } from './engine-metrics.ts';

/** Metrics of the process that prom-client names against Prometheus's conventions: gauges that end in `_total`. */
const MISNAMED = /^nodejs_active_(?:handles|requests|resources)_total$/;
/** What is measured of the event loop since the last scrape. */
const LAG = /^nodejs_eventloop_lag_\w+_seconds$/;
/** Seconds: no process lags behind for a year. */
const MOST_LAG = 31_536_000;
/** Characters that are written without a turn of the event loop: they take about a millisecond. */
const PART_LENGTH = 65_536;
/** Milliseconds between two measurements of the event loop's lag: each wakes the process. */
const LAG_EVERY = 100;
const PREFIX = 'millrace_plugin_';
const COMMON_LABELS = ['pipeline', 'kind', 'entry', 'plugin'] as const;

/** prom-client, loaded at once where it is first needed: a plugin that creates a metric cannot wait for an import. */
const loadPromClient = (): typeof import('prom-client') => createRequire(import.meta.url)('prom-client');

/**
 * All metrics of a process. Those of the engine are read when they are asked for, and cost nothing until then. The first
 * request, or a plugin with metrics of its own, loads prom-client, and the metrics of the process count from then on.
 */
export class Metrics {
  #loaded: Registry | undefined;
  readonly #plugins = new Map<string, PluginMetric>();
  readonly #pipelines: () => readonly WatchedPipeline[];

  /** `pipelines` returns those that there are at the moment. */
  constructor(pipelines: () => readonly WatchedPipeline[]) {
    this.#pipelines = pipelines;
  }

  get #registry(): Registry {
    this.#loaded ??= this.#filledRegistry();
    return this.#loaded;
  }

  #filledRegistry(): Registry {
    const { collectDefaultMetrics, Gauge, Registry } = loadPromClient();
    const registry = new Registry();
    collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LAG_EVERY });
    for (const metric of registry.getMetricsAsArray()) {
      if (MISNAMED.test(metric.name)) registry.removeSingleMetric(metric.name);
      else if (LAG.test(metric.name)) leaveOutUnmeasured(metric as unknown as Gauge);
    }
    new Gauge({
      name: 'millrace_build_info',
      help: 'The version of millrace, as a label; always 1.',
      labelNames: ['version'],
      registers: [registry],
    }).set({ version: version() }, 1);
    return registry;
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /**
   * The text format of Prometheus, in parts. Between two parts the process does other work: with thousands of pipelines, the
   * whole takes long. Metrics of plugins whose entries a reload has removed are not in it any more.
   */
  async *text(): AsyncGenerator<string> {
    // Their health is the same for all metrics.
    const pipelines = this.#pipelines();
    const entries = new Set(
      pipelines.flatMap(({ status, counters }) =>
        counters.entries.map(({ kind, name }) => entryKey(status.pipeline, kind, name)),
      ),
    );
    for (const metric of this.#plugins.values()) {
      metric.prune(({ pipeline, kind, entry }) => entries.has(entryKey(pipeline, kind, entry)));
    }
    yield await this.#registry.metrics();
    let part = '';
    for (const metric of ENGINE_METRICS) {
      part += `# HELP ${metric.name} ${metric.help}\n# TYPE ${metric.name} ${metric.type}\n`;
      for (const pipeline of pipelines) {
        part += linesOf(metric, pipeline);
        if (part.length < PART_LENGTH) continue;
        yield part;
        part = '';
        await firstValueFrom(timer(0));
      }
    }
    yield part;
  }

  /** `ctx.metrics` of a plugin. */
  readonly of: MetricsOf = (pipeline, { kind, name: entry }, plugin): PluginMetrics => {
    const common = { pipeline, kind, entry, plugin };
    const metric = (type: PluginMetric['type'], options: HistogramOptions) => {
      const found = this.#plugins.get(options.name) ?? this.#create(type, options, plugin);
      found.expect(type, options, plugin);
      return found.in(common) as never;
    };
    return {
      counter: (options) => metric('counter', options),
      gauge: (options) => metric('gauge', options),
      histogram: (options) => metric('histogram', options),
    };
  };

  #create(type: PluginMetric['type'], options: HistogramOptions, plugin: string): PluginMetric {
    checkOptions(type, options, plugin);
    const metric = new PluginMetric(type, options, this.#registry);
    this.#plugins.set(options.name, metric);
    return metric;
  }
}

const entryKey = (...names: readonly unknown[]) => JSON.stringify(names);

/**
 * Leaves out what the monitor of the event loop has not measured yet: it has NaN, or the largest number, until its first
 * measurement after a start or a scrape.
 */
function leaveOutUnmeasured(metric: Gauge): void {
  const get = metric.get.bind(metric);
  metric.get = async () => {
    const all = await get();
    return { ...all, values: all.values.filter(({ value }) => value < MOST_LAG) };
  };
}

/** What one pipeline has of a metric, in the text format. prom-client takes ten times as long for it. */
function linesOf({ name, read }: EngineMetric, pipeline: WatchedPipeline): string {
  let text = '';
  for (const [own, value] of read(pipeline)) {
    const labels = labelsText({ pipeline: pipeline.status.pipeline, ...own });
    text +=
      value instanceof Histogram ? histogramLines(name, value, labels) : `${name}{${labels}} ${value}\n`;
  }
  return text;
}

function histogramLines(name: string, { bounds, counts, sum }: Histogram, labels: string): string {
  let text = '';
  let total = 0;
  counts.forEach((count, index) => {
    total += count;
    text += `${name}_bucket{le="${bounds[index] ?? '+Inf'}",${labels}} ${total}\n`;
  });
  return `${text}${name}_sum{${labels}} ${sum}\n${name}_count{${labels}} ${total}\n`;
}

function labelsText(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([label, value]) => `${label}="${/[\\\n"]/.test(value) ? escaped(value) : value}"`)
    .join(',');
}

const escaped = (value: string) =>
  value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');

type Values = Readonly<Record<string, string>>;

/** A metric that a plugin has of its own, for all entries that use it. */
class PluginMetric {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly #labels: readonly string[];
  readonly #buckets: string;
  readonly #metric: Counter | Gauge | PromHistogram;
  /** The labels of each series. */
  readonly #series = new Map<string, Values>();

  constructor(type: PluginMetric['type'], options: HistogramOptions, registry: Registry) {
    const { name, help, labels = [], buckets } = options;
    this.type = type;
    this.#labels = labels;
    this.#buckets = String(buckets);
    const settings = {
      name: `${PREFIX}${name}`,
      help,
      labelNames: [...COMMON_LABELS, ...labels],
      registers: [registry],
    };
    const { Counter, Gauge, Histogram: PromHistogram } = loadPromClient();
    if (type === 'counter') this.#metric = new Counter(settings);
    else if (type === 'gauge') this.#metric = new Gauge(settings);
    else this.#metric = new PromHistogram({ ...settings, ...(buckets && { buckets: [...buckets] }) });
  }

  /** @throws PluginError if these are not the options that the metric has */
  expect(type: PluginMetric['type'], { name, labels = [], buckets }: HistogramOptions, plugin: string): void {
    if (type === this.type && String(labels) === String(this.#labels) && String(buckets) === this.#buckets)
      return;
    throw refused(name, plugin, `exists as a ${this.type} with other labels or buckets; choose another name`);
  }

  /** The methods of the metric for one entry. */
  in(common: Values) {
    const { type } = this;
    const metric = this.#metric;
    const prefix = JSON.stringify(common);
    const labelled = (own?: Values) => this.#labelsOf(common, prefix, own);
    if (type === 'counter') {
      return {
        inc: (value: number, own?: Values) => {
          if (value >= 0) (metric as Counter).inc(labelled(own), value);
        },
      };
    }
    if (type === 'gauge') {
      return { set: (value: number, own?: Values) => (metric as Gauge).set(labelled(own), value) };
    }
    return {
      observe: (value: number, own?: Values) => (metric as PromHistogram).observe(labelled(own), value),
    };
  }

  /** Removes the series for which `isPresent` is false. */
  prune(isPresent: (labels: Values) => boolean): void {
    for (const [key, labels] of this.#series) {
      if (isPresent(labels)) continue;
      this.#metric.remove(labels);
      this.#series.delete(key);
    }
  }

  /** Common labels, and those of the plugin. Beyond the limit, the plugin's are counted together. */
  #labelsOf(common: Values, prefix: string, own: Values = {}): Values {
    const values = this.#labels.map((label) => String(own[label] ?? ''));
    const key = values.length === 0 ? prefix : prefix + JSON.stringify(values);
    const known = this.#series.get(key);
    if (known !== undefined) return known;
    const isOther = this.#series.size >= MOST_LABEL_VALUES;
    const labels: Record<string, string> = { ...common };
    this.#labels.forEach((label, index) => {
      labels[label] = isOther ? OTHER : (values[index] as string);
    });
    this.#series.set(isOther ? `${prefix} ${OTHER}` : key, labels);
    return labels;
  }
}

const NAME = /^[a-z][a-z0-9_]*$/;

function checkOptions(
  type: PluginMetric['type'],
  { name, help, labels = [] }: MetricOptions,
  plugin: string,
) {
  if (!NAME.test(name))
    throw refused(name, plugin, 'has to consist of lower-case letters, digits and underscores');
  if ((type === 'counter') !== name.endsWith('_total')) {
    throw refused(
      name,
      plugin,
      type === 'counter' ? 'is a counter, so it has to end in _total' : 'must not end in _total',
    );
  }
  if (typeof help !== 'string' || help === '') throw refused(name, plugin, 'has no `help`');
  const wrong = labels.find(
    (label) => !NAME.test(label) || (COMMON_LABELS as readonly string[]).includes(label) || label === 'le',
  );
  if (wrong !== undefined)
    throw refused(name, plugin, `has a label ${JSON.stringify(wrong)}, which is not possible`);
}

/** Fatal: it would be the same for every event. */
function refused(name: string, plugin: string, why: string): PluginError {
  const error = new PluginError(`plugin ${plugin}: the metric ${JSON.stringify(name)} ${why}`);
  return Object.assign(error, { fatal: true });
}
