import { describe, expect, it } from '@jest/globals';
import type { GraphNode, PipelineGraph } from '../../src/graph/graph.ts';
import { assignLayers, type Layers, orderColumns, placeItems } from '../../src/graph/svg/layout.ts';
import { renderSvg } from '../../src/graph/svg/svg.ts';
import { graphOf, named, ODD_NAMES, SHARED } from './graphs.ts';

/** Two pipelines that use the same processors in the opposite order. */
const OPPOSITE = {
  ...SHARED,
  pipelines: {
    one: { collect: 'uptime', process: ['known_secrets', 'slow'], forward: 'screen' },
    two: { collect: 'uptime', process: ['slow', 'known_secrets'], forward: 'screen' },
  },
};

function laidOut(graph: PipelineGraph): Layers {
  const layers = assignLayers(graph, () => 40);
  orderColumns(layers);
  placeItems(layers);
  return layers;
}

const columnOf = ({ columns }: Layers, name: string) =>
  columns.findIndex((column) => column.some(({ node }) => node?.name === name));

describe('the layout', () => {
  it('has columns from collectors to forwarders, processors after those before them', () => {
    const layers = laidOut(graphOf(SHARED));
    const names = ['access_log', 'web', 'slow', 'known_secrets', 'random_secrets', 'archive'];
    expect(names.map((name) => columnOf(layers, name))).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it('leads every edge through one column after the other', () => {
    for (const { items } of laidOut(graphOf(SHARED)).ways) {
      const first = items[0]?.layer ?? 0;
      expect(items.map(({ layer }) => layer)).toEqual(items.map((_, index) => first + index));
    }
  });

  it.each([
    ['shared entries', SHARED],
    ['opposite orders', OPPOSITE],
  ])('lets no two items of a column overlap: %s', (_, config) => {
    for (const column of laidOut(graphOf(config)).columns) {
      column.slice(1).forEach((item, index) => {
        const above = column[index] as typeof item;
        expect(item.y - item.height / 2).toBeGreaterThan(above.y + above.height / 2);
      });
    }
  });

  it('knows edges that lead back', () => {
    const { backWays } = laidOut(graphOf(OPPOSITE));
    expect(backWays.map(({ edge }) => [edge.from.name, edge.to.name])).toEqual([['slow', 'known_secrets']]);
  });

  it('draws a straight line where there is one way', () => {
    const { columns } = laidOut(graphOf(named(['only'])));
    expect(new Set(columns.flat().map(({ y }) => y)).size).toBe(1);
  });

  it('uncrosses edges', () => {
    const config = {
      ...named([]),
      collectors: { a: { plugin: 'test' }, b: { plugin: 'test' } },
      pipelines: { x: { collect: 'b', forward: 'out' }, y: { collect: 'a', forward: 'out' } },
    };
    const [collectors, pipelines] = laidOut(graphOf(config)).columns;
    const order = (column: Layers['columns'][number] | undefined) =>
      column?.map(({ node }) => node?.name).join();
    expect([`${order(collectors)} ${order(pipelines)}`]).toEqual([expect.stringMatching(/a,b y,x|b,a x,y/)]);
  });
});

describe('a graph as SVG', () => {
  const svg = renderSvg(graphOf(SHARED));

  it('shows every name, plugin and setting once', () => {
    const texts = [...svg.matchAll(/<text[^>]*>([^<]*)<\/text>/g)].map(([, text]) => text);
    for (const name of ['access_log', 'web', 'known_secrets', 'screen', 'regex_mask', '0.1 – 0.5 s']) {
      expect(texts.filter((text) => text === name)).toHaveLength(1);
    }
    expect(texts).toContain('EMAIL, TOKEN');
    expect(texts).toContain('test · disabled');
    expect(texts).toContain('dead letter: events that a plugin failed on');
  });

  it('is the same every time', () => expect(renderSvg(graphOf(SHARED))).toBe(svg));

  it.each([
    ['odd names', graphOf(named(ODD_NAMES))],
    ['opposite orders', graphOf(OPPOSITE)],
    ['nothing', { nodes: [], edges: [] }],
    ['nothing but unused entries', graphOf({ ...SHARED, pipelines: {} })],
  ])('is well-formed, with numbers only: %s', (_, graph: PipelineGraph) => {
    const text = renderSvg(graph);
    expect(unclosed(text)).toEqual([]);
    expect(text).not.toMatch(/NaN|Infinity|undefined/);
  });

  it('keeps inside the picture', () => {
    const width = Number(/width="([\d.]+)"/.exec(svg)?.[1]);
    const height = Number(/height="([\d.]+)"/.exec(svg)?.[1]);
    for (const [, x, y, w, h] of svg.matchAll(/<rect x="(\S+)" y="(\S+)" width="(\S+)" height="(\S+)"/g)) {
      expect(Number(x) + Number(w)).toBeLessThan(width);
      expect(Number(y) + Number(h)).toBeLessThan(height);
    }
  });

  it('takes the pipelines’ colours for their edges only while they are enabled', () => {
    const off: GraphNode[] = graphOf(SHARED).nodes.filter(({ state }) => state === 'disabled');
    expect(off.map(({ name }) => name)).toEqual(['experiment', 'slow']);
    expect(svg).toContain('stroke="#8c959f" stroke-width="1.8" stroke-dasharray="5 4"');
  });
});

/** Tags without their ends, and texts with a bare `<` or `&`. */
function unclosed(xml: string): string[] {
  const open: string[] = [];
  for (const [tag, end, name = '', self] of xml.matchAll(/<(\/?)(\w+)(?:\s+[\w-]+="[^"<]*")*(\/?)>/g)) {
    if (self === '/') continue;
    if (end === '') open.push(name);
    else if (open.pop() !== name) return [tag];
  }
  const bare = xml
    .replaceAll(/<\/?\w+(?:\s+[\w-]+="[^"<]*")*\/?>/g, '')
    .match(/<|&(?!(?:amp|lt|gt|quot|#39);)/);
  return bare === null ? open : [bare[0]];
}
