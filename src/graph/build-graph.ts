import { formatNumber } from '../sdk/checks/describe.ts';
import { isMapping } from '../sdk/checks/problem.ts';
import {
  conditionsOf,
  shownSettings,
  type WrittenSections,
  withReferences,
} from '../sdk/checks/shown-values.ts';
import {
  type AnalyticsConfig,
  diskBufferOf,
  forwardersOf,
  memoryBufferOf,
  type PipelineConfig,
} from '../sdk/config.ts';
import type { Plugin, PluginKind } from '../sdk/plugin.ts';
import { MAX_COUNT } from '../sdk/schema-parts.ts';
import {
  type GraphEdge,
  type GraphNode,
  type GraphSetting,
  NOT_TESTED,
  type PipelineGraph,
  visibleText,
} from './graph.ts';

const SECTIONS = { collect: 'collectors', process: 'processors', forward: 'forwarders' } as const;

/**
 * The pipelines of a configuration as nodes and edges, with the settings that matter. `written` keeps values of
 * environment variables out of it.
 *
 * @example
 * const graph = buildGraph(await parseConfig({
 *   collectors: { ticks: { plugin: 'test' } },
 *   forwarders: { screen: { plugin: 'stdout' } },
 *   pipelines: { main: { collect: 'ticks', forward: 'screen' } },
 *   host_config: {},
 * }));
 * graph.edges.map(({ from, to }) => [from.name, to.name]); // [['ticks', 'main'], ['main', 'screen']]
 */
export function buildGraph(config: AnalyticsConfig, written: WrittenSections = new Map()): PipelineGraph {
  const users = usersOf(config);
  const entries = (kind: PluginKind) => {
    const section = written.get(SECTIONS[kind]) ?? {};
    return new Map(
      Object.entries(config[SECTIONS[kind]]).map(([name, entry], index): [string, GraphNode] => {
        const shown = withReferences(entry, section[name]);
        const values: Readonly<Record<string, unknown>> = isMapping(shown) ? shown : {};
        return [
          name,
          {
            id: `${kind}${index}`,
            kind,
            name: visibleText(name),
            plugin: visibleText(String(values.plugin)),
            settings: entrySettings(entry.loaded_plugin, values),
            state: stateOf(users.get(`${kind} ${name}`)),
          },
        ];
      }),
    );
  };
  const forwarders = entries('forward');
  const conditions = routeSettings(config, written);
  for (const [name, node] of forwarders) {
    forwarders.set(name, { ...node, settings: [...(conditions.get(name) ?? []), ...node.settings] });
  }
  const nodes = { collect: entries('collect'), process: entries('process'), forward: forwarders };
  const pipelines = Object.entries(config.pipelines).map(([name, pipeline], index) => ({
    pipeline,
    node: pipelineNode(name, index, pipeline, written.get('pipelines')?.[name]),
  }));
  return {
    nodes: [
      ...nodes.collect.values(),
      ...pipelines.map(({ node }) => node),
      ...nodes.process.values(),
      ...nodes.forward.values(),
    ],
    edges: pipelines.flatMap(({ node, pipeline }) => edgesOf(node, pipeline, nodes)),
  };
}

/** Something of an entry or a pipeline that no test reaches, in a few words. */
export interface UntestedPart {
  readonly kind: GraphNode['kind'];
  readonly name: string;
  readonly mark: string;
}

/**
 * Returns the graph with cards of entries and pipelines that say what no test reaches.
 *
 * @example
 * const node = { id: 'collect0', kind: 'collect', name: 'log', plugin: 'file', settings: [], state: 'active' };
 * const marked = markUntested({ nodes: [node], edges: [] }, [{ kind: 'collect', name: 'log', mark: 'no event' }]);
 * marked.nodes[0].settings; // [{ key: 'not tested', values: ['no event'] }]
 */
export function markUntested(graph: PipelineGraph, parts: readonly UntestedPart[]): PipelineGraph {
  const copies = new Map(
    graph.nodes.map((node): [GraphNode, GraphNode] => {
      const own = parts.filter(({ kind, name }) => kind === node.kind && visibleText(name) === node.name);
      const marks = [...new Set(own.map(({ mark }) => visibleText(mark)))];
      if (marks.length === 0) return [node, node];
      return [node, { ...node, settings: [...node.settings, { key: NOT_TESTED, values: marks }] }];
    }),
  );
  const copyOf = (node: GraphNode) => copies.get(node) as GraphNode;
  return {
    nodes: graph.nodes.map(copyOf),
    edges: graph.edges.map((edge) => ({
      ...edge,
      from: copyOf(edge.from),
      to: copyOf(edge.to),
      pipeline: copyOf(edge.pipeline),
    })),
  };
}

function pipelineNode(name: string, index: number, config: PipelineConfig, written: unknown): GraphNode {
  return {
    id: `pipeline${index}`,
    kind: 'pipeline',
    name: visibleText(name),
    plugin: undefined,
    settings: pipelineSettings(withReferences(config, written) as PipelineConfig),
    state: config.enabled ? 'active' : 'disabled',
  };
}

/** The pipelines that use each entry. */
function usersOf(config: AnalyticsConfig): Map<string, PipelineConfig[]> {
  const users = new Map<string, PipelineConfig[]>();
  for (const pipeline of Object.values(config.pipelines)) {
    const { collect, process = [], delivery } = pipeline;
    const used = {
      collect,
      process,
      forward: [
        ...forwardersOf(pipeline),
        ...(delivery.dead_letter === undefined ? [] : [delivery.dead_letter]),
      ],
    };
    for (const [kind, names] of Object.entries(used)) {
      for (const name of names) {
        const key = `${kind} ${name}`;
        users.set(key, [...(users.get(key) ?? []), pipeline]);
      }
    }
  }
  return users;
}

function stateOf(users: readonly PipelineConfig[] | undefined): GraphNode['state'] {
  if (users === undefined) return 'unused';
  return users.some(({ enabled }) => enabled) ? 'active' : 'disabled';
}

/** On which condition events reach each forwarder, if there is one. */
function routeSettings(config: AnalyticsConfig, written: WrittenSections): Map<string, GraphSetting[]> {
  const settings = new Map<string, GraphSetting[]>();
  const pipelines = Object.entries(config.pipelines);
  for (const [pipeline, value] of pipelines) {
    const key = pipelines.length === 1 ? 'when' : `when in ${pipeline}`;
    for (const [name, when] of conditionsOf(value, written.get('pipelines')?.[pipeline])) {
      settings.set(name, [...(settings.get(name) ?? []), ...setting(key, when, '')]);
    }
  }
  return settings;
}

type Nodes = Readonly<Record<PluginKind, ReadonlyMap<string, GraphNode>>>;

function edgesOf(pipeline: GraphNode, config: PipelineConfig, nodes: Nodes): GraphEdge[] {
  const { collect, process = [], delivery } = config;
  const find = (kind: PluginKind, names: readonly string[]) =>
    names.map((name) => nodes[kind].get(name) as GraphNode);
  const way = [pipeline, ...find('process', process)];
  const edge = (from: GraphNode, to: GraphNode, kind: GraphEdge['kind'] = 'events'): GraphEdge => ({
    from,
    to,
    pipeline,
    kind,
  });
  return [
    ...find('collect', collect).map((collector) => edge(collector, pipeline)),
    ...way.slice(1).map((processor, index) => edge(way[index] as GraphNode, processor)),
    ...find('forward', forwardersOf(config)).map((forwarder) => edge(way.at(-1) as GraphNode, forwarder)),
    ...find('forward', delivery.dead_letter === undefined ? [] : [delivery.dead_letter]).map((forwarder) =>
      edge(pipeline, forwarder, 'dead_letter'),
    ),
  ];
}

const MOST_VALUES = 12;

/**
 * The settings of an entry that may be shown, as text.
 *
 * @example
 * const plugin = { shownSettings: { fn: '', interval: ' s' } };
 * entrySettings(plugin, { fn: 'status.uptime', interval: 5, args: ['s3cret'] });
 * // [{ key: 'fn', values: ['status.uptime'] }, { key: 'interval', values: ['5 s'] }]
 */
export function entrySettings(plugin: Plugin, values: Readonly<Record<string, unknown>>): GraphSetting[] {
  return [...shownSettings(plugin, values)].flatMap(([key, unit]) => setting(key, values[key], unit));
}

/** The settings of a pipeline: those that always matter, and those that are set. */
function pipelineSettings(config: PipelineConfig): GraphSetting[] {
  const { max_in_flight, ordered, restart, delivery } = config;
  return [
    ...setting('max_in_flight', max_in_flight, ''),
    { key: 'ordered', values: [String(ordered)] },
    { key: 'restart', values: [String(restart)] },
    ...setting('attempts', delivery.attempts, ''),
    ...setting('timeout', delivery.timeout, ' s'),
    ...bufferSettings(config),
  ];
}

function bufferSettings(config: PipelineConfig): GraphSetting[] {
  const onDisk = diskBufferOf(config);
  if (onDisk !== undefined) {
    const { path, max_bytes, when_full } = onDisk;
    return [{ key: 'buffer', values: [visibleText(path), `${formatNumber(max_bytes)} bytes`, when_full] }];
  }
  const { max_events, when_full } = memoryBufferOf(config);
  const isDefault = max_events === 10_000 && when_full === 'drop_oldest';
  return isDefault ? [] : [{ key: 'buffer', values: [`${formatNumber(max_events)} ${when_full}`] }];
}

/** None for what is not set: a switch that is off, no limit, no text. */
function setting(key: string, value: unknown, unit: string): GraphSetting[] {
  const values = shownValues(ADDRESSES.has(key) ? addressesOf(value) : value, unit);
  return values.length === 0 ? [] : [{ key: visibleText(key), values }];
}

function shownValues(value: unknown, unit: string): string[] {
  if (value === undefined || value === null || value === false || value === MAX_COUNT) return [];
  if (typeof value === 'number') return [`${formatNumber(value)}${unit}`];
  if (typeof value === 'boolean') return ['true'];
  if (typeof value === 'string') return [visibleText(value)];
  if (Array.isArray(value)) {
    // A pack from a file is in the configuration with all that it has.
    return firstOf(value.map((item) => String(isMapping(item) ? (item.name ?? '') : item)));
  }
  if (!isMapping(value)) return [];
  const { scheme, host, port } = value;
  if (typeof host === 'string' && typeof port === 'number') {
    const before = typeof scheme === 'string' ? `${scheme}://` : '';
    return [visibleText(`${before}${host.includes(':') ? `[${host}]` : host}:${port}`)];
  }
  const { minimum, maximum } = value;
  const isRange = unit !== '' && minimum !== undefined && maximum !== undefined;
  return isRange ? [visibleText(`${minimum} – ${maximum}${unit}`)] : firstOf(Object.keys(value));
}

/** Settings of which graphs show no more than scheme, host and port. */
const ADDRESSES: ReadonlySet<string> = new Set(['url', 'endpoint', 'servers', 'brokers']);

function addressesOf(value: unknown): unknown {
  if (typeof value === 'string') return addressOf(value);
  return Array.isArray(value) ? value.map((item) => addressOf(String(item))) : value;
}

/** The text from the scheme to the port, in which a reference to a variable may stand for each part, or for all of them. */
const ADDRESS = /^((?:\$\{[^}]*\}|[a-z\d+.-])+:[\\/]+)?((?:\$\{[^}]*\}|[^/?#\\])*)/i;

/** Without the path, which is the token of a webhook, and without a user name, which may come with a password. */
function addressOf(value: string): string {
  const text = value.trim();
  const url = text.includes('${') || !URL.canParse(text) ? undefined : new URL(text);
  if (url !== undefined && url.host !== '') return `${url.protocol}//${url.host}`;
  const [, scheme = '', authority = ''] = ADDRESS.exec(text) ?? [];
  return scheme + authority.slice(authority.lastIndexOf('@') + 1);
}

function firstOf(values: readonly string[]): string[] {
  const shown = values.slice(0, MOST_VALUES).map((value) => visibleText(value));
  const more = values.length - shown.length;
  return more > 0 ? [...shown, `and ${more} more`] : shown;
}
