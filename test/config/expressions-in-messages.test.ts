import { describe, expect, it } from '@jest/globals';
import { problemLine } from '../../src/config/config-error.ts';
import { load, refusal } from './helpers.ts';

const KEY = 'sk_live_4eC39';

/** The rest of a file with one forwarder and what else is to be in it. */
const fileWith = (settings: string, pipeline = '') => `
collectors: { in: { plugin: stdin } }
forwarders:
  out: { plugin: noop }
  api:
    plugin: http
    url: http://127.0.0.1:9/
    format: json
    ${settings}
pipelines: { p: { collect: [in], forward: [out, api]${pipeline} } }
host_config: {}
`;

describe('messages about expressions', () => {
  it.each([
    ['of a payload', `payload: { cel: '{"a": data.b, "api_key": "${KEY}" + }' }`],
    ['of a payload, whatever names it has', `payload: { cel: '"${KEY}" +' }`],
    ['of a payload on lines of its own', `payload:\n      cel: |\n        {"a": "${KEY}"\n        +}`],
    ['of a payload that is no mapping', `payload: '{"a": "${KEY}"}'`],
    ['of a body', `body: '{"a": events, "b": "${KEY}" + }'`],
    ['of a body without events', `body: '{"a": "${KEY}"}'`],
    ['of answers', `answers: { status: '"${KEY}" +' }`],
    ['of a list of answers', `answers: { items: { cel: '["${KEY}" +]' } }`],
    ['of items that are no mapping', `answers: { items: '["${KEY}"]' }`],
    ['of a name that may be a key without quotes', `payload: { cel: '{"a": ${KEY}}' }`],
    ['of a function with such a name', `payload: { cel: '${KEY}(data)' }`],
    ['of failed items', `answers: { failed_items: '"${KEY}"' }`],
    [
      'that is valid, where another one is not',
      `payload: { cel: '"${KEY}"' }\n    answers: { status: '"${KEY}" +' }`,
    ],
  ])('quote nothing %s', async (_, settings) => {
    const text = await refusal(fileWith(settings));
    expect(text).toContain('forwarders.api.');
    expect(text).not.toContain(KEY);
  });

  it.each([
    ['a route', `{ to: api, when: 'data.api_token == "${KEY}" &&' }`],
    ['a route with another setting', `{ to: api, when: 'data.token == "${KEY}"', nope: 1 }`],
  ])('quote nothing of %s with a word such as `token`', async (_, route) => {
    const text = await refusal(fileWith('').replace('[out, api]', `[out, ${route}]`));
    expect(text).toContain('forward');
    expect(text).not.toContain(KEY);
  });

  it.each([
    [
      'of an unknown plugin',
      fileWith('').replace(
        'out: {',
        `own: { plugin: htpp, payload: { cel: '{"token": "${KEY}"}' } }\n  out: {`,
      ),
    ],
    ['in a file that is no YAML', fileWith(`payload: { cel: '"${KEY}"' ] }`)],
  ])('quote nothing %s', async (_, file) => {
    expect(await refusal(file)).not.toContain(KEY);
  });

  it('quote other expressions, and names', async () => {
    expect(await refusal(fileWith('payload: evnt'))).toContain(
      'found the string "evnt"; expected `event`, `flat` or `{ cel: … }`; did you mean `event`?',
    );
    const file = fileWith('').replace('[out, api]', `[out, { to: api, when: 'data.level ==' }]`);
    expect(await refusal(file)).toContain('data.level ==');
  });

  it('name `{ cel: … }` beside the words of a setting', async () => {
    expect(await refusal(fileWith('answers: { items: bulk }'))).toContain(
      'expected `status_list`, `elasticsearch` or `{ cel: … }`',
    );
  });

  it.each([
    ["payload: { cel: '{text: data.msg}' }", 'text'],
    [`payload: { cel: '{"a": 1, b : data.msg}' }`, 'b'],
    ["body: '{logs: events}'", 'logs'],
  ])('say that quotes are missing around a key: %s', async (settings, key) => {
    expect(await refusal(fileWith(settings))).toContain(`quotes are missing around the key \`${key}\``);
  });

  it('list the variables if the unknown name is no key', async () => {
    const text = await refusal(fileWith(`payload: { cel: 'has(data.a) ? text : "x"' }`));
    expect(text).toContain('there are data, timestamp, tag');
  });

  it.each(['${data.msg}', "${data[''msg'']}", '${ data.a.b }'])(
    'say how a field is written in place of %s',
    async (reference) => {
      const { warnings } = await load(fileWith(`payload: { cel: '{"text": "${reference}"}' }`));
      expect(warnings.map((warning) => problemLine(warning)).join('\n')).toContain(
        'in an expression, write `"…" + data.NAME`',
      );
    },
  );
});

describe('a body', () => {
  it.each(['{"logs": []}', '"x"', '{"events": 1}', '{"a": "events"}'])(
    'is refused if it does not use `events`: %s',
    async (body) => {
      expect(await refusal(fileWith(`body: '${body}'`))).toContain(
        'forwarders.api.body: `body` does not use `events`, so nothing of them would be sent',
      );
    },
  );

  it.each([
    'events',
    'events.map(e, e.data)',
    '{"n": size(events)}',
    '[{"a": [events]}]',
    'true ? events : []',
  ])('may use them anywhere: %s', async (body) => {
    await load(fileWith(`body: '${body}'`));
  });
});

describe('a setting of another type of buffer', () => {
  it.each([
    ['{ path: ./b, max_bytes: 2000000 }', 'unknown key `path`; to use it, set `type: disk`'],
    ['{ type: memory, masked: false }', 'unknown key `masked`; to use it, set `type: disk`'],
    ['{ type: memory, when_full: reject }', 'to use `reject`, set `type: disk`'],
    ['{ when_full: wait }', 'to use `wait`, set `type: disk`'],
    ['{ type: disk, path: ./b, max_events: 5 }', 'unknown key `max_events`; to use it, set `type: memory`'],
  ])('names the type: %s', async (buffer, message) => {
    expect(await refusal(fileWith('', `, buffer: ${buffer}`))).toContain(message);
  });

  it('names none for a key or a value that no type has', async () => {
    const text = await refusal(fileWith('', ', buffer: { max_event: 5, when_full: explode }'));
    expect(text).toContain('unknown key `max_event`; did you mean `max_events`?');
    expect(text).not.toContain('type: disk');
  });
});
