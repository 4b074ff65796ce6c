import type { TestPipelineOptions, Trace } from '../../../src/testing/index.ts';
import { runPipeline } from '../../../src/testing/test-pipeline.ts';
import { parseNow } from '../../support/parse-now.ts';

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';

function traceOf(pipeline: object, options: TestPipelineOptions, more: object = {}): Trace {
  const config = {
    collectors: {
      web: { plugin: 'file', paths: ['/var/log/web.log'] },
      api: { plugin: 'beacons', beacons: ['*'] },
    },
    processors: {
      errors: { plugin: 'filter', drop: 'has(data.debug)' },
      secrets: { plugin: 'regex_mask', rules: { KEY: 'k-[0-9]+' } },
      slow: { plugin: 'test', delay: 2 },
      children: { plugin: 'test', delay: 1, child_events_count: 2 },
    },
    forwarders: {
      archive: { plugin: 'disk', path: '/data', filename: 'a.jsonl' },
      live: { plugin: 'stdout' },
      letters: { plugin: 'noop' },
    },
    pipelines: { main: { collect: 'web', process: 'secrets', forward: 'archive', ...pipeline } },
    host_config: {},
    ...more,
  };
  return runPipeline(parseNow(config), options).trace;
}

/** Typical runs, drawn by the tests of this folder. */
export const traces = {
  masked: () =>
    traceOf(
      {},
      {
        collect: {
          web: { marbles: 'a-b 5s c|', values: { a: 'one', b: 'user k-123', c: { n: 3, key: 'k-9' } } },
        },
      },
    ),
  children: () =>
    traceOf(
      { process: ['secrets', 'children'] },
      { collect: { web: { marbles: 'a 10s b|', values: { a: { n: 1, key: 'k-77' } } } } },
    ),
  fanOut: () =>
    traceOf(
      { forward: ['archive', 'live'], max_in_flight: 2 },
      { collect: { web: { marbles: '(abcd|)' } }, forward: { archive: { takes: '3s' }, live: { fails: 2 } } },
    ),
  restarts: () =>
    traceOf(
      { collect: ['web', 'api'] },
      { collect: { web: { marbles: ['a 1h #', 'b-#', 'c 2h |'] }, api: { marbles: 'x|' } }, seed: 3 },
    ),
  deadLetter: () =>
    traceOf(
      { delivery: { attempts: 2, dead_letter: 'letters' } },
      {
        collect: { web: { marbles: 'a-bc|', values: { b: 'k-1' } } },
        forward: { archive: { fails: ({ event }) => event.data.line !== undefined } },
      },
    ),
  drops: () =>
    traceOf(
      { delivery: { attempts: 1 } },
      {
        collect: { web: { marbles: 'abc|', values: { a: { at: new Uint8Array(1) } } } },
        forward: { archive: { fails: 1 } },
      },
    ),
  filtered: () =>
    traceOf(
      { process: ['errors', 'secrets'] },
      {
        collect: {
          web: { marbles: '(abcd)-(ef)|', values: { a: { debug: 1 }, b: 'x', c: { debug: 2 }, d: 'y' } },
        },
      },
    ),
  storm: () =>
    traceOf(
      { forward: 'live', delivery: { attempts: 3, dead_letter: 'letters' } },
      {
        collect: { web: { marbles: `${[...LETTERS].join(' 50ms ')}|` } },
        forward: { live: { fails: 60 } },
      },
    ),
  outage: () =>
    traceOf(
      { collect: 'api', process: [], forward: 'letters', max_in_flight: 2, buffer: { max_events: 5 } },
      {
        collect: { api: { marbles: `${[...LETTERS].join(' 300ms ')}|` } },
        forward: { letters: { takes: '10ms', fails: ({ from }) => from >= 1000 && from < 5000 } },
      },
    ),
  dense: () =>
    traceOf(
      { collect: ['web', 'api'], forward: ['archive', 'live', 'letters'] },
      {
        collect: {
          web: { marbles: `${[...LETTERS].join(' 20ms ')}|` },
          api: { marbles: `7ms ${[...LETTERS].join(' 30ms ')}|` },
        },
        forward: {
          archive: { takes: '3ms' },
          live: { takes: '2ms', fails: 1 },
          letters: { takes: '1ms', fails: 1 },
        },
      },
    ),
  day: () => traceOf({ process: [] }, { collect: { web: { marbles: `${[...'abcdef'].join(' 4h ')}|` } } }),
  many: () =>
    traceOf(
      { process: 'slow' },
      {
        collect: {
          web: { marbles: `${Array.from({ length: 500 }, (_, i) => LETTERS[i % 26]).join(' 99ms ')}|` },
        },
      },
    ),
  neverDelivered: () =>
    traceOf({}, { collect: { web: { marbles: 'a|' } }, forward: { archive: { fails: 'always' } } }),
  hostile: () =>
    traceOf(
      {},
      {
        collect: {
          web: {
            marbles: 'a<&|',
            values: { a: { data: { line: 'k-1<&"\n\u001b[31m\u202e' } }, '<': ']]>', '&': '日本' },
          },
        },
      },
      { processors: { secrets: { plugin: 'regex_mask', rules: { '<&"': 'k-[0-9]+<&"\n?' } } } },
    ),
};
