import type { Item, Layers } from './layers.ts';
import { linksOf, mean } from './ordering.ts';

const GAP = 22;
const SWEEPS = 60;
/** Of a link with no, one or two bends. */
const BEND_WEIGHTS = [1, 2, 8];

/** Gives every item its height in its column: as near to its neighbours as order and gaps allow. Returns the total. */
export function placeItems({ columns, ways }: Layers): number {
  const links = linksOf(ways);
  const linked = new Set(links.flat());
  const connected = columns.map((column) => column.filter((item) => linked.has(item)));
  for (const column of connected) settle(column, new Map());
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
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
