import { describe, expect, it } from '@jest/globals';
import { seededRandom, testPipeline } from '../../src/testing/index.ts';
import { propertyRuns } from '../support/property-runs.ts';

const PIPELINES = propertyRuns(8);
const A = '/var/log/a.log';
const B = '/var/log/b.log';

interface Line {
  readonly at: number;
  readonly text: string;
  readonly source: string;
}

/** Random lines of two files, which one collector or two read, and a pipeline that looks at their sources and joins them. */
function scenario(seed: number) {
  const random = seededRandom(seed);
  const pick = <T>(...items: readonly T[]) => items[Math.floor(random() * items.length)] as T;
  const hasTwoCollectors = pick(true, false);
  const isOneFile = pick(true, false);
  const hasTimes = pick(true, false);
  let at = 0;
  const long = `k${'x'.repeat(pick(131_071, 131_072, 200_000))}`;
  const lines: Line[] = Array.from({ length: pick(1, 5, 20, 80) }, (_, index) => {
    if (hasTimes) at += pick(0, 0, 1, 700, 3000);
    const source = isOneFile ? A : hasTimes ? pick(A, B) : index % 2 === 0 ? A : B;
    return {
      at,
      source,
      text: pick(`${index}`, ` ${index}`, `  ${index}`, '', `${index}\r`, '\r', `ä\ud800`, long),
    };
  });
  // Lines that are there at the same time are read file by file.
  lines.sort((a, b) => a.at - b.at || (a.source < b.source ? -1 : a.source > b.source ? 1 : 0));
  const joins = { plugin: 'multiline', continue: '^ ', seconds: pick(1, 5) };
  const skip_empty_lines = pick(true, false);
  const collectors = hasTwoCollectors
    ? {
        a: { plugin: 'file', paths: [A], backfill: true, skip_empty_lines, max_line_bytes: 131_072 },
        b: { plugin: 'file', paths: [B], backfill: true },
      }
    : { a: { plugin: 'file', paths: [A, B], backfill: true, skip_empty_lines } };
  const config = {
    collectors,
    processors: {
      ...pick<object>({}, { only: { plugin: 'filter', keep: `data.source == "${A}"` } }),
      ...pick<object>({}, { joins }, { joins }),
      ...pick<object>({}, { some: { plugin: 'filter', drop: 'data.line.endsWith("3")' } }),
    },
    forwarders: { archive: pick<object>({ plugin: 'disk', path: '/out' }, { plugin: 'noop' }) },
    pipelines: {},
    host_config: {},
  };
  const main = {
    collect: Object.keys(collectors),
    process: Object.keys(config.processors),
    forward: 'archive',
    // Which of two files gets room that is free again is not guaranteed.
    ...(isOneFile ? pick<object>({}, { max_in_flight: pick(1, 2, 3, 4, 8) }) : {}),
  };
  const takes = pick('0s', '0s', '2ms', '1s');
  return { config: { ...config, pipelines: { main } }, lines, takes, hasTwoCollectors };
}

type Scenario = ReturnType<typeof scenario>;

/** What the archive got of each file, and what became of the rest. */
async function outcome(one: Scenario, collect: object, files: readonly object[]) {
  const { config, takes } = one;
  const run = await testPipeline(config, {
    collect: collect as never,
    forward: { archive: { takes } },
    files: files as never,
    until: '10m',
  });
  const got = run.events('archive').map(({ data, ...event }) => ({
    ...{ line: data.line, source: data.source },
    backfill: (event as { backfill?: unknown }).backfill,
  }));
  return {
    got: [A, B].map((source) => got.filter((event) => event.source === source)),
    stats: { collected: run.stats.collected, forwarded: run.stats.forwarded, dropped: run.stats.dropped },
  };
}

const predicted = (one: Scenario) => {
  const events = (of: readonly Line[]) => ({
    events: of.map(({ at, text, source }) => ({ at, value: { line: text, source } })),
    endsAt: Number.POSITIVE_INFINITY,
  });
  const { lines, hasTwoCollectors } = one;
  const collect = hasTwoCollectors
    ? {
        a: events(lines.filter(({ source }) => source === A)),
        b: events(lines.filter(({ source }) => source === B)),
      }
    : { a: events(lines) };
  return outcome(one, collect, []);
};

/** Lines of one time and file are written together. */
const real = (one: Scenario) => {
  const { lines } = one;
  const times = [...new Set([0, ...lines.map(({ at }) => at)])];
  const writes = times.flatMap((at) =>
    [A, B].flatMap((path) => {
      const written = lines.filter((line) => line.at === at && line.source === path);
      if (written.length === 0 && at > 0) return [];
      const append = { path, text: written.map(({ text }) => `${text}\n`).join('') };
      return at === 0 ? { append } : { at, append };
    }),
  );
  return outcome(one, {}, writes);
};

describe('a stand-in of `file`', () => {
  it.each(Array.from({ length: PIPELINES }, (_, index) => index + 1))(
    'does what the plugin does on virtual files: pipeline %d',
    async (seed) => {
      const one = scenario(seed);
      expect({ one, ...(await predicted(one)) }).toEqual({ one, ...(await real(one)) });
    },
  );
});
