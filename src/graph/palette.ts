import { type GraphNode, nodesOf, type PipelineGraph } from './graph.ts';

/** Told apart by colour-blind people too, and dark enough for white text on them. */
const COLOURS = ['#0b6fa4', '#b4480f', '#0a7d5a', '#8e4585', '#8a6400', '#4353b3', '#b0365c', '#3f6f1f'];

export const GREY = '#8c959f';
/** Of the ways that failed events take. */
export const RED = '#c62828';

/**
 * A colour for each pipeline: that of its edges. Disabled ones are grey.
 *
 * @example
 * coloursOf({ nodes: [], edges: [] }).size; // 0
 */
export function coloursOf(graph: PipelineGraph): Map<GraphNode, string> {
  return new Map(
    nodesOf(graph, 'pipeline').map((node, index) => [
      node,
      node.state === 'disabled' ? GREY : (COLOURS[index % COLOURS.length] as string),
    ]),
  );
}
