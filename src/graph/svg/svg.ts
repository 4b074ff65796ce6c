import { coloursOf, FAINT, GREY, nodesOf, type PipelineGraph } from '../graph.ts';
import { DARK_STYLE, DRAWING_CLASS, element, escapeXml, round } from '../xml.ts';
import { cardOf, drawCard, widthOf } from './card.ts';
import { type Column, drawEdges, legend } from './edges.ts';
import { kindsOf, layOut, orderColumns, placeItems, type Stop } from './layout.ts';

/** The width of a column of text on most pages, in pixels: a wider picture would be made smaller, and hard to read. */
const WIDEST = 880;
const MARGIN = 24;
const COLUMN_GAP = { widest: 74, narrowest: 48 };
const NARROWEST = 110;
const HEADING = 26;
const FONT = 'ui-monospace, SFMono-Regular, Menlo, Consolas, DejaVu Sans Mono, Liberation Mono, monospace';
const HEADINGS = {
  collect: 'collectors',
  pipeline: 'pipelines',
  process: 'processors',
  forward: 'forwarders',
} as const;

/**
 * A graph as a picture of at most 880 pixels in width, drawn without a browser and without Graphviz: the same configuration
 * gives the same bytes. It is dark where the reader prefers that.
 *
 * @example
 * renderSvg({ nodes: [], edges: [] }).startsWith('<svg xmlns="http://www.w3.org/2000/svg"'); // true
 */
export function renderSvg(graph: PipelineGraph): string {
  const places = placeColumns(graph);
  const cards = new Map(
    kindsOf(graph).flatMap((kind, column) =>
      nodesOf(graph, kind).map((node) => [node, cardOf(node, (places[column] as Column).width)] as const),
    ),
  );
  const layout = layOut(graph, (node) => cards.get(node)?.height ?? 0);
  orderColumns(layout);
  const depth = graph.nodes.length === 0 ? 0 : placeItems(layout);
  for (const item of layout.columns.flat()) item.y += MARGIN + HEADING;

  const colours = coloursOf(graph);
  const hasLegend = graph.edges.some(({ kind }) => kind === 'dead_letter');
  const width = Math.max(0, ...places.map((place) => place.x + place.width)) + MARGIN;
  const bottom = MARGIN + HEADING + depth;
  const height = bottom + (hasLegend ? 34 : 0) + MARGIN;

  const drawn = [...cards].map(([node, card]) => {
    const { item, offset } = layout.stops.get(node) as Stop;
    return drawCard(card, (places[item.column] as Column).x, item.y + offset, colours.get(node));
  });
  const names = nodesOf(graph, 'pipeline').map(({ name }) => name);
  const parts = [
    element('title', {}, escapeXml(`Pipelines: ${names.join(', ')}`)),
    element('style', {}, DARK_STYLE),
    element('rect', { width, height, rx: 10, fill: '#f3f5f7' }),
    ...headings(graph, places),
    drawEdges(layout, places, ({ pipeline }) => colours.get(pipeline) ?? GREY),
    ...drawn,
    ...(hasLegend ? [legend(graph.edges, MARGIN, bottom + 32)] : []),
  ];
  const root = {
    xmlns: 'http://www.w3.org/2000/svg',
    width: round(width),
    height: round(height),
    viewBox: `0 0 ${round(width)} ${round(height)}`,
    class: DRAWING_CLASS,
    'font-family': FONT,
    role: 'img',
  };
  return `${element('svg', root, `\n${parts.filter(Boolean).join('\n')}\n`)}\n`;
}

/** Cards of a column have the same width: that of the widest, unless the picture would be too wide. */
function placeColumns(graph: PipelineGraph): Column[] {
  const widths = kindsOf(graph).map((kind) => Math.max(NARROWEST, ...nodesOf(graph, kind).map(widthOf)));
  const room = WIDEST - 2 * MARGIN;
  const gaps = widths.length - 1;
  const free = (room - widths.reduce((sum, width) => sum + width, 0)) / Math.max(1, gaps);
  const gap = Math.min(COLUMN_GAP.widest, Math.max(COLUMN_GAP.narrowest, Math.floor(free)));
  const widest = shareOf(widths, room - gaps * gap);
  let x = MARGIN;
  return widths.map((natural) => {
    const width = Math.min(natural, widest);
    const place = { x, width };
    x += width + gap;
    return place;
  });
}

/** The width at which wide columns end, so that all fit: narrow ones leave to others what they do not need. */
function shareOf(widths: readonly number[], room: number): number {
  let left = room;
  const sorted = [...widths].sort((a, b) => a - b);
  for (const [index, width] of sorted.entries()) {
    const share = Math.floor(left / (sorted.length - index));
    if (width > share) return share;
    left -= width;
  }
  return room;
}

function headings(graph: PipelineGraph, places: readonly Column[]): string[] {
  return kindsOf(graph).map((kind, column) =>
    element(
      'text',
      {
        x: (places[column] as Column).x,
        y: MARGIN + 6,
        'font-size': 11,
        fill: FAINT,
        'letter-spacing': '0.08em',
      },
      HEADINGS[kind],
    ),
  );
}
