import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { kafkaCollector } from '../../plugins/collect/kafka.ts';
import { natsCollector } from '../../plugins/collect/nats.ts';
import { kafkaForwarder } from '../../plugins/forward/kafka.ts';
import { natsForwarder } from '../../plugins/forward/nats.ts';
import { builtinPlugins, findPlugin } from '../../src/config/registry.ts';
import { ProcessConfigBase } from '../../src/sdk/config.ts';
import type { CollectedEvent } from '../../src/sdk/events.ts';
import type { CollectPlugin, ForwardPlugin, ProcessPlugin } from '../../src/sdk/plugin.ts';
import {
  type ConformanceOptions,
  checkPlugin,
  conformanceTests,
} from '../../src/testing/conformance/index.ts';
import { FakeKafka } from '../support/fake-kafka.ts';
import { FakeNats } from '../support/fake-nats.ts';
import { type HttpSink, httpSink } from '../support/http-sink.ts';
import { hasJournals, writeJournal } from '../support/journals.ts';

// What is not checked of a built-in plugin is no news.
beforeAll(() => void jest.spyOn(console, 'info').mockImplementation(() => {}));
afterAll(() => void jest.mocked(console.info).mockRestore());

const root = mkdtempSync(join(tmpdir(), 'millrace-conformance-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let folders = 0;

function folder(): string {
  const path = join(root, String(folders++));
  mkdirSync(path);
  return path;
}

function withLog(): { paths: string[]; backfill: boolean } {
  const path = join(folder(), 'a.log');
  writeFileSync(path, 'one\ntwo\nthree\nfour\nfive\nsix\n');
  return { paths: [path], backfill: true };
}

let sink: HttpSink;
beforeAll(async () => {
  sink = await httpSink(({ path }, response) => {
    response.end(path.includes('/_bulk') ? '{"errors":false}' : undefined);
  });
});
afterAll(() => sink.close());

/** A URL for one run. */
function sinkUrl(): { url: string } {
  return { url: `${sink.url}${folders++}` };
}

/** What a run has sent to its URL. */
function bodiesTo(url: unknown, added = ''): string[] {
  return sink.requests.flatMap(({ path, body }) =>
    `${url}${added}` === `${sink.url}${path.slice(1)}`.replace(/\?.*/, '') ? body : [],
  );
}

type LokiBody = { readonly streams: readonly { readonly stream: object; readonly values: string[][] }[] };
const bodiesBelow = (url: string) =>
  sink.requests.flatMap(({ path, body }) => (`${sink.url}${path.slice(1)}`.startsWith(url) ? body : []));

/** The records of a request of OTLP. */
function recordsIn(body: string): unknown[] {
  type Logs = { readonly resourceLogs: { readonly scopeLogs: { readonly logRecords: unknown[] }[] }[] };
  return (JSON.parse(body) as Logs).resourceLogs.flatMap(({ scopeLogs }) =>
    scopeLogs.flatMap(({ logRecords }) => logRecords),
  );
}

const stdin = Object.getOwnPropertyDescriptor(process, 'stdin') as PropertyDescriptor;
afterAll(() => void Object.defineProperty(process, 'stdin', stdin));

/** What forwarders of syslog have sent, and where to. */
let syslogText = '';
const syslogSink = createServer((socket) => {
  socket.on('data', (chunk) => {
    syslogText += chunk;
  });
}).listen(0, '127.0.0.1');
beforeAll(async () => {
  if (!syslogSink.listening) await once(syslogSink, 'listening');
});
afterAll(() => void syslogSink.close());

/** Settings of one run. Its messages have a name of their own. */
function syslogUrl(): { url: string; framing: string; appname: string } {
  const { port } = syslogSink.address() as { port: number };
  return { url: `tcp://127.0.0.1:${port}`, framing: 'newline', appname: `run-${folders++}` };
}

/** Standard input of this process, for one run. */
function withStdin(): Record<string, never> {
  const input = new PassThrough();
  input.write('one\ntwo\nthree\nfour\nfive\nsix\n');
  input.end('seven\neight\nnine\nten\n');
  Object.defineProperty(process, 'stdin', { value: input, configurable: true });
  return {};
}

function withJournal(): { directory: string; backfill: boolean } {
  const directory = folder();
  const entries = Array.from({ length: 10 }, (_, n) => ({ MESSAGE: `entry ${n}` }));
  if (hasJournals) writeJournal(directory, entries);
  return { directory, backfill: true };
}

let lastPort = 20_000 + (process.pid % 20_000);

/** Something that sends a datagram every few milliseconds to a port, for some seconds. */
function withSyslogSender(): { readonly listen: string } {
  const port = ++lastPort;
  const socket = createSocket('udp4').unref();
  let count = 0;
  const timer = setInterval(() => {
    socket.send(`<13>message ${++count}`, port, '127.0.0.1');
    if (count === 500) clearInterval(timer);
  }, 5).unref();
  return { listen: `udp://127.0.0.1:${port}` };
}

/** Something that posts an event every few milliseconds to a port, for some seconds. */
function withHttpSender(path: string, bodyOf: (count: number) => object): { readonly listen: string } {
  const port = ++lastPort;
  let count = 0;
  const timer = setInterval(() => {
    const body = JSON.stringify(bodyOf(++count));
    const headers = { 'content-type': 'application/json' };
    fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', headers, body }).catch(() => {});
    if (count === 200) clearInterval(timer);
  }, 10).unref();
  return { listen: `127.0.0.1:${port}` };
}

const otlpLogs = (count: number) => ({
  resourceLogs: [{ scopeLogs: [{ logRecords: [{ body: { stringValue: `record ${count}` } }] }] }],
});

/** What the files of a folder hold, by name. */
function written(path: string): Record<string, string> {
  return Object.fromEntries(readdirSync(path).map((name) => [name, readFileSync(join(path, name), 'utf8')]));
}

const nats = new FakeNats();

/** A stream in memory takes the place of the servers. */
function natsOptions(fields: object): ConformanceOptions {
  return {
    config() {
      nats.stored.length = 0;
      return { servers: 'localhost', ...fields };
    },
    delivered: () =>
      nats.stored.flatMap(({ subject, text }) =>
        text
          .trim()
          .split('\n')
          .map((line) => subject + line),
      ),
  };
}

function natsWithMessages(): FakeNats {
  const nats = new FakeNats();
  // Its own timers would be taken for those of the plugin.
  nats.deliversAgain = false;
  for (let n = 0; n < 10; n++) nats.put(`{"timestamp":"2026-01-01T00:00:00.000Z","data":{"n":${n}}}\n`);
  return nats;
}

const kafka = new FakeKafka();

/** Topics in memory take the place of the brokers. */
function kafkaOptions(fields: object): ConformanceOptions {
  return {
    config() {
      kafka.stored.length = 0;
      return { brokers: 'localhost', topic: 'logs', ...fields };
    },
    time: 'real',
    delivered: () => kafka.stored.map(({ topic, key, text }) => [topic, key, text].join(' ')),
  };
}

function kafkaWithRecords(): FakeKafka {
  const kafka = new FakeKafka();
  for (let n = 0; n < 10; n++) kafka.put(`{"timestamp":"2026-01-01T00:00:00.000Z","data":{"n":${n}}}`, n % 2);
  return kafka;
}

/** Plugins whose counterpart is not here. */
const STAND_INS: Readonly<Record<string, CollectPlugin | ForwardPlugin>> = {
  'collect kafka': kafkaCollector((...args) => kafkaWithRecords().join(...args)),
  'collect nats': natsCollector((...args) => natsWithMessages().open(...args)),
  'forward kafka': kafkaForwarder(
    (...args) => kafka.open(...args),
    (...args) => kafka.openTransactional(...args),
  ),
  'forward nats': natsForwarder((...args) => nats.open(...args)),
};

/** How each built-in plugin is to be run. A list has several configurations. */
const OPTIONS: Readonly<Record<string, readonly ConformanceOptions[]>> = {
  'collect beacons': [{ config: { beacons: ['*'] } }],
  'collect file': [{ config: withLog, time: 'real', patience: 500 }],
  'collect stdin': [{ config: withStdin, time: 'real', patience: 500 }],
  'collect exec': [
    { config: { command: ['sh', '-c', 'seq 10; exec sleep 0.2'] }, time: 'real', patience: 1000 },
  ],
  // Without journals there is nothing to read, and journalctl is tried again and again.
  'collect journald': [{ config: withJournal, time: 'real', patience: 1000 }],
  'collect test': [{}, { config: { interval: 60, count: 3 } }],
  'collect kafka': [
    { config: { brokers: 'localhost', topics: 'logs', group: 'millrace' }, time: 'real', patience: 500 },
  ],
  'collect http': [{ config: () => withHttpSender('/', (n) => ({ n })), time: 'real', patience: 500 }],
  'collect otlp': [{ config: () => withHttpSender('/v1/logs', otlpLogs), time: 'real', patience: 500 }],
  'collect syslog': [{ config: withSyslogSender, time: 'real', patience: 500 }],
  'collect nats': [{ config: { servers: 'localhost', stream: 'LOGS', durable: 'workers' } }],
  'collect host_exec': [{ config: { interval: 0.5 } }],
  'process test': [
    {},
    { config: { delay: 2.5, child_events_count: 3 } },
    { config: { delay_range: { minimum: 1, maximum: 9 } } },
  ],
  'process regex_mask': [
    { config: { rules: { PIN: 'hunter[0-9]' } }, secret: 'hunter2' },
    // It leaves no path as it is, so that no line can be masked by itself.
    { config: { rules: { WORD: '[a-z]+' } }, secret: 'hunter' },
  ],
  'process filter': [
    { config: { keep: 'data.?line.orValue("").contains("e")' } },
    { config: { drop: 'has(data.line) && data.line.contains("e")' } },
  ],
  'process parse': [
    { config: { format: 'json' } },
    { config: { format: 'regex', pattern: '(?P<word>[a-z]+)', into: 'found' } },
  ],
  'process multiline': [{ config: { start: '^x' } }, { config: { preset: 'go' } }],
  'process map': [
    { config: { set: { seen: 'timestamp' }, rename: { line: 'message' }, remove: ['source'] } },
  ],
  'process redact': [
    { config: { packs: [], rules: { PIN: 'hunter[0-9]' } }, secret: 'hunter2' },
    { config: { packs: [], rules: { PIN: 'hunter[0-9]' }, blocks: false, decode: false }, secret: 'hunter2' },
    { config: { packs: [], rules: { PIN: 'hunter[0-9]' }, mode: 'report' }, secret: 'hunter2' },
    {
      config: () => ({ rules: { PIN: 'hunter[0-9]' }, audit: { path: join(folder(), 'audit.jsonl') } }),
      secret: 'hunter2',
    },
    { config: { rules: { WORD: '[a-z]+' } }, secret: 'hunter' },
  ],
  'process entropy_mask': [{ secret: 'qGr4Kd0xT9bLw2Zp5v' }],
  // Syncing in the background would outlast the file of tests, by up to a second.
  'forward disk': [
    {
      config: () => ({ path: folder(), filename: 'events.jsonl', fsync: 'never' }),
      time: 'real',
      delivered: ({ path }) => written(String(path)),
    },
    {
      config: () => ({ path: folder(), fsync: 'never' }),
      time: 'real',
      delivered: ({ path }) => written(String(path)),
    },
  ],
  'forward kafka': [
    kafkaOptions({}),
    kafkaOptions({ key: 'n', payload: 'flat' }),
    kafkaOptions({ topic: { cel: '"logs." + string(size(data))' } }),
  ],
  'forward nats': [
    natsOptions({ subject: 'logs.app' }),
    natsOptions({ subject: 'logs.app', message: 'event' }),
    natsOptions({ subject: { cel: '"logs." + string(size(data))' } }),
  ],
  'forward elasticsearch': [
    {
      config: () => ({ ...sinkUrl(), index: 'logs' }),
      time: 'real',
      // Without the ids, which are those of the calls.
      delivered: ({ url }) =>
        bodiesTo(url, '/_bulk').flatMap((body) => body.split('\n').filter((_, n) => n % 2 === 1)),
    },
  ],
  'forward http': [
    {
      config: sinkUrl,
      time: 'real',
      delivered: ({ url }) => bodiesTo(url).join(''),
    },
  ],
  'forward loki': [
    ...[{ job: 'a' }, { job: 'a', kind: { field: 'kind' } }].map((labels) => ({
      config: () => ({ ...sinkUrl(), labels }),
      time: 'real' as const,
      // Without the times, which depend on the calls.
      delivered: ({ url }: { readonly url?: unknown }) =>
        bodiesTo(url, '/loki/api/v1/push')
          .flatMap((body) => (JSON.parse(body) as LokiBody).streams)
          .flatMap(({ stream, values }) => values.map(([, line]) => JSON.stringify(stream) + line)),
    })),
  ],
  'forward syslog': [
    {
      config: syslogUrl,
      time: 'real',
      delivered: ({ appname }) =>
        syslogText.split('\n').flatMap((line) => line.split(` ${appname} `).slice(1)),
    },
  ],
  'forward splunk_hec': ['line', 'json', 'raw'].map((format) => ({
    config: () => ({ ...sinkUrl(), token: 't', format }),
    time: 'real' as const,
    delivered: ({ url }: { readonly url?: unknown }) =>
      bodiesTo(url, `/services/collector/${format === 'raw' ? 'raw' : 'event'}`).join(''),
  })),
  'forward datadog': [
    {
      config: () => ({ ...sinkUrl(), api_key: 'k' }),
      time: 'real',
      delivered: ({ url }) => bodiesTo(url, '/api/v2/logs').flatMap((body) => JSON.parse(body) as unknown[]),
    },
  ],
  'forward otlp': [
    {
      config: () => ({ ...sinkUrl(), encoding: 'json' }),
      time: 'real',
      delivered: ({ url }) => bodiesTo(url, '/v1/logs').flatMap((body) => recordsIn(body)),
    },
  ],
  'forward noop': [{}],
  'forward s3': [
    {
      config: () => {
        const keys = { access_key_id: 'id', secret_access_key: 'key' };
        return { bucket: 'logs', endpoint: sinkUrl().url, ...keys, batch: { seconds: 0 } };
      },
      time: 'real',
      // Without the names of the objects, which begin with the time.
      delivered: ({ endpoint }) => bodiesBelow(`${endpoint}/logs/`).join(''),
    },
  ],
  'forward stdout': [{ time: 'real' }],
  'forward test': [
    { config: { sleep: 3 } },
    { config: { add_event_to_shared_cache: true } },
    { config: () => ({ path: join(folder(), 'witness.txt'), dump_event: true }), time: 'real' },
  ],
};

const builtins = {
  collect: await builtinPlugins('collect'),
  process: await builtinPlugins('process'),
  forward: await builtinPlugins('forward'),
};

describe.each(['collect', 'process', 'forward'] as const)('built-in: %s', (kind) => {
  describe.each([...builtins[kind]])('%s', (name, plugin) => {
    const lines: string[] = [];
    if (name === 'stdout') captureOutput(lines);

    const all = OPTIONS[`${kind} ${name}`] ?? [];
    it('has options here', () => expect(all).not.toEqual([]));
    if (name === 'journald' && !hasJournals) {
      it.skip('is a plugin of millrace: needs systemd-journal-remote', () => {});
      return;
    }
    for (const own of all) {
      const options = name === 'stdout' ? { ...own, ...captured(lines) } : own;
      const tested = STAND_INS[`${kind} ${name}`] ?? plugin;
      conformanceTests(kind, tested as CollectPlugin & ProcessPlugin & ForwardPlugin, options, {
        describe,
        it,
      });
    }
  });
});

describe('the optional ways of a plugin', () => {
  const fails = () => {
    throw new TypeError('no');
  };
  const plugin = {
    get_config_schema: () => ProcessConfigBase,
    process: ({ event }: { event: CollectedEvent }) => (event.data.line === '' ? fails() : event),
    mapLines: () => ({
      addsVerbatim: true,
      map(line: string) {
        if (line === '') throw new TypeError('nor here');
        return line;
      },
    }),
  };

  it('may fail in different places', async () => {
    const { checks } = await checkPlugin('process', plugin);
    expect(checks.find(({ name }) => name.startsWith('lines:'))).toMatchObject({ outcome: 'passed' });
  });

  const RESTARTS = [
    'state: after a restart, it does not emit again what was acknowledged',
    'acknowledgement: after a restart, it emits again what was not acknowledged',
  ];

  it.each([
    ['process', 'regex_mask', ['lines: mapLines does what process does']],
    ['process', 'redact', ['lines: mapLines does what process does']],
    ['process', 'entropy_mask', ['lines: mapLines does what process does']],
    ['forward', 'disk', ['forward: forwardJsonLines does what forward does for each event']],
    ['collect', 'file', RESTARTS],
    ...(hasJournals ? ([['collect', 'journald', RESTARTS]] as const) : []),
  ] as const)('are looked at: %s %s', async (kind, name, names) => {
    const [options] = OPTIONS[`${kind} ${name}`] ?? [];
    const { checks } = await checkPlugin(kind, findPlugin(kind, name) as never, options);
    const passed = checks.filter(({ outcome }) => outcome === 'passed').map((check) => check.name);
    expect(passed).toEqual(expect.arrayContaining([...names]));
  });

  it('are no check of a plugin without them', async () => {
    const { mapLines: _, ...slow } = plugin;
    const { checks } = await checkPlugin('process', slow);
    expect(checks.filter(({ name }) => name.startsWith('lines:'))).toEqual([]);
  });
});

/** What a run has written: each begins by making its configuration. */
function captured(lines: string[]): ConformanceOptions {
  const config = () => {
    lines.length = 0;
    return {};
  };
  return { config, delivered: () => lines.join('') };
}

/** The events of the stdout forwarder are not for the test's output. */
function captureOutput(lines: string[]): void {
  let write: ReturnType<typeof jest.spyOn> | undefined;
  beforeAll(() => {
    write = jest.spyOn(process.stdout, 'write').mockImplementation(((text: string, done?: () => void) => {
      lines.push(String(text));
      done?.();
      return true;
    }) as never);
  });
  afterAll(() => write?.mockRestore());
}
