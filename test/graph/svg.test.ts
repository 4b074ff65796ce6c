import { describe, expect, it } from '@jest/globals';
import { markUntested } from '../../src/graph/build-graph.ts';
import type { GraphNode, PipelineGraph } from '../../src/graph/graph.ts';
import { type Layout, layOut, orderColumns, placeItems } from '../../src/graph/svg/layout.ts';
import { renderSvg } from '../../src/graph/svg/svg.ts';
import { columnsOf } from '../../src/graph/words.ts';
import { graphOf, named, ODD_NAMES, SHARED } from './graphs.ts';

/** Two pipelines that use the same processors in the opposite order. */
const OPPOSITE = {
  ...SHARED,
  pipelines: {
    one: { collect: 'uptime', process: ['known_secrets', 'slow'], forward: 'screen' },
    two: { collect: 'uptime', process: ['slow', 'known_secrets'], forward: 'screen' },
  },
};

/** Fifteen entries in one pipeline, with names, paths and conditions that are longer than a card is wide. */
const DENSE = {
  collectors: Object.fromEntries(
    ['nginx_access', 'nginx_error', 'kubernetes_containers', 'jobs', 'audit_trail_of_the_database'].map(
      (name) => [name, { plugin: 'file', paths: [`/var/lib/${name}/14/main/${name}-current.log`] }],
    ),
  ),
  processors: {
    known_secrets: { plugin: 'redact' },
    fields: { plugin: 'parse', format: 'json' },
    only_slow: { plugin: 'filter', keep: 'data.status >= 500 || data.duration_ms > 2000' },
    region_of_the_machine: { plugin: 'map', set: { region: '"north"' } },
    random_secrets: { plugin: 'entropy_mask', h_threshold: 0.85 },
  },
  forwarders: {
    ...{ clickhouse: { plugin: 'http', url: 'http://10.0.0.1:8123/' }, bus: { plugin: 'stdout' } },
    archive: { plugin: 'disk', path: '/srv/archive/by-day', filename: 'events.jsonl' },
    alerts: { plugin: 'http', url: 'https://alerts.example.org/' },
    failed: { plugin: 'disk', path: '/srv/failed' },
  },
  pipelines: {
    everything: {
      collect: [
        'nginx_access',
        'nginx_error',
        'kubernetes_containers',
        'jobs',
        'audit_trail_of_the_database',
      ],
      process: ['known_secrets', 'fields', 'only_slow', 'region_of_the_machine', 'random_secrets'],
      forward: ['clickhouse', 'archive', { to: 'alerts', when: 'data.status >= 500' }, 'bus'],
      delivery: { attempts: 5, dead_letter: 'failed' },
    },
  },
  host_config: {},
};

function laidOut(graph: PipelineGraph): Layout {
  const layout = layOut(graph, () => 40);
  orderColumns(layout);
  placeItems(layout);
  return layout;
}

/** The column of a node, and where its middle is. */
function placeOf({ stops }: Layout, name: string): { column: number; y: number } {
  const found = [...stops].find(([node]) => node.name === name);
  if (found === undefined) throw new Error(`no node ${name}`);
  const { item, offset } = found[1];
  return { column: item.column, y: item.y + offset };
}

describe('the layout', () => {
  it('has a column each for collectors, pipelines, processors and forwarders', () => {
    const layout = laidOut(graphOf(SHARED));
    const names = ['access_log', 'web', 'slow', 'known_secrets', 'random_secrets', 'archive'];
    expect(names.map((name) => placeOf(layout, name).column)).toEqual([0, 1, 2, 2, 2, 3]);
  });

  it('has processors of a pipeline below each other, in their order', () => {
    const layout = laidOut(graphOf(DENSE));
    const ys = DENSE.pipelines.everything.process.map((name) => placeOf(layout, name).y);
    expect(ys).toEqual([...ys].sort((a, b) => a - b));
  });

  it('leads every edge through one column after the other', () => {
    for (const { stops } of laidOut(graphOf(SHARED)).ways) {
      const first = stops[0].item.column;
      expect(stops.map(({ item }) => item.column)).toEqual(stops.map((_, index) => first + index));
    }
  });

  it.each([
    ['shared entries', SHARED],
    ['opposite orders', OPPOSITE],
    ['many entries', DENSE],
  ])('lets no two items of a column overlap: %s', (_, config) => {
    for (const column of laidOut(graphOf(config)).columns) {
      column.slice(1).forEach((item, index) => {
        const above = column[index] as typeof item;
        expect(item.y - item.height / 2).toBeGreaterThan(above.y + above.height / 2);
      });
    }
  });

  it('has an edge up where pipelines use processors in opposite orders', () => {
    const layout = laidOut(graphOf(OPPOSITE));
    const isUp = layout.chainSteps.map(({ edge }) => {
      const [from, to] = [placeOf(layout, edge.from.name), placeOf(layout, edge.to.name)];
      return to.y < from.y;
    });
    expect(isUp).toEqual([false, true]);
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
    const order = (column: Layout['columns'][number] | undefined) =>
      column?.map(({ nodes }) => nodes[0]?.name).join();
    expect([`${order(collectors)} ${order(pipelines)}`]).toEqual([expect.stringMatching(/a,b y,x|b,a x,y/)]);
  });
});

describe.each([
  ['many entries', graphOf(DENSE)],
  ['shared entries', graphOf(SHARED)],
  ['names that nothing can break', graphOf(named(['a'.repeat(60), '日'.repeat(50)]))],
  [
    'settings that no test reaches',
    markUntested(graphOf(DENSE), [
      { kind: 'process', name: 'only_slow', mark: 'no event for which `keep` is false' },
    ]),
  ],
])('a picture of %s is readable at a width of 880 pixels', (_, graph: PipelineGraph) => {
  const svg = renderSvg(graph);
  const [, width, right] = /^<svg [^>]*width="([\d.]+)"[^>]*viewBox="0 0 ([\d.]+) /.exec(svg) ?? [];

  it('is no wider, and has no letters below 11 pixels', () => {
    expect(Number(width)).toBeLessThanOrEqual(880);
    expect(right).toBe(width);
    const sizes = [...svg.matchAll(/<text[^>]* font-size="([\d.]+)"/g)].map(([, size]) => Number(size));
    expect(sizes).toHaveLength(svg.split('<text').length - 1);
    expect(Math.min(...sizes)).toBeGreaterThanOrEqual(11);
  });

  it('has all words inside their cards', () => {
    const cards = [...svg.matchAll(/<g><title>.*?<rect x="([\d.]+)" .*? width="([\d.]+)".*?<\/g>/gs)];
    expect(cards).toHaveLength(graph.nodes.length);
    for (const [card, x, cardWidth] of cards) {
      const [left, end] = [Number(x), Number(x) + Number(cardWidth)];
      for (const [, at, size, more, words = ''] of card.matchAll(
        /<text x="([\d.]+)" y="[\d.]+" font-size="(\d+)"([^>]*)>([^<]*)</g,
      )) {
        const long = columnsOf(words.replaceAll(/&\w+;/g, '.')) * Number(size) * 0.602;
        const start = more?.includes('text-anchor="end"') ? Number(at) - long : Number(at);
        expect(start).toBeGreaterThan(left);
        expect(start + long).toBeLessThan(end);
      }
    }
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

  it('is dark where the reader prefers that', () =>
    expect(svg).toMatch(/<style>@media \(prefers-color-scheme: dark\)/));

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
