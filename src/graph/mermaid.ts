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

/** The brackets that make a node's shape. */
const SHAPES: Readonly<Record<GraphNodeKind, readonly [string, string]>> = {
  collect: ['([', '])'],
  pipeline: ['[[', ']]'],
  process: ['[', ']'],
  forward: ['[(', ')]'],
};

/**
 * A graph as a Mermaid flowchart, which GitHub and GitLab draw where Markdown has a block of ```` ```mermaid ````.
 *
 * @example
 * renderMermaid({ nodes: [], edges: [] }); // 'flowchart LR\n'
 */
export function renderMermaid(graph: PipelineGraph): string {
  const colours = coloursOf(graph);
  const nodes = (['collect', 'pipeline', 'process', 'forward'] as const).flatMap((kind) =>
    nodesOf(graph, kind).map(nodeLine),
  );
  const edges = graph.edges.map(edgeLine);
  const links = graph.edges.map(
    ({ pipeline, kind }, index) => `linkStyle ${index} stroke:${edgeColour(colours.get(pipeline), kind)}`,
  );
  const styles = [...colours].map(([{ id }, colour]) => `style ${id} stroke:${colour},stroke-width:2px`);
  const grey = graph.nodes.filter(({ state }) => state !== 'active').map(({ id }) => id);
  const classes =
    grey.length === 0
      ? []
      : [`classDef off stroke-dasharray:4 3,color:${GREY},stroke:${GREY}`, `class ${grey.join(',')} off`];
  const lines = [...nodes, ...edges, ...styles, ...links, ...classes];
  return `flowchart LR\n${lines.map((line) => `  ${line}\n`).join('')}`;
}

function nodeLine(node: GraphNode): string {
  const { id, kind, name, plugin, settings, state } = node;
  const [open, close] = SHAPES[kind];
  const title = [`<b>${escaped(name)}</b>`, ...(plugin === undefined ? [] : [`<i>${escaped(plugin)}</i>`])];
  const lines = [
    title.join(' · '),
    ...(state === 'active' ? [] : [state]),
    ...settings.map(({ key, values }) => escaped(`${key}: ${listed(values).join(' ')}`)),
  ];
  return `${id}${open}"${lines.join('<br/>')}"${close}`;
}

function edgeLine({ from, to, pipeline, kind }: GraphEdge): string {
  if (kind === 'dead_letter') return `${from.id} -. dead letter .-> ${to.id}`;
  return `${from.id} ${pipeline.state === 'disabled' ? '-.->' : '-->'} ${to.id}`;
}

function edgeColour(colour: string | undefined, kind: GraphEdge['kind']): string {
  return kind === 'dead_letter' && colour !== GREY ? RED : (colour ?? GREY);
}

/**
 * All but letters, digits and what Mermaid gives no meaning anywhere, as the numbers that it understands. It takes
 * `\n` for the end of a line even so, so that backslash is another one.
 */
function escaped(text: string): string {
  return text
    .replaceAll('\\n', '∖n')
    .replace(/[^\p{L}\p{M}\p{N} .,:/_-]/gu, (char) => `#${char.codePointAt(0)};`);
}
