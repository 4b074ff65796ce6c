import { type GraphEdge, type GraphNode, nodesOf, type PipelineGraph } from '../graph.ts';

/** What stands in a column: a node, or the bend of an edge that passes between the nodes. */
export interface Item {
  readonly node: GraphNode | undefined;
  readonly layer: number;
  readonly height: number;
  /** The middle, from the top. */
  y: number;
}

/** An edge from column to column: its first and last items are nodes, those between them bends. */
export interface Way {
  readonly edge: GraphEdge;
  readonly items: readonly Item[];
}

export interface Layers {
  /** From left to right, each from top to bottom. */
  readonly columns: Item[][];
  readonly ways: readonly Way[];
  /** Edges against the direction, of pipelines that use the same processors in another order. */
  readonly backWays: readonly Way[];
}

const FIRST_PROCESSORS = 2;
const BEND_HEIGHT = 6;

/** Puts nodes into columns, so that edges lead to the right, one column at a time. */
export function assignLayers(graph: PipelineGraph, heightOf: (node: GraphNode) => number): Layers {
  const ranks = processorRanks(graph);
  const last = Math.max(FIRST_PROCESSORS - 1, ...ranks.values()) + 1;
  const layerOf = (node: GraphNode) => {
    if (node.kind === 'collect') return 0;
    if (node.kind === 'pipeline') return 1;
    return node.kind === 'forward' ? last : (ranks.get(node) ?? FIRST_PROCESSORS);
  };
  const columns: Item[][] = Array.from({ length: last + 1 }, () => []);
  const add = (node: GraphNode | undefined, layer: number, height: number): Item => {
    const item = { node, layer, height, y: 0 };
    columns[layer]?.push(item);
    return item;
  };
  const items = new Map(
    graph.nodes.map((node): [GraphNode, Item] => [node, add(node, layerOf(node), heightOf(node))]),
  );
  const ways = graph.edges.map((edge): Way => {
    const from = items.get(edge.from) as Item;
    const to = items.get(edge.to) as Item;
    const between = Array.from({ length: Math.max(0, to.layer - from.layer - 1) }, (_, i) =>
      add(undefined, from.layer + 1 + i, BEND_HEIGHT),
    );
    return { edge, items: [from, ...between, to] };
  });
  const isForward = ({ items }: Way) => (items.at(-1) as Item).layer > (items[0] as Item).layer;
  return { columns, ways: ways.filter(isForward), backWays: ways.filter((way) => !isForward(way)) };
}

/** The longest way from a pipeline to each processor. An edge that would close a circle does not count. */
function processorRanks(graph: PipelineGraph): Map<GraphNode, number> {
  const next = new Map<GraphNode, Set<GraphNode>>(nodesOf(graph, 'process').map((node) => [node, new Set()]));
  const reaches = (from: GraphNode, to: GraphNode): boolean =>
    from === to || [...(next.get(from) ?? [])].some((node) => reaches(node, to));
  for (const { from, to } of graph.edges) {
    if (from.kind === 'process' && to.kind === 'process' && !reaches(to, from)) next.get(from)?.add(to);
  }
  const ranks = new Map<GraphNode, number>([...next.keys()].map((node) => [node, FIRST_PROCESSORS]));
  const push = (node: GraphNode, rank: number) => {
    ranks.set(node, Math.max(rank, ranks.get(node) ?? 0));
    for (const after of next.get(node) ?? []) if ((ranks.get(after) ?? 0) <= rank) push(after, rank + 1);
  };
  for (const node of next.keys()) push(node, ranks.get(node) ?? FIRST_PROCESSORS);
  return ranks;
}
