import {
  coloursOf,
  GREY,
  type GraphEdge,
  type GraphNode,
  type GraphNodeKind,
  listed,
  nodesOf,
  type PipelineGraph,
  RED,
} from './graph.ts';
import { columnsOf, joinWords } from './words.ts';
import { escapeXml } from './xml.ts';

const LINE_COLUMNS = 44;
const KINDS: readonly GraphNodeKind[] = ['collect', 'pipeline', 'process', 'forward'];

/**
 * A graph in the language of Graphviz: `millrace graph pipelines.yaml --format dot | dot -Tsvg`.
 *
 * @example
 * renderDot({ nodes: [], edges: [] }).startsWith('digraph millrace {'); // true
 */
export function renderDot(graph: PipelineGraph): string {
  const colours = coloursOf(graph);
  const lines = [
    'rankdir=LR; ranksep=0.8; nodesep=0.3;',
    'node [shape=box, style="rounded,filled", fillcolor=white, color="#8c959f", fontname="Helvetica", fontsize=11];',
    'edge [arrowsize=0.7, fontname="Helvetica", fontsize=9];',
    ...graph.nodes.map((node) => nodeLine(node, colours.get(node))),
    // Processors find their own places; the others stand in columns.
    ...KINDS.filter((kind) => kind !== 'process').map((kind) => rankLine(nodesOf(graph, kind))),
    ...graph.edges.map((edge) => edgeLine(edge, colours.get(edge.pipeline) ?? GREY)),
  ];
  return `digraph millrace {\n${lines
    .filter((line) => line !== '')
    .map((line) => `  ${line}\n`)
    .join('')}}\n`;
}

function rankLine(nodes: readonly GraphNode[]): string {
  return nodes.length === 0 ? '' : `{ rank=same; ${nodes.map(({ id }) => `${id};`).join(' ')} }`;
}

function nodeLine({ id, name, plugin, settings, state }: GraphNode, colour: string | undefined): string {
  const isOff = state !== 'active';
  const title = [
    `<b>${escapeXml(name)}</b>`,
    ...(plugin === undefined ? [] : [`<i>${escapeXml(plugin)}</i>`]),
  ];
  const keys = Math.max(0, ...settings.map(({ key }) => columnsOf(key)));
  const lines = [
    title.join('  '),
    ...(isOff ? [state] : []),
    ...settings.flatMap(({ key, values }) =>
      joinWords([`${key}:`, ...listed(values)], LINE_COLUMNS + keys).map(escapeXml),
    ),
  ];
  const label = lines.map((line) => `${line}<br align="left"/>`).join('');
  const style = [
    ...(colour === undefined ? [] : [`color="${colour}"`, 'penwidth=2']),
    ...(isOff ? [`style="rounded,dashed"`, `fontcolor="${GREY}"`] : []),
  ];
  return `${id} [label=<${label}>${style.map((attribute) => `, ${attribute}`).join('')}];`;
}

function edgeLine({ from, to, pipeline, kind }: GraphEdge, colour: string): string {
  const isDeadLetter = kind === 'dead_letter';
  const isOff = pipeline.state === 'disabled';
  const shown = isDeadLetter && !isOff ? RED : colour;
  const attributes = [
    `color="${shown}"`,
    ...(isDeadLetter || isOff ? ['style=dashed'] : []),
    ...(isDeadLetter ? ['label="dead letter"', `fontcolor="${shown}"`] : []),
  ];
  return `${from.id} -> ${to.id} [${attributes.join(', ')}];`;
}
