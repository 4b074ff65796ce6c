import { type GraphEdge, type GraphNode, type GraphNodeKind, nodesOf, type PipelineGraph } from '../graph.ts';

/** What stands in a column: a stack of cards, or the bend of an edge that passes between them. */
interface Item {
  /** From top to bottom: processors that follow each other, or one other node. None for a bend. */
  readonly nodes: readonly GraphNode[];
  readonly column: number;
  readonly height: number;
  /** The middle, from the top. */
  y: number;
}

/** Where an edge leaves, passes or arrives. */
export interface Stop {
  readonly item: Item;
  readonly node: GraphNode | undefined;
  /** From the middle of the item to that of the card. */
  readonly offset: number;
  /** The height of the card. */
  readonly height: number;
}

/** An edge to the right: from a card, perhaps over a bend, to a card. */
export interface Way {
  readonly edge: GraphEdge;
  readonly stops: readonly [Stop, ...Stop[]];
}

/** An edge from a processor to another one, in the same column. */
export interface ChainStep {
  readonly edge: GraphEdge;
  readonly from: Stop;
  readonly to: Stop;
}

export interface Layout {
  /** From left to right, each from top to bottom. */
  readonly columns: Item[][];
  /** Where the card of each node is. */
  readonly stops: ReadonlyMap<GraphNode, Stop>;
  readonly ways: readonly Way[];
  readonly chainSteps: readonly ChainStep[];
}

const BEND_HEIGHT = 6;
/** Between the cards of a stack: room for an arrow. */
const STACK_GAP = 26;

/** The kinds of a graph's nodes, each of which has a column. */
export function kindsOf(graph: PipelineGraph): GraphNodeKind[] {
  const kinds: readonly GraphNodeKind[] = ['collect', 'pipeline', 'process', 'forward'];
  return kinds.filter((kind) => nodesOf(graph, kind).length > 0);
}

/**
 * A column for each kind of nodes, so that a picture has four at most, however long the chains of processors are:
 * processors that follow each other stand below each other.
 */
export function layOut(graph: PipelineGraph, heightOf: (node: GraphNode) => number): Layout {
  const kinds = kindsOf(graph);
  const stops = new Map<GraphNode, Stop>();
  const columns = kinds.map((kind, column) =>
    (kind === 'process' ? chainsOf(graph) : nodesOf(graph, kind).map((node) => [node])).map((nodes): Item => {
      const height = sum(nodes.map(heightOf)) + (nodes.length - 1) * STACK_GAP;
      const item = { nodes, column, height, y: 0 };
      let top = -height / 2;
      for (const node of nodes) {
        stops.set(node, { item, node, offset: top + heightOf(node) / 2, height: heightOf(node) });
        top += heightOf(node) + STACK_GAP;
      }
      return item;
    }),
  );
  const ways: Way[] = [];
  const chainSteps: ChainStep[] = [];
  for (const edge of graph.edges) {
    const from = stops.get(edge.from) as Stop;
    const to = stops.get(edge.to) as Stop;
    if (from.item.column === to.item.column) {
      chainSteps.push({ edge, from, to });
      continue;
    }
    const bends: Stop[] = [];
    for (let column = from.item.column + 1; column < to.item.column; column++) {
      const item = { nodes: [], column, height: BEND_HEIGHT, y: 0 };
      columns[column]?.push(item);
      bends.push({ item, node: undefined, offset: 0, height: BEND_HEIGHT });
    }
    ways.push({ edge, stops: [from, ...bends, to] });
  }
  return { columns, stops, ways, chainSteps };
}

/** Processors that follow each other in any pipeline, each after those before it where that is possible. */
function chainsOf(graph: PipelineGraph): GraphNode[][] {
  const next = new Map<GraphNode, Set<GraphNode>>(nodesOf(graph, 'process').map((node) => [node, new Set()]));
  const reaches = (from: GraphNode, to: GraphNode): boolean =>
    from === to || [...(next.get(from) ?? [])].some((node) => reaches(node, to));
  const chains = new Map<GraphNode, Set<GraphNode>>([...next.keys()].map((node) => [node, new Set([node])]));
  for (const { from, to } of graph.edges) {
    if (from.kind !== 'process' || to.kind !== 'process') continue;
    // An edge that would close a circle leads up.
    if (!reaches(to, from)) next.get(from)?.add(to);
    const chain = new Set([...(chains.get(from) ?? []), ...(chains.get(to) ?? [])]);
    for (const node of chain) chains.set(node, chain);
  }
  const inOrder = (chain: ReadonlySet<GraphNode>) => [...next.keys()].filter((node) => chain.has(node));
  return [...new Set(chains.values())].map((chain) => sortChain(inOrder(chain), next));
}

function sortChain(
  chain: readonly GraphNode[],
  next: ReadonlyMap<GraphNode, ReadonlySet<GraphNode>>,
): GraphNode[] {
  const left = new Set(chain);
  const sorted: GraphNode[] = [];
  while (left.size > 0) {
    const free = [...left].filter((node) => ![...left].some((other) => next.get(other)?.has(node)));
    const after = next.get(sorted.at(-1) as GraphNode);
    const node = (free.find((each) => after?.has(each)) ?? free[0]) as GraphNode;
    sorted.push(node);
    left.delete(node);
  }
  return sorted;
}

const ORDERING_SWEEPS = 12;

/** Sorts every column so that few edges cross: each item goes to the middle of its neighbours, back and forth. */
export function orderColumns({ columns, ways }: Layout): void {
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

type Link = readonly [Stop, Stop];

/** The steps of all ways from one column to the next. */
function linksOf(ways: readonly Way[]): Link[] {
  return ways.flatMap(({ stops }) => stops.slice(1).map((stop, index): Link => [stops[index] as Stop, stop]));
}

/** Which place of its column a stop has; the cards of a stack share that of the stack. */
function placesIn(columns: readonly Item[][]): (stop: Stop) => number {
  const places = new Map(
    columns.flatMap((column) => column.map((item, index): [Item, number] => [item, index])),
  );
  return ({ item, offset }) => (places.get(item) ?? 0) + offset / item.height;
}

function sortByNeighbours(column: Item[], columns: Item[][], links: readonly Link[], side: -1 | 1): void {
  const place = placesIn(columns);
  const wishes = new Map(
    column.map((item, index): [Item, number] => {
      const places = links.flatMap(([left, right]) => {
        const [own, neighbour] = side === -1 ? [right, left] : [left, right];
        return own.item === item ? [place(neighbour)] : [];
      });
      return [item, places.length === 0 ? index : mean(places)];
    }),
  );
  column.sort((a, b) => (wishes.get(a) ?? 0) - (wishes.get(b) ?? 0));
}

function crossings(columns: readonly Item[][], links: readonly Link[]): number {
  const place = placesIn(columns);
  const lines = links.map(([from, to]) => ({
    column: from.item.column,
    from: place(from),
    to: place(to),
  }));
  let count = 0;
  lines.forEach((a, index) => {
    for (const b of lines.slice(index + 1)) {
      if (a.column === b.column && (a.from - b.from) * (a.to - b.to) < 0) count++;
    }
  });
  return count;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

export function mean(values: readonly number[]): number {
  return sum(values) / values.length;
}

const GAP = 22;
const PLACING_SWEEPS = 60;
/** Of a link with no, one or two bends. */
const BEND_WEIGHTS = [1, 2, 8];

/** Gives every item its height in its column: as near to its neighbours as order and gaps allow. Returns the total. */
export function placeItems({ columns, ways }: Layout): number {
  const links = linksOf(ways);
  const linked = new Set(links.flat().map(({ item }) => item));
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
function wishOf(item: Item, links: readonly Link[]): number {
  let total = 0;
  let weights = 0;
  for (const [a, b] of links) {
    if (a.item !== item && b.item !== item) continue;
    const [own, other] = a.item === item ? [a, b] : [b, a];
    const bends = Number(a.node === undefined) + Number(b.node === undefined);
    const weight = BEND_WEIGHTS[bends] ?? 1;
    total += (other.item.y + other.offset - own.offset) * weight;
    weights += weight;
  }
  return weights === 0 ? item.y : total / weights;
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
