import { printable } from '../sdk/printable.ts';

/** `pipeline` stands between collectors and processors: it is the window that what was collected goes through. */
export type GraphNodeKind = 'collect' | 'pipeline' | 'process' | 'forward';

/** A setting in words that may be shown: no secret, one line, no control characters. */
export interface GraphSetting {
  readonly key: string;
  /** More than one for lists, such as paths or the names of rules. */
  readonly values: readonly string[];
}

/** The key of the setting that says what no test reaches. */
export const NOT_TESTED = 'not tested';

export interface GraphNode {
  /** Letters and digits: fits every format as it is. */
  readonly id: string;
  readonly kind: GraphNodeKind;
  /** The entry's name, in a form that may be shown. */
  readonly name: string;
  /** The plugin's name; undefined for pipelines. */
  readonly plugin: string | undefined;
  readonly settings: readonly GraphSetting[];
  /** `disabled`: a disabled pipeline, or an entry that only such pipelines use. `unused`: no pipeline uses it. */
  readonly state: 'active' | 'disabled' | 'unused';
}

/** The way of one pipeline's events from one node to the next. */
export interface GraphEdge {
  readonly from: GraphNode;
  readonly to: GraphNode;
  /** Whose events; the pipeline's node. */
  readonly pipeline: GraphNode;
  /** `dead_letter`: the way of events that a plugin failed on. */
  readonly kind: 'events' | 'dead_letter';
}

/** The pipelines of a configuration. An entry that several of them use is one node. */
export interface PipelineGraph {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

/** The nodes of a kind, in the order of the configuration. */
export function nodesOf(graph: PipelineGraph, kind: GraphNodeKind): GraphNode[] {
  return graph.nodes.filter((node) => node.kind === kind);
}

/** Told apart by colour-blind people too, and dark enough for white text on them. */
const COLOURS = ['#0b6fa4', '#b4480f', '#0a7d5a', '#8e4585', '#8a6400', '#4353b3', '#b0365c', '#3f6f1f'];

/** Of edges. */
export const GREY = '#8c959f';
/** Of words that matter less. */
export const FAINT = '#59636e';
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

const LONGEST = 60;

/**
 * Text as one line that shows what is in it, cut in its middle if it is long.
 *
 * @example
 * visibleText('two\nlines'); // 'two↵lines'
 * visibleText('a'.repeat(100), 9); // 'aaaa…aaaa'
 */
export function visibleText(text: string, longest = LONGEST): string {
  const visible = printable(text.replaceAll('\n', '↵'));
  const characters = [...visible];
  if (characters.length <= longest) return visible;
  const kept = longest - 1;
  // The ends of names and paths tell more than their middles.
  const start = characters.slice(0, Math.ceil(kept / 2));
  return `${start.join('')}…${characters.slice(characters.length - Math.floor(kept / 2)).join('')}`;
}

/**
 * The values of a list as words: a comma after each but the last.
 *
 * @example
 * listed(['alpha', 'beta']); // ['alpha,', 'beta']
 */
export function listed(values: readonly string[]): string[] {
  return values.map((value, index) => (index < values.length - 1 ? `${value},` : value));
}
