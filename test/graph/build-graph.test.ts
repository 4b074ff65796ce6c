// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references to environment variables are shown

import { describe, expect, it } from '@jest/globals';
import { findPlugin } from '../../src/config/registry.ts';
import { entrySettings } from '../../src/graph/build-graph.ts';
import { nodesOf, type PipelineGraph } from '../../src/graph/graph.ts';
import { withReferences } from '../../src/sdk/checks/shown-values.ts';
import { defineForwarder } from '../../src/sdk/define-plugin.ts';
import type { CollectPlugin, PluginKind } from '../../src/sdk/plugin.ts';
import { graphOf, named, SHARED } from './graphs.ts';

const edgesOf = ({ edges }: PipelineGraph, pipeline: string) =>
  edges
    .filter((edge) => edge.pipeline.name === pipeline)
    .map(({ from, to, kind }) => `${from.name} ${kind === 'events' ? '→' : '⇢'} ${to.name}`);

describe('the graph of a configuration', () => {
  const graph = graphOf(SHARED);
  const nodeOf = (name: string) => graph.nodes.find((node) => node.name === name);

  it('has each entry once, in the order of the configuration', () => {
    expect(graph.nodes.map(({ name }) => name)).toEqual([
      ...['access_log', 'uptime', 'spare'],
      ...['web', 'host', 'experiment'],
      ...['known_secrets', 'random_secrets', 'slow'],
      ...['archive', 'screen', 'failed'],
    ]);
    expect(new Set(graph.nodes.map(({ id }) => id)).size).toBe(graph.nodes.length);
  });

  it('has the way of each pipeline, and that of what it fails on', () => {
    expect(edgesOf(graph, 'web')).toEqual([
      'access_log → web',
      'web → known_secrets',
      'known_secrets → random_secrets',
      'random_secrets → archive',
      'random_secrets → screen',
      'web ⇢ failed',
    ]);
    expect(edgesOf(graph, 'host')).toEqual(['uptime → host', 'host → screen']);
    expect(edgesOf(graph, 'experiment')).toEqual([
      'access_log → experiment',
      'experiment → slow',
      'slow → known_secrets',
      'known_secrets → screen',
    ]);
  });

  it('tells what is disabled and what is unused', () => {
    const states = Object.fromEntries(graph.nodes.map(({ name, state }) => [name, state]));
    expect(states).toMatchObject({
      access_log: 'active',
      spare: 'unused',
      web: 'active',
      experiment: 'disabled',
      known_secrets: 'active',
      slow: 'disabled',
      failed: 'active',
    });
  });

  it('has the settings that matter, and neither expressions nor arguments', () => {
    expect(nodeOf('known_secrets')?.settings).toEqual([{ key: 'rules', values: ['EMAIL', 'TOKEN'] }]);
    expect(nodeOf('uptime')?.settings).toEqual([
      { key: 'fn', values: ['status.uptime'] },
      { key: 'interval', values: ['60 s'] },
    ]);
    expect(nodeOf('slow')?.settings).toEqual([{ key: 'delay_range', values: ['0.1 – 0.5 s'] }]);
    expect(nodeOf('web')?.settings.map(({ key, values }) => `${key} ${values}`)).toEqual([
      ...['max_in_flight 500', 'ordered true', 'restart true', 'attempts 5', 'timeout 10 s'],
    ]);
    expect(JSON.stringify(graph)).not.toContain('s3cret');
  });

  it('shortens long lists', () => {
    const paths = Array.from({ length: 20 }, (_, i) => `/${i}`);
    const [setting] = entrySettings(findPlugin('collect', 'file') as CollectPlugin, { paths });
    expect(setting?.values).toHaveLength(13);
    expect(setting?.values.at(-1)).toBe('and 8 more');
  });

  it('shows an empty configuration', () => {
    const config = { collectors: {}, forwarders: {}, pipelines: {}, host_config: {} };
    expect(graphOf(config)).toEqual({ nodes: [], edges: [] });
  });

  it('makes names printable', () => {
    const [collector] = nodesOf(graphOf(named(['a\nb\u001b'])), 'collect');
    expect(collector?.name).toBe('a↵b\\u001b');
  });
});

describe('settings of plugins that do not declare which ones may be shown', () => {
  it('are numbers, switches and references only, since the rest could be secret', () => {
    const undeclared = defineForwarder({ forward: () => {} });
    const values = {
      plugin: './mine.mjs',
      url: 'https://user:s3cret@host',
      port: 8080,
      tls: true,
      pin_code: 4711,
      password: '${DB_PASSWORD}',
      mixed: 's3cret ${USER}',
      nested: { key: 's3cret' },
    };
    expect(entrySettings(undeclared, values)).toEqual([
      { key: 'port', values: ['8080'] },
      { key: 'tls', values: ['true'] },
      { key: 'password', values: ['${DB_PASSWORD}'] },
    ]);
  });
});

describe('values of environment variables', () => {
  it('are replaced by their references', () => {
    const written = new Map([
      ['forwarders', { archive: { plugin: 'disk', path: '${ROOT}/web', filename: 'events.jsonl' } }],
      ['pipelines', { web: { max_in_flight: '${SIZE}' } }],
    ]);
    const { nodes } = graphOf(SHARED, written);
    const settings = (name: string) => nodes.find((node) => node.name === name)?.settings;
    expect(settings('archive')).toEqual([
      { key: 'path', values: ['${ROOT}/web'] },
      { key: 'filename', values: ['events.jsonl'] },
    ]);
    expect(settings('web')).toContainEqual({ key: 'max_in_flight', values: ['${SIZE}'] });
  });

  it.each<[PluginKind, string, Readonly<Record<string, unknown>>, string, readonly string[]]>([
    [
      'forward',
      'http',
      { url: 'https://hooks.example.com/T0/s3cret?t=s3cret' },
      'url',
      ['https://hooks.example.com'],
    ],
    ['forward', 'loki', { url: 'http://127.0.0.1:3100' }, 'url', ['http://127.0.0.1:3100']],
    ['forward', 'elasticsearch', { url: 'https://${HOST}:9200/s3cret' }, 'url', ['https://${HOST}:9200']],
    ['forward', 'otlp', { url: '${URL}' }, 'url', ['${URL}']],
    ['forward', 'http', { url: '${BASE}/T0/s3cret' }, 'url', ['${BASE}']],
    [
      'forward',
      'http',
      { url: '${SCHEME}://${HOST}:${PORT}/s3cret' },
      'url',
      ['${SCHEME}://${HOST}:${PORT}'],
    ],
    ['forward', 'http', { url: 'https:/hooks.example.com/s3cret' }, 'url', ['https://hooks.example.com']],
    ['forward', 'http', { url: 'https:hooks.example.com/s3cret' }, 'url', ['https://hooks.example.com']],
    ['forward', 'http', { url: ' https://hooks.example.com/s3cret' }, 'url', ['https://hooks.example.com']],
    ['forward', 'http', { url: 'https://hooks\\s3cret?s3cret#s3cret' }, 'url', ['https://hooks']],
    ['forward', 'http', { url: 'https://user:${PASSWORD}@hooks/s3cret' }, 'url', ['https://hooks']],
    ['forward', 'kafka', { brokers: ['user:s3cret@a:9092'] }, 'brokers', ['a:9092']],
    ['forward', 's3', { endpoint: 'http://[::1]:9000/s3cret' }, 'endpoint', ['http://[::1]:9000']],
    ['forward', 'syslog', { url: { scheme: 'relp', host: 'logs', port: 2514 } }, 'url', ['relp://logs:2514']],
    ['forward', 'kafka', { brokers: ['a:9092', 'b:9092'] }, 'brokers', ['a:9092', 'b:9092']],
    ['forward', 'nats', { servers: ['nats://user:s3cret@a:4222'] }, 'servers', ['nats://a:4222']],
    ['collect', 'http', { listen: { host: '127.0.0.1', port: 8088 } }, 'listen', ['127.0.0.1:8088']],
    ['collect', 'otlp', { listen: { host: '::1', port: 4318 } }, 'listen', ['[::1]:4318']],
    ['collect', 'syslog', { listen: { scheme: 'udp', host: '::', port: 514 } }, 'listen', ['udp://[::]:514']],
    ['collect', 'http', { listen: '${LISTEN}' }, 'listen', ['${LISTEN}']],
  ])(
    'shows where a %s plugin %s connects to or listens, without what may be secret',
    (kind, name, values, key, shown) => {
      const setting = entrySettings(findPlugin(kind, name) as CollectPlugin, values).find(
        (each) => each.key === key,
      );
      expect(setting?.values).toEqual(shown);
    },
  );

  it('are found at any depth, and nothing else is changed', () => {
    const actual = { a: [1, { b: 'value' }], c: '${NOT_ONE}', d: true };
    expect(withReferences(actual, { a: ['${ONE}', { b: '${TWO}!' }], c: '${NOT_ONE}' })).toEqual({
      a: ['${ONE}', { b: '${TWO}!' }],
      c: '${NOT_ONE}',
      d: true,
    });
    expect(withReferences(actual, undefined)).toEqual(actual);
  });
});
