import { describe, expect, it } from '@jest/globals';
import type { ConfigError } from '../../src/config/config-error.ts';
import { parseNow } from '../support/parse-now.ts';

function problems(pipeline: object): string[] {
  const input = {
    collectors: { log: { plugin: 'file', paths: ['in.log'] } },
    processors: { traces: { plugin: 'multiline', preset: 'java' }, slow: { plugin: 'test', delay: 1 } },
    forwarders: { none: { plugin: 'noop' } },
    pipelines: { main: { collect: 'log', forward: 'none', ...pipeline } },
    host_config: {},
  };
  try {
    parseNow(input);
    return [];
  } catch (error) {
    return (error as ConfigError).problems.map(({ path, message }) => `${path}: ${message}`);
  }
}

describe('a processor that joins lines', () => {
  it('is refused behind another one that may pass on lines in another order', () => {
    expect(problems({ process: ['slow', 'traces'], ordered: false })).toEqual([
      expect.stringMatching(
        /^pipelines\.main\.process\[1\]: `traces`, a `multiline` processor, joins lines; .* requires `ordered: true`/,
      ),
    ]);
  });

  it.each([
    { process: ['slow', 'traces'] },
    { process: ['traces', 'slow'], ordered: false },
    { process: 'traces', ordered: false },
  ])('is good for %j', (pipeline) => {
    expect(problems(pipeline)).toEqual([]);
  });
});
