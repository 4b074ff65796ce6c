import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import type { Run } from '../../bench/measure/run-command.ts';
import { PARTS } from '../../bench/parts/index.ts';
import { mainJobResult } from '../../bench/parts/main-job-result.ts';
import { millrace, millraceWithWorkers } from '../../bench/peers/millrace.ts';
import type { Peer } from '../../bench/peers/peer.ts';
import { perl } from '../../bench/peers/perl.ts';
import { syslogNg } from '../../bench/peers/syslog-ng.ts';
import { drawChart } from '../../bench/report/chart.ts';
import { between, markdownReport } from '../../bench/report/markdown.ts';
import { textReport } from '../../bench/report/text.ts';

const runs = (...walls: number[]): Run[] =>
  walls.map((wallMs) => ({ wallMs, cpuMs: wallMs, peakBytes: 50e6 }));

/** Made up: millrace as quick as perl, syslog-ng half as quick, and no workers yet. */
const result = mainJobResult({
  lines: 1000,
  bytes: 160_000,
  there: [perl, syslogNg, millrace].map((peer) => ({ peer, version: '1.2' })),
  missing: [{ peer: millraceWithWorkers, reason: 'this version has no `workers` for a pipeline' }],
  runs: new Map<Peer, Run[]>([
    [perl, runs(10, 20, 30)],
    [syslogNg, runs(20, 40, 60)],
    [millrace, runs(10, 20, 30)],
  ]),
});

describe('the result of the main job', () => {
  it('has everybody, the quickest first, with ratios of the same rounds', () => {
    const [speeds] = result.tables;
    expect(speeds?.rows.map((row) => row.slice(0, 4))).toEqual([
      ['perl -pe', '50,000 (33,333–100,000)', '1.00 ×', '2.00 ×'],
      ['millrace', '50,000 (33,333–100,000)', '1.00 ×', '2.00 ×'],
      ['syslog-ng', '25,000 (16,667–50,000)', '0.50 ×', '1.00 ×'],
    ]);
  });

  it('says which targets are met', () => {
    expect(result.targets.map(({ measured, wanted, isMet }) => [measured, wanted, isMet])).toEqual([
      ['1.00 ×', '≥ 0.90 ×', true],
      ['2.00 ×', '≥ 2.20 ×', false],
      ['millrace, `workers: 2` is missing', '≥ 1.60 ×', false],
      ['millrace, `workers: 2` is missing', '≥ 4.00 ×', false],
    ]);
  });

  it('names who is missing and why, and has no figure for them', () => {
    expect(result.notes).toContain(
      'Not measured: millrace, `workers: 2`, because this version has no `workers` for a pipeline.',
    );
    expect(result.chart?.bars.map(({ name }) => name)).toEqual(['perl -pe', 'millrace', 'syslog-ng']);
  });
});

describe('a report', () => {
  const part = {
    tables: [
      {
        cells: 'figures',
        columns: ['', 'lines/s'],
        rows: [
          ['a | b', '12'],
          ['c', '1,234'],
        ],
      },
    ],
    targets: [
      { what: 'speed', wanted: '≥ 2 ×', measured: '3 ×', isMet: true },
      { what: 'start', wanted: '≤ 1 ms', measured: '2 ms', isMet: false },
    ],
    notes: ['A note.'],
  } as const;

  it('is a table and its targets on a terminal', () => {
    expect(textReport('The title', part).trim().split('\n')).toEqual([
      'The title',
      '',
      '       lines/s',
      'a | b       12',
      'c        1,234',
      '',
      'A note.',
      '',
      'met     speed: 3 × (target ≥ 2 ×)',
      'MISSED  start: 2 ms (target ≤ 1 ms)',
    ]);
  });

  it('is Markdown on the page', () => {
    expect(markdownReport(part).split('\n')).toEqual([
      '|  | lines/s |',
      '| --- | ---: |',
      '| a \\| b | 12 |',
      '| c | 1,234 |',
      '',
      'A note.',
      '',
      '| Target | wanted | measured |  |',
      '| --- | --- | --- | --- |',
      '| speed | ≥ 2 × | 3 × | met |',
      '| start | ≤ 1 ms | 2 ms | **missed** |',
    ]);
  });

  it('takes the place of the last one of its part, and leaves the rest of the page', () => {
    const page = 'a\n<!-- bench:main -->\nold\n<!-- /bench:main -->\nb\n<!-- bench:x --><!-- /bench:x -->\n';
    const first = between(page, 'main', 'new');
    expect(first).toBe(
      'a\n<!-- bench:main -->\n\nnew\n\n<!-- /bench:main -->\nb\n<!-- bench:x --><!-- /bench:x -->\n',
    );
    expect(between(first, 'main', 'new')).toBe(first);
    expect(() => between(page, 'other', '')).toThrow('the page has no <!-- bench:other -->');
  });

  it('has its place on the page of the benchmarks, and its name in CONTRIBUTING.md', () => {
    const benchmarks = readFileSync('docs/benchmarks.md', 'utf8');
    const contributing = readFileSync('CONTRIBUTING.md', 'utf8');
    for (const { name } of PARTS) {
      expect(() => between(benchmarks, name, '')).not.toThrow();
      expect(contributing).toContain(`\`${name}\``);
    }
  });
});

describe('the chart', () => {
  const svg = drawChart({
    title: 'Lines & more',
    unit: 'lines/s',
    bars: [
      { name: 'slow <1>', value: 50, label: '50', kind: 'text' },
      { name: 'quick', value: 200, label: '200', kind: 'own' },
    ],
  });

  it('has the longest bar first, and lengths from 0', () => {
    const bars = [...svg.matchAll(/<rect class="(\w+)" x="270" y="[\d.]+" width="([\d.]+)" height="16"/g)];
    expect(bars.map(([, kind, width]) => [kind, Number(width)])).toEqual([
      ['own', 500],
      ['text', 125],
    ]);
  });

  it('has what it shows as text, escaped', () => {
    expect(svg).toContain('<desc>quick: 200 lines/s; slow &lt;1&gt;: 50 lines/s</desc>');
    expect(svg).toContain('<title>Lines &amp; more</title>');
  });
});
