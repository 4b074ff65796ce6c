import { resolve } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { ConfigError } from '../../src/config/config-error.ts';
import { parseConfig } from '../../src/config/parse-config.ts';

const config = (paths: string[], main: object = {}, others: object = {}) => ({
  collectors: { log: { plugin: 'file', paths } },
  forwarders: {
    out: { plugin: 'disk', path: 'out', filename: 'events.jsonl' },
    dumps: { plugin: 'disk', path: 'dumps' },
    witness: { plugin: 'test', path: 'out/witness' },
    none: { plugin: 'noop' },
  },
  pipelines: { main: { collect: 'log', forward: 'none', ...main }, ...others },
  host_config: {},
});

function mistakes(input: unknown): string[] {
  try {
    parseConfig(input);
    return [];
  } catch (error) {
    return (error as ConfigError).mistakes.map(({ path, message }) => `${path}: ${message}`);
  }
}

describe('a pipeline that reads what it writes', () => {
  it.each([
    [['out/*'], { forward: 'out' }, 'out'],
    [['./out/../out/events.jsonl'], { forward: 'out' }, 'out'],
    [[resolve('out/*.jsonl')], { forward: ['none', 'out'] }, 'out'],
    [['other', '**/*.json'], { forward: 'dumps' }, 'dumps'],
    [['out/*'], { forward: 'witness' }, 'witness'],
    [['out/*'], { delivery: { dead_letter: 'out' } }, 'out'],
  ])('is refused: %j by %j', (paths, main, name) => {
    expect(mistakes(config(paths, main))).toEqual([
      expect.stringMatching(
        new RegExp(
          `^pipelines\\.main\\.collect\\[0\\]: \`log\` reads what \`${name}\` of the same pipeline writes`,
        ),
      ),
    ]);
  });

  it('is not one that reads beside it, or what another pipeline writes', () => {
    expect(mistakes(config(['out/*.log', 'events.jsonl'], { forward: 'out' }))).toEqual([]);
    const other = { collect: 'ticks', forward: 'out' };
    const collectors = { ticks: { plugin: 'test' }, log: { plugin: 'file', paths: ['out/*'] } };
    expect(mistakes({ ...config([], {}, { other }), collectors })).toEqual([]);
  });
});
