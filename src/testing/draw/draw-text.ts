import { counted } from '../../../operators/internal.ts';
import { columnsOf, wrapText } from '../../graph/words.ts';
import { printable } from '../../sdk/printable.ts';
import type { Trace } from '../trace.ts';
import { columnWidths, type Grid, gridOf, type Panel, panelsOf } from './grid.ts';
import { type Layout, type LayoutRow, layoutOf, STAGE_WORDS } from './layout.ts';
import type { LegendLine } from './legend.ts';
import {
  axisLine,
  glyphPaint,
  INDENT,
  painters,
  rowLines,
  SIGNS,
  stateLine,
  TEXT_RULER,
  TextLine,
} from './text-panel.ts';

export interface DrawTextOptions {
  /** The most characters in a line; what needs more is broken into panels. Default: 100. */
  readonly width?: number;
  /** Whether to colour it for a terminal. Default: false. */
  readonly colours?: boolean;
  /** Default: the pipeline's name. */
  readonly title?: string;
}

/** Narrower than this nothing can be drawn. */
const NARROWEST = 40;

/**
 * Draws a run for the terminal: each stage with its settings, what left it and when, drops, retries and errors, the
 * pipeline's states, and a legend. The same run gives the same text.
 *
 * @example
 * const config = {
 *   collectors: { web: { plugin: 'file', paths: ['access.log'] } },
 *   forwarders: { archive: { plugin: 'noop' } },
 *   pipelines: { main: { collect: 'web', forward: 'archive' } },
 *   host_config: {},
 * };
 * const run = await testPipeline(config, { collect: { web: { marbles: 'a 5s b|' } } });
 * drawText(run.trace, { title: 'Two lines' }).split('\n')[6]; // '  a─┄┄┄┄─b──────│'
 */
export function drawText(trace: Trace, options: DrawTextOptions = {}): string {
  const { colours = false, title } = options;
  const width = Math.max(NARROWEST, options.width ?? 100);
  const layout = layoutOf(trace);
  const widths = columnWidths(layout, TEXT_RULER);
  const panels = panelsOf(widths, width - INDENT - 1);
  const grids = panels.map((panel) => gridOf(layout, panel, widths));
  const boxWidth = boxWidthOf(layout, panels, width);
  const lines = [
    ...wrapText(printable(title ?? trace.pipeline), width).map((text) => new TextLine().add(text, 'title')),
    ...wrapText(layout.summary, width).map((text) => new TextLine().add(text, 'faint')),
    ...grids.flatMap((grid) => [
      new TextLine(),
      axisLine(grid),
      stateLine(grid),
      ...grid.rows.flatMap((row) => stageLines(grid, row, boxWidth)),
    ]),
    ...legendLines(layout, width),
  ];
  const paints = painters(colours);
  return `${lines.map((line) => line.render(paints)).join('\n')}\n`;
}

const SEPARATOR = '   ';

function captionOf({ name, plugin, settings }: LayoutRow): string {
  return [`${name}: ${plugin}`, ...settings].join(SEPARATOR);
}

/** The width of the widest panel, or of the longest caption. */
function boxWidthOf({ rows }: Layout, panels: readonly Panel[], width: number): number {
  const boxes = rows.filter(({ kind }) => kind === 'process').map((row) => columnsOf(captionOf(row)) + 4);
  return Math.min(width, Math.max(...boxes, ...panels.map((panel) => panel.width + INDENT)));
}

/** The operator, and what left it. */
function stageLines(grid: Grid, row: Grid['rows'][number], boxWidth: number): TextLine[] {
  const { stage } = row;
  const caption = stage.kind === 'process' ? box(captionOf(stage), boxWidth) : plainCaption(stage, boxWidth);
  return [...caption, ...rowLines(grid, row)];
}

function box(caption: string, width: number): TextLine[] {
  const bar = '─'.repeat(width - 2);
  const [first = '', ...rest] = wrapText(caption, width - 4);
  const inner = [first, ...rest].map((text, i) => {
    const line = new TextLine().put(0, '│', 'faint');
    return line.put(2, text, i === 0 ? 'title' : 'plain').put(width - 1, '│', 'faint');
  });
  return [new TextLine().add(`┌${bar}┐`, 'faint'), ...inner, new TextLine().add(`└${bar}┘`, 'faint')];
}

function plainCaption(row: LayoutRow, width: number): TextLine[] {
  const kind = STAGE_WORDS[row.kind];
  const lines = wrapText(captionOf(row), Math.max(width, NARROWEST) - kind.length);
  return lines.map((text, i) =>
    new TextLine().put(0, i === 0 ? kind : '', 'faint').put(kind.length, text, 'title'),
  );
}

function legendLines({ legend, signs }: Layout, width: number): TextLine[] {
  const names = legend.lines.map((line) => line.names.join(' '));
  const indent = Math.min(24, Math.max(2, ...names.map(columnsOf))) + 2;
  const entry = (name: string, text: string, paint: Parameters<TextLine['put']>[2]) => {
    const line = new TextLine().put(0, name, paint);
    const isLong = columnsOf(name) > indent - 2;
    const texts = wrapText(text, width - indent);
    const below = texts.slice(isLong ? 0 : 1).map((rest) => new TextLine().put(indent, rest));
    return isLong ? [line, ...below] : [line.put(indent, texts[0] as string), ...below];
  };
  const lines = [
    ...legend.lines.flatMap((line, i) =>
      entry(names[i] as string, legendText(line), line.stage === undefined ? 'event' : 'changed'),
    ),
    ...(legend.more === 0 ? [] : entry('…', `and ${counted(legend.more, 'more event')}`, 'faint')),
    ...signs.flatMap((sign) => entry(SIGNS[sign.kind], sign.meaning, glyphPaint(sign))),
  ];
  return lines.length === 0 ? [] : [new TextLine(), ...lines];
}

function legendText({ text, stage }: LegendLine): string {
  return stage === undefined ? text : `${text}   (${stage})`;
}
