import { element, escapeXml, round } from '../../drawing/xml.ts';
import {
  coloursOf,
  GREY,
  type GraphNode,
  type GraphNodeKind,
  nodesOf,
  type PipelineGraph,
} from '../graph.ts';
import { cardOf, drawCard } from './card.ts';
import { type Column, drawEdges, legend } from './edges.ts';
import { assignLayers, type Item, orderColumns, placeItems } from './layout.ts';

const MARGIN = 28;
const COLUMN_GAP = 74;
const HEADING = 26;
const FONT = 'ui-monospace, SFMono-Regular, Menlo, Consolas, DejaVu Sans Mono, Liberation Mono, monospace';
const HEADINGS: readonly [GraphNodeKind, string][] = [
  ['collect', 'collectors'],
  ['pipeline', 'pipelines'],
  ['process', 'processors'],
  ['forward', 'forwarders'],
];

/**
 * A graph as a picture, drawn without a browser and without Graphviz: the same configuration gives the same bytes.
 *
 * @example
 * renderSvg({ nodes: [], edges: [] }).startsWith('<svg xmlns="http://www.w3.org/2000/svg"'); // true
 */
export function renderSvg(graph: PipelineGraph): string {
  const cards = new Map(graph.nodes.map((node) => [node, cardOf(node)]));
  const layers = assignLayers(graph, (node) => cards.get(node)?.height ?? 0);
  orderColumns(layers);
  const depth = graph.nodes.length === 0 ? 0 : placeItems(layers);
  for (const item of layers.columns.flat()) item.y += MARGIN + HEADING;

  const columns = placeColumns(layers.columns, (node) => cards.get(node)?.width ?? 0);
  const colours = coloursOf(graph);
  const right = Math.max(...columns.map(({ x, width }) => x + width));
  const hasLegend = graph.edges.some(({ kind }) => kind === 'dead_letter');
  const hasLoops = layers.backWays.length > 0;
  const width = right + MARGIN;
  const bottom = MARGIN + HEADING + depth + (hasLoops ? 16 : 0);
  const height = bottom + (hasLegend ? 34 : 0) + MARGIN;

  const drawn = layers.columns.flatMap((column, layer) =>
    column.flatMap(({ node, y }) => {
      const card = node && cards.get(node);
      const { x, width: columnWidth } = columns[layer] as Column;
      return card === undefined ? [] : [drawCard(card, x, y, columnWidth, colours.get(card.node))];
    }),
  );
  const names = nodesOf(graph, 'pipeline').map(({ name }) => name);
  const parts = [
    element('title', {}, escapeXml(`Pipelines: ${names.join(', ')}`)),
    element('rect', { width, height, rx: 10, fill: '#f3f5f7' }),
    ...headings(layers.columns, columns),
    drawEdges([...layers.ways, ...layers.backWays], columns, ({ pipeline }) => colours.get(pipeline) ?? GREY),
    ...drawn,
    ...(hasLegend ? [legend(graph.edges, MARGIN, bottom + 32)] : []),
  ];
  const size = {
    width: round(width),
    height: round(height),
    viewBox: `0 0 ${round(width)} ${round(height)}`,
  };
  const root = { xmlns: 'http://www.w3.org/2000/svg', ...size, 'font-family': FONT, role: 'img' };
  return `${element('svg', root, `\n${parts.filter(Boolean).join('\n')}\n`)}\n`;
}

/** All cards of a column are as wide as its widest. */
function placeColumns(columns: readonly Item[][], widthOf: (node: GraphNode) => number): Column[] {
  let x = MARGIN;
  return columns.map((column) => {
    const width = Math.max(110, ...column.flatMap(({ node }) => (node === undefined ? [] : [widthOf(node)])));
    const placed = { x, width };
    x += width + COLUMN_GAP;
    return placed;
  });
}

function headings(columns: readonly Item[][], places: readonly Column[]): string[] {
  return HEADINGS.flatMap(([kind, text]) => {
    const layer = columns.findIndex((column) => column.some(({ node }) => node?.kind === kind));
    const place = places[layer];
    if (place === undefined) return [];
    const attributes = {
      x: place.x,
      y: MARGIN + 6,
      'font-size': 11,
      fill: '#57606a',
      'letter-spacing': '0.08em',
    };
    return [element('text', attributes, text)];
  });
}
