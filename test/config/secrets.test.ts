// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references to environment variables are the subject
import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { lastValueFrom } from 'rxjs';
import * as z from 'zod';
import { pluginFields } from '../../src/cli/plugins.ts';
import { problemLine, problemText } from '../../src/config/config-error.ts';
import { buildGraph } from '../../src/graph/build-graph.ts';
import {
  defineForwarder,
  defineProcessor,
  ForwardConfigBase,
  Manager,
  PluginError,
  ProcessConfigBase,
  registerPlugin,
  unregisterPlugin,
} from '../../src/index.ts';
import { jsonSchemaOf } from '../../src/sdk/checks/apply-schema.ts';
import { type Secret, secret } from '../../src/sdk/secret.ts';
import { load, refusal } from './helpers.ts';

const schema = ForwardConfigBase.extend({
  url: z.string().optional(),
  token: secret().optional(),
  auth: z.union([z.strictObject({ bearer: secret() }), z.strictObject({ password: secret() })]).optional(),
  headers: z.record(z.string(), secret({ mayBeLiteral: true })).default({}),
});

beforeAll(() => {
  const vault = defineForwarder({
    schema,
    shownSettings: { url: '', token: '', auth: '', headers: '' },
    forward: ({ ctx }) => {
      // A careless plugin.
      throw new PluginError(`401 for ${ctx.config.token?.read()}`, { permanent: true });
    },
  });
  registerPlugin('forward', 'vault', vault);
});
afterAll(() => {
  unregisterPlugin('forward', 'vault');
});

const withVault = (entry: string) => `
collectors: { ticks: { plugin: test, interval: 0.001, count: 1 } }
forwarders:
  vault: ${entry}
pipelines: { main: { collect: ticks, forward: vault, restart: false } }
host_config: {}
`;

const warnings = async (entry: string, env = {}) => {
  const loaded = await load(withVault(entry), { env });
  return loaded.warnings.map((warning) => ({
    line: problemLine(warning).replace(/^.*c\.yaml:/, ''),
    text: problemText(warning),
  }));
};

describe('a secret in a configuration', () => {
  it('is warned of when it is written literally, without quoting its line', async () => {
    const found = await warnings('{ plugin: vault, token: s3cret-one, auth: { bearer: "s3cret-two" } }');
    expect(found.map(({ line }) => line)).toEqual([
      '4:34: forwarders.vault.token: a secret is written literally; write `{ env: NAME }` or `{ file: path }`, and change the secret',
      '4:62: forwarders.vault.auth.bearer: a secret is written literally; write `{ env: NAME }` or `{ file: path }`, and change the secret',
    ]);
    expect(found.filter(({ text }) => text.includes('s3cret'))).toEqual([]);
  });

  it('may come from `${NAME}`, the environment or a file', async () => {
    const env = { TOKEN: 's3cret-one' };
    expect(
      await warnings("{ plugin: vault, token: '${TOKEN}', auth: { bearer: { env: PATH } } }", env),
    ).toEqual([]);
    const { config } = await load(withVault("{ plugin: vault, token: '${TOKEN}' }"), { env });
    expect((config.forwarders.vault as unknown as { token: Secret }).token.read()).toBe('s3cret-one');
  });

  it('is warned of when its variable or file is missing', async () => {
    const found = await warnings(
      '{ plugin: vault, token: { env: MILLRACE_NOT_SET }, auth: { password: { file: /no/file } } }',
    );
    expect(found.map(({ line }) => line)).toEqual([
      '4:34: forwarders.vault.token: the environment variable MILLRACE_NOT_SET, which is to hold a secret, is not set',
      '4:79: forwarders.vault.auth.password: cannot read the secret from the file /no/file: ENOENT: no such file or directory, stat',
    ]);
  });

  it('is refused for a run when its variable is missing, and not when its file is', async () => {
    const given =
      '{ plugin: vault, token: { env: MILLRACE_NOT_SET }, auth: { password: { file: /no/file } } }';
    const text = await refusal(withVault(given), { requireVariables: true });
    expect(text).toContain(
      '4:34: forwarders.vault.token: the environment variable MILLRACE_NOT_SET, which is to hold a secret, is not set',
    );
    expect(text).not.toContain('/no/file');
  });

  it('is usual as a literal among headers, but for those whose names say that they are secret', async () => {
    const found = await warnings('{ plugin: vault, headers: { Accept: json, Authorization: s3cret } }');
    expect(found.map(({ line }) => line)).toEqual([
      '4:67: forwarders.vault.headers.Authorization: a secret is written literally; write `{ env: NAME }` or `{ file: path }`, and change the secret',
    ]);
  });

  it.each([
    [
      'a wrong type',
      '{ plugin: vault, token: 5318008 }',
      'token: found a value that is not shown; expected a string or a mapping',
    ],
    ['a wrong form', '{ plugin: vault, token: { value: s3cret } }', 'expected'],
    [
      'a wrong neighbour',
      '{ plugin: vault, urll: x, token: s3cret }',
      'urll: unknown key `urll`; did you mean `url`?',
    ],
    ['a wrong union', '{ plugin: vault, auth: { bearer: s3cret, user: 1 } }', 'unknown key `user`'],
    [
      'a block of text',
      '\n    plugin: vault\n    token: |\n      first\n      s3cret\n    urll: 1',
      'unknown key `urll`',
    ],
  ])('is not shown by a problem: %s', async (_, entry, message) => {
    const text = await refusal(withVault(entry));
    expect(text).toContain(message);
    expect(text).not.toMatch(/s3cret|5318008/);
  });

  it('is not shown by graphs, JSON of the configuration, JSON Schema or `millrace plugins`', async () => {
    const { config } = await load(withVault('{ plugin: vault, token: s3cret, headers: { a: s3cret } }'));
    const shown = [JSON.stringify(config), inspect(config, { depth: 9, showHidden: false })];
    shown.push(JSON.stringify([...buildGraph(config).nodes]));
    const withDefault = z.strictObject({ token: secret().default('s3cret' as never) });
    shown.push(JSON.stringify(jsonSchemaOf(withDefault)));
    expect(shown.filter((text) => text.includes('s3cret'))).toEqual([]);
    expect(shown[2]).toContain('<secret>');
    const fields = pluginFields(schema).map(({ name, type }) => `${name}: ${type}`);
    expect(fields).toContain('token: secret');
    expect(fields).toContain('auth.bearer: secret');
    expect(fields.filter((field) => /\.env|\.file/.test(field))).toEqual([]);
  });

  it('is not shown by the log, whatever a plugin says', async () => {
    const lines: string[] = [];
    const log = (message: string, fields?: object) => lines.push(`${message} ${JSON.stringify(fields)}`);
    const logger = { error: log, warn: log, info: log, debug: log };
    const { config, host } = await load(withVault('{ plugin: vault, token: s3cret }'));
    const manager = new Manager(config, { host, logger });
    manager.start();
    await lastValueFrom(manager.finished$, { defaultValue: undefined });
    expect(lines.join('\n')).toContain('401 for <secret>');
    expect(lines.join('\n')).not.toContain('s3cret');
  });

  it('keeps a processor out of workers', async () => {
    const plugin = defineProcessor({
      schema: ProcessConfigBase.extend({ key: secret() }),
      traits: { pure: true },
      process: ({ event }) => event,
    });
    registerPlugin('process', 'keyed', plugin);
    const text = await refusal(`
collectors: { a: { plugin: file, paths: [a.log] } }
processors: { p: { plugin: keyed, key: { env: PATH } } }
forwarders: { out: { plugin: noop } }
pipelines: { main: { collect: a, process: p, forward: out, workers: 2 } }
host_config: {}
`).finally(() => unregisterPlugin('process', 'keyed'));
    expect(text).toContain('`p`, a `keyed` processor, has a secret among its settings');
  });
});

describe('a secret in a place where none belongs', () => {
  const PLANTED = 'Zebr4-Lamp9';
  const withForwarder = (entry: string) => `
collectors: { ticks: { plugin: test } }
forwarders:
  a: ${entry}
pipelines: { main: { collect: ticks, forward: a } }
host_config: {}
`;

  it.each([
    ['a misspelt name', "{ plugin: http, url: 'http://h/', auth: { bearerr: PLANTED } }"],
    [
      'a misspelt name deeper',
      "{ plugin: http, url: 'http://h/', auth: { basic: { usr: x, pasword: PLANTED } } }",
    ],
    ['a name of no setting', "{ plugin: http, url: 'http://h/', password: PLANTED }"],
    [
      'a name of no setting, with a mapping',
      "{ plugin: http, url: 'http://h/', credentials: { a: [PLANTED] } }",
    ],
    ['a string in place of a mapping', "{ plugin: http, url: 'http://h/', auth: PLANTED }"],
    ['a list in place of a mapping', "{ plugin: http, url: 'http://h/', headers: [PLANTED] }"],
    [
      'a list of mappings in place of one',
      "{ plugin: http, url: 'http://h/', headers: [{ x-api: PLANTED }] }",
    ],
    ['a value in a list', "{ plugin: http, url: 'http://h/', headers: { authorization: [PLANTED] } }"],
    ['a misspelt plugin', "{ plugin: htp, url: 'http://h/', password: PLANTED }"],
    ['a plugin that is missing', "{ url: 'http://h/', token: PLANTED }"],
    ['a URL without a colon', "{ plugin: http, url: 'http//u:PLANTED@localhost/' }"],
    ['a URL with one slash', "{ plugin: http, url: 'http:/u:PLANTED@localhost/' }"],
    ['a URL without a scheme', "{ plugin: http, url: 'u:PLANTED@localhost/' }"],
    ['a URL with a space', "{ plugin: http, url: 'http://u:PLANTED@local host/' }"],
    ['a URL with a space in the password', "{ plugin: http, url: 'http://u:a PLANTED@h/' }"],
    ['a URL of another kind', "{ plugin: http, url: 'ftp://u:PLANTED@h/' }"],
    ['a URL without a user', "{ plugin: nats, servers: 'nats://:PLANTED@local host', subject: a }"],
    ['a plugin of another name', "{ plugin: 'http://u:PLANTED@h/' }"],
    ['a key that is given twice', "{ plugin: http, url: 'http://h/', auth: { bearer: x, bearer: PLANTED } }"],
    ['YAML that is not valid', "{ plugin: http, auth: { bearer: PLANTED ], url: 'http://h/' }"],
    ['a quote that is not closed', "{ plugin: http, auth: { bearer: 'PLANTED }, url: http://h/ }"],
  ])('%s: is in no message', async (_, entry) => {
    expect(await refusal(withForwarder(entry.replace('PLANTED', PLANTED)))).not.toContain(PLANTED);
  });

  it.each([
    'delivery: { token: PLANTED }',
    'delivery: { dead_letter: "http://u:PLANTED@h/" }',
    'collect: "http://u:PLANTED@h/"',
  ])('in a pipeline, %s: is in no message', async (setting) => {
    const pipeline = `{ collect: ticks, forward: a, ${setting.replace('PLANTED', PLANTED)} }`;
    const text = withForwarder('{ plugin: stdout }').replace('{ collect: ticks, forward: a }', pipeline);
    expect(
      await refusal(text.replace('collect: ticks, forward: a, collect', 'forward: a, collect')),
    ).not.toContain(PLANTED);
  });

  it('does not keep an ordinary value out', async () => {
    const text = withForwarder("{ plugin: http, url: 'http://h/', timeout: soon }");
    const message = await refusal(text);
    expect(message).toContain('| ');
    expect(message).toContain('"soon"');
  });
});
