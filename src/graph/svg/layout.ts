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

const ORDERING_SWEEPS = 12;

/** Sorts every column so that few edges cross: each item goes to the middle of its neighbours, back and forth. */
export function orderColumns({ columns, ways }: Layers): void {
  const links = linksOf(ways);
  let best = columns.map((column) => [...column]);
  let fewest = crossings(columns, links);
  for (let sweep = 0; sweep < ORDERING_SWEEPS && fewest > 0; sweep++) {
    const toTheRight = sweep % 2 === 0;
    const order = toTheRight ? columns : [...columns].reverse();
    for (const column of order.slice(1)) sortByNeighbours(column, columns, links, toTheRight ? -1 : 1);
    const now = crossings(columns, links);
    if (now < fewest) {
      fewest = now;
      best = columns.map((column) => [...column]);
    }
  }
  columns.splice(0, columns.length, ...best);
}

type Link = readonly [Item, Item];

/** The steps of all ways from one column to the next. */
function linksOf(ways: readonly Way[]): Link[] {
  return ways.flatMap(({ items }) => items.slice(1).map((item, index): Link => [items[index] as Item, item]));
}

function sortByNeighbours(column: Item[], columns: Item[][], links: readonly Link[], side: -1 | 1): void {
  const wishes = new Map(
    column.map((item, index): [Item, number] => {
      const places = links.flatMap(([left, right]) => {
        const neighbour = side === -1 ? left : right;
        if ((side === -1 ? right : left) !== item) return [];
        return [(columns[neighbour.layer] as Item[]).indexOf(neighbour)];
      });
      return [item, places.length === 0 ? index : mean(places)];
    }),
  );
  column.sort((a, b) => (wishes.get(a) ?? 0) - (wishes.get(b) ?? 0));
}

function crossings(columns: readonly Item[][], links: readonly Link[]): number {
  const place = new Map(
    columns.flatMap((column) => column.map((item, index): [Item, number] => [item, index])),
  );
  const at = (item: Item) => place.get(item) ?? 0;
  let count = 0;
  links.forEach(([a, b], index) => {
    for (const [c, d] of links.slice(index + 1)) {
      if (a.layer === c.layer && (at(a) - at(c)) * (at(b) - at(d)) < 0) count++;
    }
  });
  return count;
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

const GAP = 22;
const PLACING_SWEEPS = 60;
/** Of a link with no, one or two bends. */
const BEND_WEIGHTS = [1, 2, 8];

/** Gives every item its height in its column: as near to its neighbours as order and gaps allow. Returns the total. */
export function placeItems({ columns, ways }: Layers): number {
  const links = linksOf(ways);
  const linked = new Set(links.flat());
  const connected = columns.map((column) => column.filter((item) => linked.has(item)));
  for (const column of connected) settle(column, new Map());
  for (let sweep = 0; sweep < PLACING_SWEEPS; sweep++) {
    const order = sweep % 2 === 0 ? connected : [...connected].reverse();
    for (const column of order) {
      const wishes = new Map<Item, number>();
      for (const item of column) {
        wishes.set(item, wishOf(item, links));
      }
      settle(column, wishes);
    }
  }
  const top = Math.min(...connected.flat().map(({ y, height }) => y - height / 2));
  for (const item of linked) item.y -= top;
  columns.forEach((column, index) => {
    const loose = column.filter((item) => !linked.has(item));
    const placed = connected[index] ?? [];
    stack(loose, bottomOf(placed));
    column.splice(0, column.length, ...placed, ...loose);
  });
  return bottomOf(columns.flat());
}

/** What no pipeline uses stands below the rest. */
function stack(items: readonly Item[], above: number): void {
  let top = above === 0 ? 0 : above + GAP;
  for (const item of items) {
    item.y = top + item.height / 2;
    top += item.height + GAP;
  }
}

function bottomOf(items: readonly Item[]): number {
  return Math.max(0, ...items.map(({ y, height }) => y + height / 2));
}

/** The middle of the neighbours. Bends that follow each other hold together, so that long edges run straight. */
function wishOf(item: Item, links: ReturnType<typeof linksOf>): number {
  let sum = 0;
  let weights = 0;
  for (const [a, b] of links) {
    const other = a === item ? b : b === item ? a : undefined;
    if (other === undefined) continue;
    const bends = Number(a.node === undefined) + Number(b.node === undefined);
    const weight = BEND_WEIGHTS[bends] ?? 1;
    sum += other.y * weight;
    weights += weight;
  }
  return weights === 0 ? item.y : sum / weights;
}

/**
 * Moves the items of a column to where they wish to be. Those whose wishes overlap form a block, which goes to the
 * mean of its wishes: this is the nearest that they can all get.
 */
function settle(column: readonly Item[], wishes: ReadonlyMap<Item, number>): void {
  const blocks: { items: Item[]; offsets: number[]; start: number }[] = [];
  for (const item of column) {
    let block = { items: [item], offsets: [0], start: wishes.get(item) ?? 0 };
    for (let above = blocks.at(-1); above !== undefined; above = blocks.at(-1)) {
      const last = above.items.at(-1) as Item;
      const first = block.items[0] as Item;
      const shift = (above.offsets.at(-1) ?? 0) + (last.height + first.height) / 2 + GAP;
      if (above.start + shift <= block.start) break;
      blocks.pop();
      const items: Item[] = [...above.items, ...block.items];
      const offsets: number[] = [...above.offsets, ...block.offsets.map((offset) => offset + shift)];
      const start = mean(items.map((each, i) => (wishes.get(each) ?? 0) - (offsets[i] ?? 0)));
      block = { items, offsets, start };
    }
    blocks.push(block);
  }
  for (const { items, offsets, start } of blocks) {
    items.forEach((item, index) => {
      item.y = start + (offsets[index] ?? 0);
    });
  }
}
