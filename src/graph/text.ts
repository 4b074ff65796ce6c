import { type GraphNode, listed, nodesOf, type PipelineGraph, visibleText } from './graph.ts';
import { columnsOf, joinWords } from './words.ts';

/** How the text looks; by default it has no colours. */
interface TextStyle {
  /** The width of the terminal. Default: 100. */
  readonly columns?: number;
  readonly bold?: (text: string) => string;
  readonly dim?: (text: string) => string;
}

type Style = Required<TextStyle>;

interface Row {
  readonly stage: string;
  readonly node: GraphNode;
}

/** With less room than this, settings get lines of their own. */
const MIN_SETTINGS_COLUMNS = 28;
const NAME_LENGTH = 32;
const plain = (text: string) => text;

/**
 * A graph as one tree for each pipeline, in the order of the events' way. The settings of an entry are given where it
 * comes first.
 */
export function renderText(graph: PipelineGraph, style: TextStyle = {}): string {
  const full: Style = { columns: 100, bold: plain, dim: plain, ...style };
  const shown = new Set<GraphNode>();
  const trees = nodesOf(graph, 'pipeline').map((pipeline) => [
    headline(pipeline, full),
    ...treeLines(rowsOf(graph, pipeline), shown, full),
  ]);
  const unused = graph.nodes.filter(({ state }) => state === 'unused');
  if (unused.length > 0) {
    const rows = unused.map((node): Row => ({ stage: node.kind, node }));
    trees.push([full.dim('(in no pipeline)'), ...treeLines(rows, shown, full)]);
  }
  return trees.map((lines) => `${lines.join('\n')}\n`).join('\n');
}

function headline(pipeline: GraphNode, { bold, dim }: Style): string {
  const isDisabled = pipeline.state === 'disabled';
  const facts = [...(isDisabled ? ['disabled'] : []), settingWords(pipeline).join(' ')].join(' · ');
  return `${isDisabled ? dim(pipeline.name) : bold(pipeline.name)}  ${dim(facts)}`;
}

function rowsOf({ edges }: PipelineGraph, pipeline: GraphNode): Row[] {
  const rows = edges
    .filter((edge) => edge.pipeline === pipeline)
    .map(({ from, to, kind }): Row => {
      if (kind === 'dead_letter') return { stage: 'dead letter', node: to };
      return to === pipeline ? { stage: 'collect', node: from } : { stage: to.kind, node: to };
    });
  return rows;
}

/** One line for each row, and further ones where its settings do not fit. */
function treeLines(rows: readonly Row[], shown: Set<GraphNode>, { columns, dim }: Style): string[] {
  const width = (pick: (row: Row) => string) => Math.max(...rows.map((row) => columnsOf(pick(row))));
  const stages = width(({ stage }) => stage);
  const nameOf = (node: GraphNode) => visibleText(node.name, NAME_LENGTH);
  const names = width(({ node }) => nameOf(node));
  const plugins = width(({ node }) => node.plugin ?? '');
  const left = 3 + stages + 2 + names + 2 + plugins + 2;
  const isNarrow = columns - left < MIN_SETTINGS_COLUMNS;
  const indent = isNarrow ? 3 + stages + 4 : left;

  return rows.flatMap(({ stage, node }, index) => {
    const begins = rows[index - 1]?.stage !== stage;
    const goesOn = rows.slice(index + 1).some((row) => row.stage !== stage);
    const branch = begins ? (goesOn ? '├─ ' : '└─ ') : goesOn ? '│  ' : '   ';
    const isSeen = shown.has(node);
    shown.add(node);
    const settings = isSeen ? ['(see above)'] : joinWords(settingWords(node), columns - indent);
    const cells = [
      pad(begins ? stage : '', stages),
      pad(nameOf(node), names),
      pad(node.plugin ?? '', plugins),
    ];
    const beside = isNarrow && !isSeen ? [] : settings.splice(0, 1);
    const paint = node.state === 'active' ? plain : dim;
    const [first = '', ...rest] = [cells.join('  '), ...beside.map((text) => `  ${dim(text)}`)];
    const line = rest.length === 0 ? first.trimEnd() : first;
    return [
      `${dim(branch)}${paint(line)}${rest.join('')}`,
      ...settings.map((text) => dim(`${goesOn ? '│' : ' '}${' '.repeat(indent - 1)}${text}`)),
    ];
  });
}

/** `key: a, b · other: c` as words that lines may break between. */
function settingWords({ settings }: GraphNode): string[] {
  return settings.flatMap(({ key, values }, index) => {
    const [first = '', ...rest] = listed(values);
    return [`${index > 0 ? '· ' : ''}${key}: ${first}`, ...rest];
  });
}

function pad(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - columnsOf(text)));
}
