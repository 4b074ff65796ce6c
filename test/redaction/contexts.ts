import { fill, type Random, type Sample } from '../../plugins/pack-tests/templates.ts';

/** The forms in which a secret stands in a log line. `SECRET` is the secret, `KEY` its name. */
export const CONTEXTS = {
  bare: [
    '{iso}Z INFO {word} SECRET',
    '{syslog} {host} {word}[{pid}]: using SECRET for {word}',
    'found SECRET, which belongs to {user}',
    '{word} (SECRET) rejected by {host}',
    '{iso_space},{digit:3} WARN [{word}] SECRET: not accepted.',
    '{epochms},SECRET,{user},{int:1-99}',
    '{int:10000000-99999999} SECRET {digit:10}',
    '{digit:9};SECRET;{digit:12};{word}',
    '{digit:8}|SECRET|{digit:16}',
  ],
  'key=value': [
    '{iso}Z INFO {word} KEY=SECRET',
    'level=debug user={user} KEY=SECRET status=200',
    'export KEY=SECRET',
    '{iso_space} DEBUG config: {host={host}, KEY=SECRET, port={port}}',
    'Server={host};Database={word};KEY=SECRET;Timeout=30',
    '{syslog} {host} {word}[{pid}]: KEY: SECRET',
    'KEY = SECRET',
  ],
  JSON: [
    '{"level":"info","user":"{user}","KEY":"SECRET","status":200}',
    '{"time":"{iso}Z","config": {"host": "{host}", "KEY": "SECRET"}}',
    '{iso}Z DEBUG response {"KEY" : "SECRET"}',
    '[{"id":{int:1-99},"KEY":["SECRET"]}]',
  ],
  'escaped JSON': [
    '{"log":"{\\"user\\":\\"{user}\\",\\"KEY\\":\\"SECRET\\",\\"n\\":1}\\n","stream":"stdout"}',
    '{"message":"request body: {\\"KEY\\": \\"SECRET\\"}","level":"debug"}',
    '{"event":"{\\"log\\":\\"{\\\\\\"KEY\\\\\\":\\\\\\"SECRET\\\\\\"}\\"}"}',
    '{"msg":"KEY=SECRET\\nnext line","t":{epoch}}',
  ],
  'URL query': [
    '{ip} - - [{clf}] "GET /api/{word}?page={int:1-9}&KEY=SECRET&sort=asc HTTP/1.1" 200 {int:10-9999}',
    'GET https://{domain}/v1/{word}?KEY=SECRET',
    '{iso}Z INFO fetched https://{domain}/{word}?KEY=SECRET#top in {int:1-99} ms',
    'url="https://{domain}/cb?state={hex:8}&KEY=SECRET" status=302',
  ],
  header: [
    'X-HKEY: SECRET',
    '> x-hkey: SECRET',
    '{"headers":{"accept":"*/*","x-hkey":"SECRET"}}',
    '{iso}Z DEBUG sending Authorization: Bearer SECRET',
    'authorization=[Bearer SECRET], accept=[*/*]',
    '{"headers":{"Authorization":"Bearer SECRET","host":"{domain}"}}',
    "curl -s -H 'Authorization: token SECRET' https://{domain}/",
    'headers: map[Authorization:[Bearer SECRET] Accept:[*/*]]',
  ],
  quoted: [
    "KEY='SECRET'",
    '{iso}Z INFO {word} KEY="SECRET" user={user}',
    'const KEY = "SECRET";',
    "{'user': '{user}', 'KEY': 'SECRET'}",
    'KEY: "SECRET"',
    '<{word} id="{int:1-99}" KEY="SECRET"/>',
  ],
  'command line': [
    'CMD: /usr/bin/{word} --FLAG SECRET --verbose',
    '{syslog} {host} sudo: {user} : COMMAND=/usr/bin/{word} --FLAG=SECRET',
    "+ {word} --host {host} --FLAG 'SECRET'",
    'exec: ["{word}", "--FLAG", "SECRET"]',
    'KEY=SECRET /usr/bin/{word} run',
  ],
} as const satisfies Record<string, readonly string[]>;

export type Context = keyof typeof CONTEXTS;

/** A line in which `secret` stands in a context, under a name. */
export function inContext(context: Context, name: string, secret: string, r: Random): Sample {
  const template = r.pick<string>(CONTEXTS[context]);
  const kebab = name
    .replace(/([a-z])([A-Z])/g, '$1-$2')
    .replace(/[_.]/g, '-')
    .toLowerCase();
  const [before = '', after = ''] = template.split('SECRET').map((part) => {
    // What is filled in first may contain `KEY`, so the names come last.
    const { text } = fill(part.replace(/HKEY|hkey|FLAG/g, '\0').replace('KEY', '\x01'), r);
    return text.replace('\0', kebab).replace('\x01', name);
  });
  return { text: before + secret + after, spans: [[before.length, before.length + secret.length]] };
}
