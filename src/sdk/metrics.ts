import type { PluginStats } from './context.ts';

/** What a metric is called and what it counts. */
export interface MetricOptions<L extends string = string> {
  /**
   * Lower-case letters, digits and underscores, with the unit at the end, as Prometheus recommends: `replies_total`,
   * `reply_bytes`, `reply_duration_seconds`. It appears as `millrace_plugin_<name>`.
   */
  readonly name: string;
  /** One sentence that says what is counted, with its unit. */
  readonly help: string;
  /**
   * The labels of the plugin's own, such as `status`. Their values must come from a small, known set and never from an
   * event. The labels `pipeline`, `kind`, `entry` and `plugin` are added. Default: none.
   */
  readonly labels?: readonly L[];
}

/** {@link MetricOptions} with the upper bounds of the buckets. */
export interface HistogramOptions<L extends string = string> extends MetricOptions<L> {
  /** In ascending order. Default: 0.005 to 10, for seconds. */
  readonly buckets?: readonly number[];
}

/** The value of each label of the plugin's own. */
export type MetricLabels<L extends string> = Readonly<Record<L, string>>;
/** The labels are an argument only of a metric that has some. */
type Labelled<L extends string> = [L] extends [never] ? [] : [labels: MetricLabels<L>];

/** A number that only grows, such as replies received. Its name ends in `_total`. */
export interface CounterMetric<L extends string = never> {
  /** Adds a number that is 0 or more. */
  inc(value: number, ...labels: Labelled<L>): void;
}

/** A number that rises and falls, such as open connections. */
export interface GaugeMetric<L extends string = never> {
  set(value: number, ...labels: Labelled<L>): void;
}

/** Counts values by size, such as the duration of calls in seconds. */
export interface HistogramMetric<L extends string = never> {
  observe(value: number, ...labels: Labelled<L>): void;
}

/**
 * `ctx.metrics`: metrics of a plugin's own. Create them once per run, at the start of `collect` or on the first event,
 * and keep them; asking again for the same name returns the same metric. Without `--admin`, nothing is kept.
 *
 * @throws PluginError for a name that Prometheus does not take, or one that exists with another type or other labels
 */
export interface PluginMetrics {
  counter<const L extends string = never>(options: MetricOptions<L>): CounterMetric<L>;
  gauge<const L extends string = never>(options: MetricOptions<L>): GaugeMetric<L>;
  histogram<const L extends string = never>(options: HistogramOptions<L>): HistogramMetric<L>;
}

const ignore = () => {};
const silentMetric = { inc: ignore, set: ignore, observe: ignore };

/** Keeps nothing: `ctx.metrics` where metrics are off. */
export const silentMetrics: PluginMetrics = {
  counter: () => silentMetric,
  gauge: () => silentMetric,
  histogram: () => silentMetric,
};

/** `ctx.stats` where nothing is counted. */
export const silentStats: PluginStats = {
  masked: ignore,
  bytes: ignore,
  backlog: ignore,
  pending: ignore,
  lost: ignore,
  lostFile: ignore,
  truncated: ignore,
};
