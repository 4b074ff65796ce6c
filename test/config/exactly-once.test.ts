import { describe, expect, it } from '@jest/globals';
import { Manager } from '../../src/engine/manager.ts';
import { parseNow } from '../support/parse-now.ts';
import { problems } from './helpers.ts';

const base = {
  collectors: { log: { plugin: 'file', paths: ['in.log'] }, ticks: { plugin: 'test' } },
  forwarders: {
    out: { plugin: 'disk', path: 'out', filename: 'events' },
    same: { plugin: 'disk', path: './out/', filename: 'events' },
    dumps: { plugin: 'disk', path: 'out' },
    none: { plugin: 'noop' },
    text: { plugin: 'test', path: 'out/../out/events' },
  },
  host_config: {},
};
const config = (main: object, others: object = {}) => ({
  ...base,
  pipelines: { main: { collect: ['log'], forward: 'out', exactly_once: true, ...main }, ...others },
});

describe('exactly_once', () => {
  it('is off by default, and good for files to a file', () => {
    const { pipelines } = parseNow(config({}, { other: { collect: 'ticks', forward: 'none' } }));
    expect([pipelines.main?.exactly_once, pipelines.other?.exactly_once]).toEqual([true, false]);
  });

  it.each([
    [
      { collect: ['log', 'ticks'] },
      /^pipelines\.main\.collect\[1\]: `ticks`, a `test` collector, cannot resume .* such as `file`/,
    ],
    [{ forward: ['out', 'none'] }, /^pipelines\.main\.forward: found 2 forwarders; .* requires one/],
    [
      { forward: 'none' },
      /^pipelines\.main\.forward: the output of `none`, a `noop` forwarder, cannot be cut back/,
    ],
    [
      { forward: ['dumps'] },
      /^pipelines\.main\.forward\[0\]: the output of `dumps` is a file for each event, .* requires `filename`$/,
    ],
    [{ ordered: false }, /^pipelines\.main\.ordered: found false; `exactly_once` requires true/],
    [{ delivery: { dead_letter: 'same' } }, /out\/events is also written to by its own dead letter/],
  ])('is refused, with the reason, for %j', (main, message) => {
    expect(problems(config(main))).toEqual([expect.stringMatching(message)]);
  });

  it.each([1, 5])('is good for a forwarder that stores nothing twice, with %d attempts', (attempts) => {
    const out = { plugin: 'nats', servers: 'nats://127.0.0.1', subject: 'logs' };
    const main = { delivery: { attempts } };
    expect(problems({ ...config(main), forwarders: { out } })).toEqual([]);
  });

  it('is refused with lines that are joined, because an event has no place of its own in the file', () => {
    const processors = { traces: { plugin: 'multiline', preset: 'java' }, same: { plugin: 'test' } };
    const found = problems({ ...config({ process: ['same', 'traces'] }), processors });
    expect(found).toEqual([
      expect.stringMatching(
        /^pipelines\.main\.process\[1\]: `traces`, a `multiline` processor, joins lines; `exactly_once` requires/,
      ),
    ]);
  });

  it('is refused where another pipeline writes to the same file', () => {
    for (const writer of ['same', 'text']) {
      const other = { collect: 'ticks', forward: ['none', writer] };
      expect(problems(config({}, { other }))).toEqual([
        expect.stringMatching(
          /^pipelines\.main\.forward: out\/events is also written to by pipeline `other`/,
        ),
      ]);
    }
  });

  it('leaves names that are unknown, and values of a wrong type, to their own checks', () => {
    expect(problems(config({ collect: 'lgo' })).length).toBe(1);
    expect(problems(config({ forward: 7 })).length).toBe(1);
  });

  it('requires a state folder', () => {
    const parsed = parseNow(config({}));
    expect(() => new Manager(parsed)).toThrow(/pipelines\.main\.exactly_once: requires a state folder/);
    expect(() => new Manager(parseNow(config({ enabled: false })))).not.toThrow();
  });
});
