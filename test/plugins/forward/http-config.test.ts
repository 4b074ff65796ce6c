import { writeFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from '@jest/globals';
import { problemLine, problemText } from '../../../src/config/config-error.ts';
import { buildGraph } from '../../../src/graph/build-graph.ts';
import { loggerFor } from '../../../src/sdk/checks/shown-values.ts';
import { load, refusal } from '../../config/helpers.ts';
import { contextOf, events, failure, sendTo, sinkOf, temp } from './http-helpers.ts';

describe('http: configuration', () => {
  const withHttp = (entry: string) => `
collectors: { a: { plugin: test } }
forwarders:
  out: ${entry}
pipelines: { main: { collect: a, forward: out } }
host_config: {}
`;

  it.each([
    ["{ plugin: http, url: 'ftp://x/' }", 'expected a URL that starts with http:// or https://'],
    ['{ plugin: http, url: nowhere }', 'expected a URL that starts with http:// or https://'],
    ["{ plugin: http, url: 'http://x/', auth: {} }", 'exactly one of `bearer`, `basic` and `header`'],
    ["{ plugin: http, url: 'http://x/', headers: { 'a b': c } }", 'expected a name of a header'],
    ["{ plugin: http, url: 'http://x/', headers: { Content-Length: 1 } }", 'millrace sets this one itself'],
    ["{ plugin: http, url: 'https://x/', tls: { ca: /etc/ca.pem } }", 'write `{ file: path }`'],
    ["{ plugin: http, url: 'https://x/', tls: { cert: { env: PATH } } }", '`cert` and `key` together'],
  ])('refuses %s', async (entry, message) => {
    expect(await refusal(withHttp(entry))).toContain(message);
  });

  describe('with a value that no header can have', () => {
    const VARIABLE = 'MILLRACE_TEST_HEADER';
    afterEach(() => {
      delete process.env[VARIABLE];
    });
    const values = [
      ...['hunter2\nX-Evil: 1', 'hunter2\rx', 'hunter2\u0000', 'hunter2\u001b[0m', 'hunter2\u007f'],
      ...['hunter2 \u20ac', 'hunter2 \u{1f511}', '\ufeffhunter2'],
    ];
    const places: [string, (value: string) => string][] = [
      ['headers.X-Key', (value) => `headers: { X-Key: ${value} }`],
      ['auth.bearer', (value) => `auth: { bearer: ${value} }`],
      ['auth.header.value', (value) => `auth: { header: { name: X-Key, value: ${value} } }`],
    ];

    it.each(places)('refuses it as %s, wherever it comes from, and does not show it', async (path, place) => {
      for (const value of values) {
        process.env[VARIABLE] = value.replaceAll('\0', '\u0001');
        const file = temp('header-value');
        writeFileSync(file, `${value}\n`);
        for (const source of [JSON.stringify(value), `{ env: ${VARIABLE} }`, `{ file: ${file} }`]) {
          const text = await refusal(withHttp(`{ plugin: http, url: 'https://x/', ${place(source)} }`));
          expect(text).toContain(`${path}: it is the value of a header, so it needs characters of Latin-1`);
          expect(text).not.toMatch(/hunter2|Evil/);
        }
      }
    });

    it('takes what a header can have', async () => {
      for (const value of ['two words', 'a\tb', 'caf\u00e9', '"quoted" \\']) {
        const file = temp('header-value');
        writeFileSync(file, `${value}\r\n`);
        for (const [, place] of places) {
          await load(withHttp(`{ plugin: http, url: 'https://x/', ${place(`{ file: ${file} }`)} }`));
        }
      }
    });

    it('leaves it to the report of secrets that one cannot be read, and to base64 what basic sends', async () => {
      await load(withHttp("{ plugin: http, url: 'https://x/', auth: { bearer: { file: /nowhere/token } } }"));
      const basic = '{ username: "\u20ac", password: "a\\nb" }';
      await load(withHttp(`{ plugin: http, url: 'https://x/', auth: { basic: ${basic} } }`));
      const colon = withHttp(
        "{ plugin: http, url: 'https://x/', auth: { basic: { username: 'a:b', password: c } } }",
      );
      expect(await refusal(colon)).toContain('a user name without a colon');
    });

    it('waits for a better one if it comes later, and sends nothing meanwhile', async () => {
      const sink = await sinkOf();
      const file = temp('rotated');
      writeFileSync(file, 'hunter2\nbad\n');
      const ctx = contextOf({ url: sink.url, auth: { bearer: { file } } });
      const error = await failure(sendTo(ctx, events(1)));
      expect(error).toMatchObject({ fatal: true, permanent: false });
      expect(error.message).not.toContain('hunter2');
      writeFileSync(file, 'a good one\n');
      await sendTo(ctx, events(1));
      expect(sink.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer a good one']);
    });
  });

  it.each([
    [
      "{ plugin: http, url: 'http://ada:hunter2@x/' }",
      'a URL without a user name and a password; set `auth`',
    ],
    [
      "{ plugin: http, url: 'http://x/', proxy: 'http://ada:hunter2@x/' }",
      'set `proxy.username` and `proxy.password`',
    ],
  ])('refuses and does not show credentials in %s', async (entry, message) => {
    const text = await refusal(withHttp(entry));
    expect(text).toContain(message);
    expect(text).not.toContain('hunter2');
  });

  it.each([
    ["{ plugin: http, url: 'http://x/?user=ada&password=hunter2&query=a' }", '`password`'],
    ["{ plugin: http, url: 'https://x/in?api_key=hunter2' }", '`api_key`'],
    ["{ plugin: http, url: 'https://x/', proxy: 'http://x/?token=hunter2' }", '`token`'],
  ])('warns of the secret in the URL of %s, and does not show it', async (entry, name) => {
    const { warnings, config } = await load(withHttp(entry));
    expect(warnings.map(problemText).join('\n')).toMatch(
      new RegExp(`${name} in the URL is a secret that is written literally`),
    );
    const log: string[] = [];
    const note = (message: string) => void log.push(message);
    const logger = { error: note, warn: note, info: note, debug: note };
    loggerFor(config, logger).error('https://x/?a=hunter2 was wrong');
    const broken = await refusal(withHttp(entry.replace('plugin', 'headerz: 1, plugin')));
    expect(broken).toContain('unknown key `headerz`');
    const shown = [
      ...warnings.map(problemText),
      ...log,
      broken,
      JSON.stringify([...buildGraph(config).nodes]),
    ];
    expect(shown.filter((text) => text.includes('hunter2'))).toEqual([]);
    expect(log).toEqual(['https://x/?a=<secret> was wrong']);
  });

  it('takes a secret of the URL from the environment without a warning', async () => {
    const entry = "{ plugin: http, url: 'https://x/?password=${PW}&partition_key=a' }";
    const { warnings } = await load(withHttp(entry), { env: { PW: 'hunter2' } });
    expect(warnings).toEqual([]);
  });

  it('warns of credentials without encryption, and of a server that is not verified', async () => {
    const entry =
      "{ plugin: http, url: 'http://x/', auth: { bearer: { env: PATH } }, tls: { verify: false } }";
    const { warnings } = await load(withHttp(entry));
    expect(warnings.map((warning) => problemLine(warning).replace(/^.*yaml:/, ''))).toEqual([
      expect.stringContaining('forwarders.out.auth: the credentials are sent without encryption'),
      expect.stringContaining('forwarders.out.tls.verify: the server is not verified'),
    ]);
  });
});
