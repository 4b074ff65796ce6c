import { isMapping } from '../checks/problem.ts';
import { type WrittenSections, withReferences } from '../checks/shown-values.ts';
import type { AnalyticsConfig, PipelineConfig } from '../sdk/config.ts';
import type { PluginKind } from '../sdk/plugin.ts';
import { entrySettings, pipelineSettings } from './entry-settings.ts';
import type { GraphEdge, GraphNode, PipelineGraph } from './graph.ts';
import { visibleText } from './visible-text.ts';

const SECTIONS = { collect: 'collectors', process: 'processors', forward: 'forwarders' } as const;

/**
 * The pipelines of a configuration as nodes and edges, with the settings that matter. `written` keeps values of
 * environment variables out of it.
 *
 * @example
 * const graph = buildGraph(parseConfig({
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
  const nodes = { collect: entries('collect'), process: entries('process'), forward: entries('forward') };
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
    const { collect, process = [], forward, delivery } = pipeline;
    const used = {
      collect,
      process,
      forward: [...forward, ...(delivery.dead_letter === undefined ? [] : [delivery.dead_letter])],
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

type Nodes = Readonly<Record<PluginKind, ReadonlyMap<string, GraphNode>>>;

function edgesOf(pipeline: GraphNode, config: PipelineConfig, nodes: Nodes): GraphEdge[] {
  const { collect, process = [], forward, delivery } = config;
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
    ...find('forward', forward).map((forwarder) => edge(way.at(-1) as GraphNode, forwarder)),
    ...find('forward', delivery.dead_letter === undefined ? [] : [delivery.dead_letter]).map((forwarder) =>
      edge(pipeline, forwarder, 'dead_letter'),
    ),
  ];
}
