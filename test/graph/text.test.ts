import { describe, expect, it } from '@jest/globals';
import { renderText } from '../../src/graph/text.ts';
import { columnsOf } from '../../src/graph/words.ts';
import { graphOf, named, ODD_NAMES, SHARED } from './graphs.ts';

describe('a graph as text', () => {
  it('is one tree for each pipeline; settings stand where an entry comes first', () => {
    expect(renderText(graphOf(SHARED))).toBe(`\
web  max_in_flight: 500 · ordered: true · restart: true · attempts: 5 · timeout: 10 s
├─ collect      access_log      file          paths: /var/log/nginx/*.log · backfill: true
├─ process      known_secrets   regex_mask    rules: EMAIL, TOKEN
│               random_secrets  entropy_mask  h_threshold: 0.85 · length_threshold: 16
├─ forward      archive         disk          path: out/web · filename: events.jsonl
│               screen          stdout
└─ dead letter  failed          disk          path: out/failed

host  max_in_flight: 1000 · ordered: false · restart: true
├─ collect  uptime  host_exec  fn: status.uptime · interval: 60 s
└─ forward  screen  stdout     (see above)

experiment  disabled · max_in_flight: 1000 · ordered: true · restart: true
├─ collect  access_log     file        (see above)
├─ process  slow           test        delay_range: 0.1 – 0.5 s
│           known_secrets  regex_mask  (see above)
└─ forward  screen         stdout      (see above)

(in no pipeline)
└─ collect  spare  test  interval: 1 s
`);
  });

  it.each([40, 60, 80])('fits a terminal of %i columns, where no value is longer', (columns) => {
    const lines = renderText(graphOf(SHARED), { columns })
      .split('\n')
      .filter((line) => /^[├└│ ]/.test(line));
    expect(Math.max(...lines.map(columnsOf))).toBeLessThanOrEqual(Math.max(columns, 50));
  });

  it('paints what is less important, and what is disabled', () => {
    const text = renderText(graphOf(SHARED), { bold: (t) => `*${t}*`, dim: (t) => `<${t}>` });
    expect(text).toContain('*web*  <max_in_flight: 500');
    expect(text).toContain('<experiment>  <disabled');
    expect(text).toMatch(/<├─ ><process {2}slow/);
  });

  it('keeps columns under wide characters, and one line for each name', () => {
    const lines = renderText(graphOf(named(ODD_NAMES)))
      .split('\n')
      .slice(1, -2);
    expect(lines).toHaveLength(ODD_NAMES.length);
    expect(new Set(lines.map((line) => columnsOf(line.replace(/interval.*/, '')))).size).toBe(1);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
    expect(lines.join('')).not.toMatch(/[\u0000-\u001f\u202e]/);
  });
});
