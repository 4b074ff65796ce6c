import { element, escapeXml } from '../../src/graph/xml.ts';
import type { Bar, Chart } from '../parts/part.ts';

const WIDTH = 860;
const NAMES = 270;
const FIGURES = 90;
const ROW = 26;
const BAR = 16;
const TOP = 64;
const LEGEND: readonly { kind: Bar['kind']; name: string }[] = [
  { kind: 'own', name: 'millrace' },
  { kind: 'other', name: 'writes events' },
  { kind: 'text', name: 'writes text only' },
];

/** Colours for light and dark pages; the bars stand out from both, and from each other in greys too. */
const STYLE = `
text { font: 13px system-ui, sans-serif; fill: #1f2328; }
.title { font-size: 16px; font-weight: 600; }
.own { fill: #0b6fa4; } .other { fill: #8c959f; } .text { fill: #c9a227; }
text.own { font-weight: 600; fill: #0b6fa4; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; }
  .own { fill: #4aa8dd; } .other { fill: #7d8590; } .text { fill: #d9b84a; }
  text.own { fill: #6cbcf0; }
}`;

/** Horizontal bars as SVG, the longest first, for light and dark pages. */
export function drawChart({ title, unit, bars }: Chart): string {
  const sorted = [...bars].sort((a, b) => b.value - a.value);
  const longest = sorted[0]?.value ?? 1;
  const height = TOP + sorted.length * ROW + 8;
  const figures = sorted.map(({ name, label }) => `${name}: ${label} ${unit}`).join('; ');
  const content = [
    element('title', {}, escapeXml(title)),
    element('desc', {}, escapeXml(figures)),
    element('style', {}, STYLE),
    element('text', { class: 'title', x: 8, y: 22 }, escapeXml(title)),
    ...legend(),
    ...sorted.map((bar, index) => row(bar, TOP + index * ROW, longest)),
  ];
  const frame = {
    xmlns: 'http://www.w3.org/2000/svg',
    viewBox: `0 0 ${WIDTH} ${height}`,
    width: WIDTH,
    height,
  };
  return `${element('svg', { ...frame, role: 'img' }, `\n${content.join('\n')}\n`)}\n`;
}

function legend(): string[] {
  return LEGEND.flatMap(({ kind, name }, index) => {
    const x = NAMES + index * 150;
    return [
      element('rect', { class: kind, x, y: 36, width: 12, height: 12, rx: 2 }),
      element('text', { x: x + 18, y: 46.5 }, escapeXml(name)),
    ];
  });
}

function row({ name, value, label, kind }: Bar, y: number, longest: number): string {
  const width = (value / longest) * (WIDTH - NAMES - FIGURES);
  const own = kind === 'own' ? { class: 'own' } : {};
  return [
    element('text', { ...own, x: NAMES - 10, y: y + 17, 'text-anchor': 'end' }, escapeXml(name)),
    element('rect', { class: kind, x: NAMES, y: y + (ROW - BAR) / 2, width, height: BAR, rx: 2 }),
    element('text', { ...own, x: NAMES + width + 8, y: y + 17 }, escapeXml(label)),
  ].join('');
}
