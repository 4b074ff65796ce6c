import { element, round } from '../../drawing/xml.ts';
import { GREY, type GraphEdge, RED } from '../graph.ts';
import { type Item, mean, type Way } from './layout.ts';

/** Where a column stands. */
export interface Column {
  readonly x: number;
  readonly width: number;
}

const PORT_GAP = 11;
const ARROW = 8;

/** Draws all edges. Those of one pipeline leave and reach a node at one point, so that others can be told apart. */
export function drawEdges(
  ways: readonly Way[],
  columns: readonly Column[],
  colourOf: (edge: GraphEdge) => string,
): string {
  const starts = ports(ways, 'start');
  const ends = ports(ways, 'end');
  return ways
    .map((way) => {
      const startY = starts.get(way) ?? 0;
      const endY = ends.get(way) ?? 0;
      return drawEdge(way, columns, startY, endY, edgeColour(way.edge, colourOf(way.edge)));
    })
    .join('');
}

function edgeColour({ kind, pipeline }: GraphEdge, colour: string): string {
  return kind === 'dead_letter' && pipeline.state !== 'disabled' ? RED : colour;
}

function drawEdge(
  way: Way,
  columns: readonly Column[],
  startY: number,
  endY: number,
  colour: string,
): string {
  const { edge, items } = way;
  const first = items[0] as Item;
  const last = items.at(-1) as Item;
  const from = columns[first.layer] as Column;
  const tip = (columns[last.layer] as Column).x;
  let x = from.x + from.width;
  let y = startY;
  let d = `M${round(x)} ${round(y)}`;
  const curveTo = (toX: number, toY: number) => {
    const bend = Math.abs(toX - x) / 2;
    d += ` C${round(x + bend)} ${round(y)} ${round(toX - bend)} ${round(toY)} ${round(toX)} ${round(toY)}`;
    x = toX;
    y = toY;
  };
  for (const item of items.slice(1, -1)) {
    const column = columns[item.layer] as Column;
    curveTo(column.x, item.y);
    x = column.x + column.width;
    d += ` H${round(x)}`;
  }
  if (last.layer > first.layer) curveTo(tip - ARROW, endY);
  else d += loopBack(x, y, tip - ARROW, endY, Math.max(first.y + first.height / 2, last.y + last.height / 2));

  const isDashed = edge.kind === 'dead_letter' || edge.pipeline.state === 'disabled';
  const line = element('path', {
    d,
    fill: 'none',
    stroke: colour,
    'stroke-width': 1.8,
    ...(isDashed ? { 'stroke-dasharray': '5 4' } : {}),
  });
  const head = element('path', {
    d: `M${round(tip)} ${round(endY)}l${-ARROW - 1} -4.5v9z`,
    fill: colour,
  });
  return line + head;
}

/** Around below both cards, for a way that leads to the left. */
function loopBack(x: number, y: number, toX: number, toY: number, bottom: number): string {
  const low = round(bottom + 14);
  return ` C${round(x + 34)} ${round(y)} ${round(x + 34)} ${low} ${round(x - 6)} ${low} H${round(toX + 6)} C${round(toX - 34)} ${low} ${round(toX - 34)} ${round(toY)} ${round(toX)} ${round(toY)}`;
}

/** Where ways leave or reach their nodes: in the order of where they come from, or lead to. */
function ports(ways: readonly Way[], side: 'start' | 'end'): Map<Way, number> {
  const groups = new Map<Item, Map<string, Way[]>>();
  for (const way of ways) {
    const item = (side === 'start' ? way.items[0] : way.items.at(-1)) as Item;
    const key = `${way.edge.pipeline.id} ${way.edge.kind}`;
    const ofItem = groups.get(item) ?? new Map<string, Way[]>();
    ofItem.set(key, [...(ofItem.get(key) ?? []), way]);
    groups.set(item, ofItem);
  }
  const result = new Map<Way, number>();
  const far = ({ items }: Way) => ((side === 'start' ? items[1] : items.at(-2)) as Item).y;
  for (const [item, ofItem] of groups) {
    const sorted = [...ofItem.values()].sort((a, b) => mean(a.map(far)) - mean(b.map(far)));
    const gap = Math.min(PORT_GAP, (item.height - 12) / Math.max(1, sorted.length - 1));
    sorted.forEach((group, index) => {
      const y = item.y + (index - (sorted.length - 1) / 2) * gap;
      for (const way of group) result.set(way, y);
    });
  }
  return result;
}

/** What the ways of the picture mean, for those that are not plain. */
export function legend(edges: readonly GraphEdge[], x: number, y: number): string {
  if (!edges.some(({ kind }) => kind === 'dead_letter')) return '';
  const colour = edges.some(({ kind, pipeline }) => kind === 'dead_letter' && pipeline.state === 'active')
    ? RED
    : GREY;
  return [
    element('path', {
      d: `M${x} ${y - 4}h34`,
      stroke: colour,
      'stroke-width': 1.8,
      'stroke-dasharray': '5 4',
    }),
    element(
      'text',
      { x: x + 42, y, 'font-size': 11, fill: '#57606a' },
      'dead letter: events that a plugin failed on',
    ),
  ].join('');
}
