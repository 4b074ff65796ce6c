// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references to environment variables are the subject
import { afterEach, describe, expect, it } from '@jest/globals';
import * as z from 'zod';
import { problemLine } from '../../src/config/config-error.ts';
import { defineForwarder, defineProcessor, registerPlugin, unregisterPlugin } from '../../src/index.ts';
import type { PipelinePlace } from '../../src/sdk/plugin.ts';
import { load, refusal } from './helpers.ts';

type Settings = Readonly<Record<string, unknown>>;
type Say = (config: Settings) => string;

/** What a plugin may say, and when: `value` is what its entry has at `v`. */
const WAYS = {
  'checkPipeline about its own entry': (say: Say) => ({
    checkPipeline: ({ config }: PipelinePlace<Settings>) => [{ message: say(config) }],
  }),
  'checkPipeline that fails': (say: Say) => ({
    checkPipeline: ({ config }: PipelinePlace<Settings>) => {
      throw new Error(say(config));
    },
  }),
  'checkPipeline of an entry after it': (say: Say) => ({
    checkPipeline: ({ name, after }: PipelinePlace<Settings>) =>
      name === 'first' ? [{ message: say(after[0]?.config as Settings) }] : [],
  }),
  checkConfig: (say: Say) => ({
    checkConfig: ({ config }: { config: Settings }) => [{ path: [], message: say(config) }],
  }),
  'checkConfig that fails': (say: Say) => ({
    checkConfig: ({ config }: { config: Settings }) => {
      throw new Error(say(config));
    },
  }),
  'the suggestion of checkConfig': (say: Say) => ({
    checkConfig: ({ config }: { config: Settings }) => [
      { path: [], message: 'is wrong', suggestion: say(config) },
    ],
  }),
  'the path of checkConfig': (say: Say) => ({
    checkConfig: ({ config }: { config: Settings }) => [
      { path: ['rules', say(config)], message: 'is wrong' },
    ],
  }),
  'its schema': (say: Say) => ({
    schema: z.looseObject({ plugin: z.string() }).superRefine((config, ctx) => {
      ctx.addIssue({ code: 'custom', message: `is wrong: ${say(config as Settings)}` });
    }),
  }),
  'its schema that fails': (say: Say) => ({
    schema: z.looseObject({ plugin: z.string() }).transform((config) => {
      throw new Error(say(config as Settings));
    }),
  }),
};

function register(plugin: object): void {
  const schema = z.looseObject({ plugin: z.string() });
  registerPlugin('process', 'talks', defineProcessor({ schema, process: ({ event }) => event, ...plugin }));
}
afterEach(() => {
  unregisterPlugin('process', 'talks');
  unregisterPlugin('forward', 'talks');
});

const file = (entry: string) => `
collectors: { ticks: { plugin: test } }
processors:
  first: { plugin: talks }
  second: { plugin: talks, ${entry} }
forwarders: { out: { plugin: noop } }
pipelines: { main: { collect: ticks, process: [first, second], forward: out } }
host_config: {}
`;

const quoted: Say = (config) => `cannot use ${JSON.stringify(config.v)}`;

/** Each value with the words that a message must not have; letters are chosen so that no other word has them. */
const VALUES: [entry: string, env: Record<string, string>, say: Say, hidden: RegExp][] = [
  ['v: ${V}', { V: 'q' }, quoted, /q/],
  ['v: ${V}', { V: 'qz' }, quoted, /qz/],
  ['v: ${V}', { V: 'qzj' }, (config) => `it is ${config.v}`, /qzj/],
  ['v: ${V}', { V: '7' }, quoted, /7/],
  ['v: ${V}', { V: '7' }, (config) => `after ${config.v}s, ${config.v}MB or v${config.v}`, /7/],
  ['v: ${V}', { V: '-7' }, quoted, /7/],
  ['v: ${V}', { V: '0.7' }, quoted, /7/],
  ['v: ${V}', { V: '7e3' }, quoted, /7/],
  ['v: ${V}', { V: '0x11' }, quoted, /17/],
  ['v: ${V}', { V: 'yes' }, quoted, /yes/],
  ['v: ${V}', { V: 'TRUE' }, quoted, /true/],
  ['v: ${V}', { V: 'false' }, quoted, /false/],
  ['v: ${V}', { V: 'ü' }, quoted, /ü/],
  ['v: ${V}', { V: '日本' }, quoted, /日本/],
  ['v: ${V}', { V: '+' }, quoted, /[+]/],
  ['v: "${V}"', { V: '"q' }, quoted, /q/],
  ['v: "x${V}y"', { V: 'qz' }, quoted, /qz/],
  ['v: "x_${V}_y/z"', { V: 'qz' }, (config) => String(config.v).split('/').join(' and '), /qz/],
  ['v: "/srv/${V}.d/a${V}b${W}"', { V: 'q', W: 'jj' }, quoted, /[qj]/],
  ['v: "${V}${W}"', { V: 'q', W: 'jj' }, quoted, /[qj]/],
  ['v: "1${V}"', { V: '7' }, quoted, /7/],
  ['v: "${V:-x}-${V}"', { V: 'qz' }, quoted, /qz/],
  ['v: "http://h/?a=${V}"', { V: 'q ü' }, (config) => encodeURI(String(config.v)), /q|%20/],
  ['v: [a, "${V}", { deep: "b${V}" }]', { V: 'qz' }, quoted, /qz/],
  ['v: { key: "${V}" }', { V: 'qz' }, quoted, /qz/],
  [
    'v: ["${V}", "${W}"]',
    { V: 'qz', W: '7' },
    (config) => {
      return JSON.stringify(Object.fromEntries(((config.v ?? []) as string[]).map((name) => [name, true])));
    },
    /qz|7/,
  ],
  ['v: &v "${V}", w: *v', { V: 'qz' }, (config) => `it is ${config.w}`, /qz/],
];

/** Words that the plugin makes of values. A schema does not take references, so its message cannot be made of them. */
const WORDS: typeof VALUES = [
  ['v: ${V}', { V: 'qz' }, (config) => `file${config.v}log`, /qz/],
  ['v: "${V:-x}"', { V: 'q' }, (config) => `index${config.v}log`, /q/],
  [
    'v: [a, "b${V}"]',
    { V: 'qz' },
    (config) => `the lists are${String(config.v).replace(',', 'and')}too`,
    /qz/,
  ],
];

describe('the value of a variable, however short, is not in', () => {
  it.each(
    Object.entries(WAYS).flatMap(([way, plugin]) =>
      [...VALUES, ...(way.includes('schema') ? [] : WORDS)].map(([entry, env, say, hidden]) => ({
        way,
        entry,
        env,
        plugin: plugin(say),
        hidden,
      })),
    ),
  )('the message of $way: $entry with $env', async ({ entry, env, plugin, hidden }) => {
    register(plugin);
    const message = await refusal(file(entry), { env });
    const lines = message.split('\n').filter((line) => line.startsWith('<dir>'));
    const said = lines.map((line) => line.replace(/^<dir>\/c\.yaml:\d+:\d+: \w+\.\w+/, '')).join('\n');
    expect(said).not.toMatch(hidden);
    expect(said).toContain('${');
  });

  it('a warning', async () => {
    register({
      checkPipeline: ({ config }: PipelinePlace<Settings>) => [
        { message: `it is ${config.v}`, severity: 'warning' as const },
      ],
    });
    const { warnings } = await load(file('v: ${V}'), { env: { V: 'qz' } });
    expect(warnings.map((warning) => problemLine(warning))).toContainEqual(
      expect.stringMatching(/: it is \$\{V\}$/),
    );
  });

  it('a message about what a schema has made of it', async () => {
    const schema = z.looseObject({ plugin: z.string(), v: z.number().meta({ unit: 'seconds' }) });
    register({
      schema,
      checkPipeline: ({ config }: PipelinePlace<Settings>) => [{ message: `it is ${config.v}` }],
    });
    expect(await refusal(file('v: ${V}'), { env: { V: '7m' } })).not.toMatch(/420/);
  });

  it('a message about the host', async () => {
    register({
      checkConfig: ({ host }: { host: { id: string } }) => [{ path: [], message: `the host is ${host.id}` }],
    });
    const text = file('v: 1').replace('host_config: {}', 'host_config: { id: "${ID}" }');
    const message = await refusal(text, { env: { ID: 'qz' }, host: undefined as never });
    expect(message).toContain('the host is ${ID}');
  });

  it('a message that a forwarder gives about a processor in another file', async () => {
    register({});
    registerPlugin(
      'forward',
      'talks',
      defineForwarder({
        checkPipeline: ({ before }) => [
          { message: before.map(({ config }) => quoted(config as Settings)).join() },
        ],
        forward() {},
      }),
    );
    const [processors] = /processors:\n.*\n.*\n/.exec(file('v: ${V}')) as RegExpExecArray;
    const rest = file('')
      .replace(/processors:\n.*\n.*\n/, '')
      .replace('noop', 'talks');
    const message = await refusal({ 'a.yaml': rest, 'b.yaml': processors }, { env: { V: 'qz' } });
    expect(message).toContain('cannot use "${V}"');
  });
});

describe('a message keeps', () => {
  it('words and numbers of which a short value is only a part', async () => {
    register({ checkPipeline: () => [{ message: 'another plan for 15 of them at 0.25' }] });
    const message = await refusal(file('v: ["${A}", "${B}"]'), { env: { A: 'an', B: '5' } });
    expect(message).toContain('another plan for 15 of them at 0.25');
  });

  it('what only looks like the value of a variable of an entry that it is not about', async () => {
    register({
      checkPipeline: ({ name }: PipelinePlace<Settings>) =>
        name === 'first' ? [{ message: 'rule 7 is wrong' }] : [],
    });
    const text = `${file('v: 1')}`.replace('{ out:', '{ other: { plugin: noop, v: "${V}" }, out:');
    expect(await refusal(text, { env: { V: '7' } })).toContain('rule 7 is wrong');
  });
});
