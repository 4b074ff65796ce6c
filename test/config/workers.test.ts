import { describe, expect, it } from '@jest/globals';
import { parseNow } from '../support/parse-now.ts';
import { problems } from './helpers.ts';

const config = (main: object) => ({
  collectors: { log: { plugin: 'file', paths: ['in.log'] }, ticks: { plugin: 'test' } },
  processors: {
    mask: { plugin: 'regex_mask', rules: { A: 'b' } },
    tokens: { plugin: 'entropy_mask' },
    redact: { plugin: 'redact', packs: [], rules: { A: 'b' }, blocks: false },
    keys: { plugin: 'redact', packs: [], rules: { A: 'b' } },
    wait: { plugin: 'test' },
  },
  forwarders: { none: { plugin: 'noop' } },
  pipelines: { main: { collect: ['log'], process: ['mask'], forward: 'none', workers: 2, ...main } },
  host_config: {},
});

describe('workers', () => {
  it('are one by default: the main thread', () => {
    expect(parseNow(config({ workers: undefined })).pipelines.main?.workers).toBe(1);
  });

  it.each([
    {},
    { process: ['mask', 'tokens'] },
    { process: ['redact', 'tokens'], collect: ['ticks', 'log'] },
  ])('are good for masks over files: %j', (main) => expect(problems(config(main))).toEqual([]));

  it.each([
    [
      { process: ['mask', 'wait'] },
      /^pipelines\.main\.process\[1\]: `wait`, a `test` processor, cannot run in a worker/,
    ],
    [{ process: 'wait' }, /^pipelines\.main\.process: `wait`, a `test` processor, cannot run/],
    [
      { process: 'keys' },
      // A test of `redact` shows that this is what `blocks: false` costs.
      /^pipelines\.main\.process: `keys`, a `redact` processor, cannot run in a worker with `blocks`, which needs all lines of a file in their order; remove `workers`, or set `blocks: false`, which has a cost: of a private key whose lines are separate events, only the first line is then masked$/,
    ],
    [{ process: [] }, /^pipelines\.main\.workers: there is no processor here/],
    [{ process: undefined }, /^pipelines\.main\.workers: there is no processor here/],
    [{ collect: 'ticks' }, /^pipelines\.main\.workers: no collector here emits lines/],
    [{ workers: 0 }, /^pipelines\.main\.workers: .*1/],
    [{ workers: 65 }, /^pipelines\.main\.workers: .*64/],
  ])('are refused, with the reason, for %j', (main, message) => {
    expect(problems(config(main))).toEqual([expect.stringMatching(message)]);
  });

  it('do not matter where they are one', () => {
    expect(problems(config({ workers: 1, process: 'wait', collect: 'ticks' }))).toEqual([]);
  });
});
