import { spawnSync } from 'node:child_process';
import { describe, expect, it } from '@jest/globals';
import { renderDot } from '../../src/graph/dot.ts';
import type { PipelineGraph } from '../../src/graph/graph.ts';
import { renderMermaid } from '../../src/graph/mermaid.ts';
import { graphOf, named, ODD_NAMES, SHARED } from './graphs.ts';

const shared = graphOf(SHARED);
const odd = graphOf(named(ODD_NAMES));
const empty: PipelineGraph = { nodes: [], edges: [] };

describe('a graph in Mermaid', () => {
  it('has a line for each node and edge, and a style for each edge', () => {
    const lines = renderMermaid(shared).split('\n');
    expect(lines[0]).toBe('flowchart LR');
    expect(lines).toContain(
      '  collect0(["<b>access_log</b> · <i>file</i><br/>paths: /var/log/nginx/#42;.log<br/>backfill: true"])',
    );
    expect(lines).toContain('  process0 --> process1');
    expect(lines).toContain('  pipeline0 -. dead letter .-> forward2');
    expect(lines).toContain('  collect0 -.-> pipeline2');
    expect(lines).toContain('  class collect2,pipeline2,process2 off');
    expect(lines.filter((line) => line.includes('linkStyle'))).toHaveLength(shared.edges.length);
  });

  it('escapes all that could end a label or be taken for markup', () => {
    const labels = [...renderMermaid(odd).matchAll(/"(.*)"/g)].map(([, label = '']) => label);
    expect(labels).toHaveLength(odd.nodes.length);
    for (const label of labels) {
      const text = label.replaceAll(/<\/?[bi]>|<br\/>/g, '').replaceAll(/#\d+;/g, '');
      expect(text).not.toMatch(/["<>&#;`\\{}[\]|%$]/);
    }
  });

  it('draws nothing of nothing', () => expect(renderMermaid(empty)).toBe('flowchart LR\n'));
});

describe('a graph for Graphviz', () => {
  it('has a line for each node and edge', () => {
    const lines = renderDot(shared).split('\n');
    expect(lines.filter((line) => line.includes(' -> '))).toHaveLength(shared.edges.length);
    expect(lines.filter((line) => line.includes('[label=<'))).toHaveLength(shared.nodes.length);
    expect(lines).toContain(
      '  pipeline0 -> forward2 [color="#c62828", style=dashed, label="dead letter", fontcolor="#c62828"];',
    );
  });

  const hasGraphviz = spawnSync('dot', ['-V']).status === 0;
  const check = hasGraphviz ? it : it.skip;
  check.each([
    ['shared entries', shared],
    ['odd names', odd],
    ['nothing', empty],
  ])('is accepted by dot: %s', (_, graph) => {
    const { status, stderr } = spawnSync('dot', ['-Tcanon'], { input: renderDot(graph), encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });
});
