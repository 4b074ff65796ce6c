import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from '@jest/globals';
import { ROOT } from '../support/build.ts';
import { folderWith, runCli, runCommand } from '../support/cli.ts';
import { type HttpSink, httpSink } from '../support/http-sink.ts';

const EXAMPLE = join(ROOT, 'examples/webhooks/slack.yaml');
const LOG = `INFO ready
ERROR login of ada@mail.example.org failed with password=hunter2-q9
ERROR refuse me
ERROR "quoted"
`;

let slack: HttpSink | undefined;
afterEach(() => slack?.close());

const run = (cwd: string, url: string) =>
  runCli(['run', EXAMPLE, '--once', '--state-dir', 'state'], {
    cwd,
    env: { SLACK_URL: url, SLACK_TOKEN: 'xoxb-1', APP_LOG: 'app.log', SLACK_CHANNEL: '#ops' },
  });

it('examples/webhooks/slack.yaml passes its tests', async () => {
  expect(await runCommand(['test', EXAMPLE])).toMatchObject({ code: 0 });
});

it('examples/webhooks/slack.yaml posts a message for each error, after what is busy and without what is refused', async () => {
  let busy = 1;
  slack = await httpSink(({ body }, response) => {
    const error = busy-- > 0 ? 'ratelimited' : body.includes('refuse me') ? 'invalid_blocks' : undefined;
    response.end(JSON.stringify({ ok: error === undefined, error }));
  });
  const cwd = folderWith({ 'app.log': LOG });
  const { code, stderr } = await run(cwd, slack.url);
  expect({ code, stderr }).toMatchObject({ code: 0 });
  const texts = slack.requests.map(({ body }) => (JSON.parse(body) as { text: string }).text);
  const posted = texts.map((text) => text.replace(/^\*Error\* at \d{4}-[\dT:.-]+Z: /, ''));
  const login = 'ERROR login of <:EMAIL:> failed with password=<:password:>';
  expect(posted).toEqual([login, login, 'ERROR refuse me', 'ERROR "quoted"']);
  expect(JSON.parse(slack.requests[0]?.body ?? '')).toMatchObject({ channel: '#ops' });
  expect(slack.requests[0]?.headers).toMatchObject({
    authorization: 'Bearer xoxb-1',
    'content-type': 'application/json',
  });
  const refused = join(cwd, 'out/webhooks/refused.jsonl');
  expect(existsSync(refused) && readFileSync(refused, 'utf8')).toMatch(/^[^\n]*ERROR refuse me[^\n]*\n$/);
});
