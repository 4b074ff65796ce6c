import { DARK_STYLE, DRAWING_CLASS, element, escapeXml } from '../../graph/xml.ts';
import { printable } from '../../sdk/printable.ts';
import type { Trace } from '../trace.ts';
import { columnWidths, gridOf, type Panel, panelsOf } from './grid.ts';
import { layoutOf } from './layout.ts';
import { SVG_RULER, spread } from './svg-columns.ts';
import { CARD, moved, SANS } from './svg-elements.ts';
import { svgLegend } from './svg-legend.ts';
import { svgPanel } from './svg-panel.ts';
import { heading, type Piece } from './svg-row.ts';

export interface DrawSvgOptions {
  /** Default: the pipeline's name. */
  readonly title?: string;
}

const PANEL_GAP = 26;
/** Room for an arrow at the right. */
const ARROW = 20;

/**
 * Draws a run as marble diagrams, for documents and pull requests: what {@link drawText} shows, as SVG on a
 * card, which is dark where the reader prefers that. The same run gives the same bytes.
 *
 * @example
 * const config = {
 *   collectors: { web: { plugin: 'file', paths: ['access.log'] } },
 *   forwarders: { archive: { plugin: 'noop' } },
 *   pipelines: { main: { collect: 'web', forward: 'archive' } },
 *   host_config: {},
 * };
 * const run = await testPipeline(config, { collect: { web: { marbles: 'a 5s b|' } } });
 * const svg = await drawSvg(run.trace, { title: 'Two lines' });
 * svg.includes('<title>Two lines</title>'); // true
 */
export async function drawSvg(trace: Trace, options: DrawSvgOptions = {}): Promise<string> {
  const layout = layoutOf(trace);
  const title = printable(options.title ?? trace.pipeline);
  const widths = columnWidths(layout, SVG_RULER);
  const panels = panelsOf(widths, CARD.widest);
  const width = contentWidth(panels);
  const pieces: Piece[] = [
    heading(title, layout.summary, width),
    ...panels.map((panel) => svgPanel(gridOf(layout, spread(panel, width - ARROW), widths), width)),
    svgLegend(layout, width),
  ];
  return card(title, layout.summary, pieces, width);
}

/** The width of the widest panel, with room for an arrow, but wide enough that no word has to be broken. */
function contentWidth(panels: readonly Panel[]): number {
  return Math.min(CARD.widest, Math.max(CARD.narrowest, ...panels.map((panel) => panel.width + ARROW)));
}

function card(title: string, summary: string, pieces: readonly Piece[], contentWidth: number): string {
  const parts: string[] = [];
  let y: number = CARD.margin;
  for (const { svg, height } of pieces) {
    if (height === 0) continue;
    parts.push(moved(CARD.margin, y, svg));
    y += height + PANEL_GAP;
  }
  const width = contentWidth + 2 * CARD.margin;
  const height = Math.ceil(y - PANEL_GAP + CARD.margin);
  const frame = element('rect', {
    x: 0.5,
    y: 0.5,
    width: width - 1,
    height: height - 1,
    rx: 8,
    fill: CARD.fill,
    stroke: CARD.stroke,
  });
  const attributes = {
    xmlns: 'http://www.w3.org/2000/svg',
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    role: 'img',
    class: DRAWING_CLASS,
    'font-family': SANS,
  };
  const content = [
    element('title', {}, escapeXml(title)),
    element('desc', {}, escapeXml(summary)),
    element('style', {}, DARK_STYLE),
    frame,
    ...parts,
  ];
  return `${element('svg', attributes, `\n${content.join('\n')}\n`)}\n`;
}
