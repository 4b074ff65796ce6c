/** `pipeline` stands between collectors and processors: it is the window that what was collected goes through. */
export type GraphNodeKind = 'collect' | 'pipeline' | 'process' | 'forward';

/** A setting in words that may be shown: no secret, one line, no control characters. */
export interface GraphSetting {
  readonly key: string;
  /** More than one for lists, such as paths or the names of rules. */
  readonly values: readonly string[];
}

export interface GraphNode {
  /** Letters and digits: fits every format as it is. */
  readonly id: string;
  readonly kind: GraphNodeKind;
  /** The entry's name, in a form that may be shown. */
  readonly name: string;
  /** The plugin's name; undefined for pipelines. */
  readonly plugin: string | undefined;
  readonly settings: readonly GraphSetting[];
  /** `disabled`: a disabled pipeline, or an entry that only such pipelines use. `unused`: no pipeline uses it. */
  readonly state: 'active' | 'disabled' | 'unused';
}

/** The way of one pipeline's events from one node to the next. */
export interface GraphEdge {
  readonly from: GraphNode;
  readonly to: GraphNode;
  /** Whose events; the pipeline's node. */
  readonly pipeline: GraphNode;
  /** `dead_letter`: the way of events that a plugin failed on. */
  readonly kind: 'events' | 'dead_letter';
}

/** The pipelines of a configuration. An entry that several of them use is one node. */
export interface PipelineGraph {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

/** The nodes of a kind, in the order of the configuration. */
export function nodesOf(graph: PipelineGraph, kind: GraphNodeKind): GraphNode[] {
  return graph.nodes.filter((node) => node.kind === kind);
}
