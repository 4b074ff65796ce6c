import type { Item, Layers, Way } from './layers.ts';

const SWEEPS = 12;

/** Sorts every column so that few edges cross: each item goes to the middle of its neighbours, back and forth. */
export function orderColumns({ columns, ways }: Layers): void {
  const links = linksOf(ways);
  let best = columns.map((column) => [...column]);
  let fewest = crossings(columns, links);
  for (let sweep = 0; sweep < SWEEPS && fewest > 0; sweep++) {
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
export function linksOf(ways: readonly Way[]): Link[] {
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
