import { GREY, type GraphEdge, RED } from '../graph.ts';
import { element, round } from '../xml.ts';
import { type ChainStep, type Layout, mean, type Stop, type Way } from './layout.ts';

/** Where a column stands. */
export interface Column {
  readonly x: number;
  readonly width: number;
}

const PORT_GAP = 11;
const ARROW = 8;
/** How far from a column edges run that lead around its cards. */
const DETOUR = { nearest: 12, furthest: 30, step: 6 };

/** Draws all edges. Those of one pipeline leave and reach a card at one point, so that others can be told apart. */
export function drawEdges(
  { ways, chainSteps }: Layout,
  columns: readonly Column[],
  colourOf: (edge: GraphEdge) => string,
): string {
  const starts = ports(ways, 'start');
  const ends = ports(ways, 'end');
  return [
    ...ways.map((way) =>
      drawLine(way.edge, colourOf, pathOf(way, columns, starts.get(way) ?? 0, ends.get(way) ?? 0)),
    ),
    ...chainSteps.map((step) => drawLine(step.edge, colourOf, chainPath(step, chainSteps, columns))),
  ].join('');
}

interface Path {
  readonly d: string;
  readonly tip: readonly [x: number, y: number];
  readonly towards: 'right' | 'left' | 'down';
}

const HEADS = { right: 'l-9 -4.5v9z', left: 'l9 -4.5v9z', down: 'l-4.5 -9h9z' };

function drawLine(edge: GraphEdge, colourOf: (edge: GraphEdge) => string, { d, tip, towards }: Path): string {
  const { kind, pipeline } = edge;
  const isOff = pipeline.state === 'disabled';
  const colour = kind === 'dead_letter' && !isOff ? RED : colourOf(edge);
  const line = element('path', {
    d,
    fill: 'none',
    stroke: colour,
    'stroke-width': 1.8,
    ...(kind === 'dead_letter' || isOff ? { 'stroke-dasharray': '5 4' } : {}),
  });
  return line + element('path', { d: `M${round(tip[0])} ${round(tip[1])}${HEADS[towards]}`, fill: colour });
}

function pathOf({ stops }: Way, columns: readonly Column[], startY: number, endY: number): Path {
  const from = columns[stops[0].item.column] as Column;
  const tip = (columns[(stops.at(-1) as Stop).item.column] as Column).x;
  let x = from.x + from.width;
  let y = startY;
  let d = `M${round(x)} ${round(y)}`;
  const curveTo = (toX: number, toY: number) => {
    const bend = Math.abs(toX - x) / 2;
    d += ` C${round(x + bend)} ${round(y)} ${round(toX - bend)} ${round(toY)} ${round(toX)} ${round(toY)}`;
    x = toX;
    y = toY;
  };
  for (const { item } of stops.slice(1, -1)) {
    const column = columns[item.column] as Column;
    curveTo(column.x, item.y);
    x = column.x + column.width;
    d += ` H${round(x)}`;
  }
  curveTo(tip - ARROW, endY);
  return { d, tip: [tip, endY], towards: 'right' };
}

/** Straight down to the next card; to another one beside the column: at its right side down, at its left side up. */
function chainPath(step: ChainStep, steps: readonly ChainStep[], columns: readonly Column[]): Path {
  const { from, to } = step;
  const { x, width } = columns[from.item.column] as Column;
  const [start, end] = [placeInChain(from), placeInChain(to)];
  if (end === start + 1) {
    const beside = steps.filter((each) => each.from.node === from.node && each.to.node === to.node);
    const lineX = x + width / 2 + (beside.indexOf(step) - (beside.length - 1) / 2) * PORT_GAP;
    const tip = middleOf(to) - to.height / 2;
    const y = middleOf(from) + from.height / 2;
    return { d: `M${round(lineX)} ${round(y)}V${round(tip - ARROW)}`, tip: [lineX, tip], towards: 'down' };
  }
  const isDown = end > start;
  const side = isDown ? 1 : -1;
  const edgeX = isDown ? x + width : x;
  const far = round(edgeX + side * detourOf(step, steps));
  const near = round(edgeX + side * ARROW);
  // Away from the middle, where other edges leave and arrive.
  const y = middleOf(from) + (side * from.height) / 4;
  const tip = middleOf(to) - (side * to.height) / 4;
  const bend = side * 12;
  const d = [
    `M${round(edgeX)} ${round(y)}`,
    `C${far} ${round(y)} ${far} ${round(y)} ${far} ${round(y + bend)}`,
    `V${round(tip - bend)}`,
    `C${far} ${round(tip)} ${far} ${round(tip)} ${near} ${round(tip)}`,
  ].join(' ');
  return { d, tip: [edgeX, tip], towards: isDown ? 'left' : 'right' };
}

/** Edges at the same side of a column have lanes of their own, long ones further out. */
function detourOf(step: ChainStep, steps: readonly ChainStep[]): number {
  const rise = (each: ChainStep) => middleOf(each.to) - middleOf(each.from);
  const beside = steps
    .filter(
      (each) => rise(each) > 0 === rise(step) > 0 && placeInChain(each.to) !== placeInChain(each.from) + 1,
    )
    .sort((a, b) => Math.abs(rise(a)) - Math.abs(rise(b)));
  const gap = Math.min(DETOUR.step, (DETOUR.furthest - DETOUR.nearest) / Math.max(1, beside.length - 1));
  return DETOUR.nearest + beside.indexOf(step) * gap;
}

function placeInChain({ item, node }: Stop): number {
  return node === undefined ? -1 : item.nodes.indexOf(node);
}

function middleOf({ item, offset }: Stop): number {
  return item.y + offset;
}

/** Where ways leave or reach their cards: in the order of where they come from, or lead to. */
function ports(ways: readonly Way[], side: 'start' | 'end'): Map<Way, number> {
  const groups = new Map<Stop, Map<string, Way[]>>();
  for (const way of ways) {
    const stop = (side === 'start' ? way.stops[0] : way.stops.at(-1)) as Stop;
    const key = `${way.edge.pipeline.id} ${way.edge.kind}`;
    const ofStop = groups.get(stop) ?? new Map<string, Way[]>();
    ofStop.set(key, [...(ofStop.get(key) ?? []), way]);
    groups.set(stop, ofStop);
  }
  const result = new Map<Way, number>();
  const far = ({ stops }: Way) => middleOf((side === 'start' ? stops[1] : stops.at(-2)) as Stop);
  for (const [stop, ofStop] of groups) {
    const sorted = [...ofStop.values()].sort((a, b) => mean(a.map(far)) - mean(b.map(far)));
    const gap = Math.min(PORT_GAP, (stop.height - 12) / Math.max(1, sorted.length - 1));
    sorted.forEach((group, index) => {
      const y = middleOf(stop) + (index - (sorted.length - 1) / 2) * gap;
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
