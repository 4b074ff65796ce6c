import { describe, expect, it } from '@jest/globals';
import { applyRulesInOrder } from '../../../../operators/masks/apply-rule.ts';
import { isPlaceholder } from '../../../../operators/masks/checks/placeholders.ts';
import { compileMaskRules } from '../../../../operators/masks/compile-mask-rules.ts';
import { MaskError } from '../../../../operators/masks/mask-error.ts';
import type { MaskRule } from '../../../../operators/masks/mask-rule.ts';
import { bitsPerCharacter } from '../../../../operators/masks/redact/compile-redact-rules.ts';
import { type RedactOptions, redactor } from '../../../../operators/masks/redact/redact.ts';
import type { RedactRule } from '../../../../operators/masks/redact/redact-rule.ts';
import { Redactor } from '../../../../operators/masks/redact/redactor.ts';
import { RowsMasker } from '../../../../operators/masks/rows-masker.ts';
import { createRedactor } from '../../../../plugins/masks/redact-masking.ts';
import { resolvePackRules } from '../../../../plugins/packs/load-packs.ts';
import { RedactProcessConfig } from '../../../../plugins/process/redact.ts';

const TOKEN = { match: 'tk_([0-9a-z]{8})', keywords: ['tk_'] };
const base64 = (text: string) => Buffer.from(text).toString('base64');

function mask<T extends string | object>(value: T, options: Partial<RedactOptions> = {}): unknown {
  return redactor({ rules: { 'a/b:token': TOKEN }, ...options })(value);
}

describe('rules', () => {
  it('replace a match by the name of the rule, which is what follows the pack', () => {
    expect(mask('a tk_01234567, tk_89abcdef')).toBe('a <:token:>, <:token:>');
  });

  it('replace groups of a match', () => {
    expect(mask('tk_01234567', { rules: { T: { ...TOKEN, mask: 1 } } })).toBe('tk_<:T:>');
    const pair = { match: '([a-z]+):([0-9]+)(?:/([a-z]+))?', mask: [1, 2, 3] };
    expect(mask('ada:12 bob:3/x', { rules: { P: pair } })).toBe('<:P:>:<:P:> <:P:>:<:P:>/<:P:>');
  });

  it('look for keywords in any case, and skip other strings', () => {
    const rules = { T: { match: '[0-9]{4}', keywords: ['PIN', 'code'] } };
    expect(mask('Pin 1234', { rules })).toBe('Pin <:T:>');
    expect(mask('order 1234', { rules })).toBe('order 1234');
  });

  it('look for keywords beyond ASCII in any case, in strings and in lines', () => {
    const rules: MaskRule[] = [
      { name: 'T', expression: /[0-9]{4}/, groups: [0], keywords: ['hasło', '密码'], replace: () => '*' },
      { name: 'K', expression: /[a-z]{4}/, groups: [0], keywords: ['key='], replace: () => '+' },
    ];
    const lines = [
      'HASŁO 1234',
      'hasło 1234 abcd',
      '密码：1234',
      'haslo 1234',
      '\u212aEY=abcd',
      'é 1234',
      '',
    ];
    const masked = lines.map((line) => applyRulesInOrder(line, rules));
    expect(masked.slice(0, 4)).toEqual(['HASŁO *', 'hasło * abcd', '密码：*', 'haslo 1234']);
    const engine = compileMaskRules(rules);
    expect(lines.map(engine.mask)).toEqual(masked);
    expect(engine.many()?.map(lines.join('\n'))).toBe(masked.join('\n'));
  });

  it.each<[string, object, boolean]>([
    ['require, which fails', { check: 'card' }, false],
    ['require, with entropy', { check: { entropy: 3 } }, false],
    ['require, which passes', { check: { entropy: 1 } }, true],
    ['off', { check: { name: 'card', mode: 'off' } }, true],
    ['raise, where it need not', { check: { name: 'card', mode: 'raise' } }, true],
    ['raise from low, which fails', { check: { name: 'card', mode: 'raise' }, confidence: 'low' }, false],
    ['raise from low, which passes', { check: { entropy: 1, mode: 'raise' }, confidence: 'low' }, true],
    ['low confidence', { confidence: 'low' }, false],
    ['medium confidence', { confidence: 'medium' }, true],
  ])('check: %s', (_, fields, isMasked) => {
    const text = '4111 1111 1111 1112';
    const rules = { C: { match: '[0-9 ]{19}', ...fields } };
    expect(mask(text, { rules })).toBe(isMasked ? '<:C:>' : text);
  });

  it('check the card number', () => {
    const rules = { C: { match: '[0-9 ]{19}', check: 'card' } };
    expect(mask('4111 1111 1111 1111', { rules })).toBe('<:C:>');
  });

  it('leave what a rule or an option allows, by value or by key in any style', () => {
    expect(mask('tk_01234567', { rules: { T: { ...TOKEN, allow: ['^tk_0'] } } })).toBe('tk_01234567');
    expect(mask('tk_01234567 tk_89abcdef', { allowedValues: ['^tk_0'] })).toBe('tk_01234567 <:token:>');
    const allowedKeys = ['trace_id'];
    const text = 'traceId=tk_01234567 "trace-id": "tk_01234567" id=tk_01234567';
    expect(mask(text, { allowedKeys })).toBe('traceId=tk_01234567 "trace-id": "tk_01234567" id=<:token:>');
    expect(mask({ TraceId: 'tk_01234567', id: 'tk_01234567' }, { allowedKeys })).toEqual({
      TraceId: 'tk_01234567',
      id: '<:token:>',
    });
  });

  it('with blocks come first, whatever their place', () => {
    const block = { contains: 'BEGIN', start: 'BEGIN', end: 'END' };
    const rules = { A: 'BEGIN', B: { match: 'BEGIN[\\s\\S]*?END', block } };
    expect(mask('BEGIN x\ny END', { rules })).toBe('<:B:>');
  });

  it('refuse a group, a check and an expression that are not there', () => {
    expect(() => redactor({ rules: { A: { match: '(a)', mask: 2 } } })).toThrow(/rule "A".*2 is not a group/);
    expect(() => redactor({ rules: { A: { match: 'a', check: 'crad' } } })).toThrow(/"crad".*does not exist/);
    expect(() => redactor({ rules: { A: '(' } })).toThrow(/rule "A"/);
    const decode = { jsno: 1 } as object;
    expect(() => redactor({ rules: {}, decode })).toThrow(
      'an object with no other fields than json, percent',
    );
    expect(() => redactor({ rules: {}, decode: { json: -1 } })).toThrow(
      'whose json is an integer of at least 0',
    );
    expect(() => redactor({ rules: {}, entropy: { length: 1 } })).toThrow('whose length is an integer of at');
  });

  it('find nothing in masks of rules before them', () => {
    const rules = { TOKEN: 'tk_[0-9]+', SECOND: { match: 'TOKEN:([0-9a-f]+)', mask: 1 }, THIRD: 'TOK' };
    const replace = (_: string, id: string) => `<:${id}:0123abcd:>`;
    expect(mask('tk_1 TOKEN:12', { rules, replace })).toBe(
      '<:TOKEN:0123abcd:> <:THIRD:0123abcd:>EN:<:SECOND:0123abcd:>',
    );
  });

  it('report what they masked, and replace as they are told', () => {
    const counts: [string, number][] = [];
    const onMask = (rule: string, count: number) => void counts.push([rule, count]);
    const replace = (value: string, id: string) => `[${id} ${value.length}]`;
    expect(mask('tk_01234567', { onMask, replace })).toBe('[a/b:token 11]');
    expect(counts).toEqual([['a/b:token', 1]]);
  });
});

describe('the entropy rule', () => {
  const KEY = 'qGr4Kd0xT9bLw2Zp5v';

  it('is on at low confidence, with several delimiters and without punctuation and quotes', () => {
    const text = `{"token":"${KEY}"} token=${KEY}&x=1, Bearer ${KEY}, '${KEY}'. (${KEY})`;
    const masked = text.replaceAll(KEY, '<:high-entropy:>');
    expect(mask(text, { confidence: 'low', rules: {} })).toBe(masked);
    expect(mask(text, { rules: {} })).toBe(text);
  });

  it('takes options, and can be turned off or on', () => {
    expect(mask(KEY, { confidence: 'low', entropy: false })).toBe(KEY);
    expect(mask(`${KEY}`, { entropy: {} })).toBe('<:high-entropy:>');
    expect(mask(KEY, { entropy: { length: 30 } })).toBe(KEY);
    expect(mask(`a_${KEY}_b`, { entropy: { delimiters: '_' } })).toBe('a_<:high-entropy:>_b');
    expect(mask('59601e367f33496cf24050ceea80dc6e', { entropy: {} })).toBe(
      '59601e367f33496cf24050ceea80dc6e',
    );
  });
});

describe('fields', () => {
  const PASSWORD = {
    match:
      '(?i)(?:password|x-key)"?\\s?(?:[:=,]|: \\{"value":)\\s?(?:\\[|\\{"value": )?"?((?:[^"\\\\\\s,}]|\\\\.)+)',
    mask: 1,
    keywords: ['password', 'x-key'],
  };
  const rules = { PASSWORD };

  it('are searched behind their keys, at any depth, also numbers and in arrays', () => {
    const event = {
      timestamp: '2026-01-01T00:00:00Z',
      data: {
        user: 'ada',
        db: [{ dbPassword: 'hunter2', password: 1234, 'X-Key': ['a', 2, { b: 'c' }] }],
        password: true,
      },
    };
    expect(mask(event, { rules })).toEqual({
      ...event,
      data: {
        ...event.data,
        db: [
          {
            dbPassword: '<:PASSWORD:>',
            password: '<:PASSWORD:>',
            'X-Key': ['<:PASSWORD:>', '<:PASSWORD:>', { b: 'c' }],
          },
        ],
      },
    });
  });

  it('are searched behind a name beside them, the key around them and the item before them', () => {
    expect(mask({ name: 'DB_PASSWORD', value: 'a' }, { rules })).toEqual({
      name: 'DB_PASSWORD',
      value: '<:PASSWORD:>',
    });
    expect(mask({ password: { value: 'a' } }, { rules })).toEqual({ password: { value: '<:PASSWORD:>' } });
    expect(mask([['x-key', 'a']], { rules })).toEqual([['x-key', '<:PASSWORD:>']]);
  });

  it('are given to actions as they are, whatever JSON would make of them', () => {
    const values: string[] = [];
    const replace = (value: string) => {
      values.push(value);
      return '"\\"';
    };
    expect(mask({ password: 'a"\\b' }, { rules, replace })).toEqual({ password: '"\\"' });
    expect(values).toEqual(['a"\\b']);
  });

  it('stay if a rule finds something in their key only, and are masked if it takes more than the value', () => {
    const counts: [string, number][] = [];
    const onMask = (rule: string, count: number) => void counts.push([rule, count]);
    const key = { KEY: { match: 'my-[a-z]+', keywords: ['my-'] } };
    expect(mask({ 'my-key': 'value' }, { rules: key, onMask })).toEqual({ 'my-key': 'value' });
    expect(counts).toEqual([]);
    const all = { ALL: { match: 'pin".*', keywords: ['pin'] } };
    expect(mask({ pin: '12', x: '12' }, { rules: all, onMask })).toEqual({ pin: '<:ALL:>', x: '12' });
    expect(counts).toEqual([['ALL', 1]]);
  });
});

/** What hides `hunter2` in a list, where only what stands beside it says what it is. */
const BESIDE = [
  { sql: 'UPDATE users SET password = ? WHERE id = ?', bindings: ['hunter2', 7] },
  { query: 'INSERT INTO users (name, password) VALUES ($1, $2)', params: '["ada","hunter2"]' },
  { argv: ['mysql', '-u', 'root', '-phunter2'] },
  { process: { args: ['docker', 'login', '-p', 'hunter2'] } },
  { auth: ['ada', 'hunter2'] },
  { sql: 'UPDATE users SET id = $1, password = $2', params: '[7,"hunter2"]' },
];

describe('lists', () => {
  it.each(BESIDE)('belong to what stands beside them in an event: %j', (data) => {
    const counts: string[] = [];
    const redactor = createRedactor(RedactProcessConfig.parse({ plugin: 'redact' }), {
      now: () => 0,
      onMask: (rule) => void counts.push(rule),
    });
    const event = { timestamp: '2026-01-01T00:00:00Z', data, at: new Date(0) };
    const masked = redactor.maskEvent(event);
    expect(JSON.stringify(masked)).not.toContain('hunter2');
    expect([masked.timestamp, masked.at, counts.length]).toEqual([event.timestamp, event.at, 1]);
    expect(Object.keys(masked.data)).toEqual(Object.keys(data));
  });

  it('are all that is masked so', () => {
    const rules = {
      OTP: '\\b\\d{6}\\b',
      YEAR: '2026',
      AUTH: { match: 'auth": ?\\["ada", ?"([^\\]]*)"', mask: 1 },
    };
    const mask = redactor({ rules, replace: (value, id) => `"${id} ${value.length}"` });
    const event = { timestamp: '2026-01-01T00:00:00Z', lat: 52.123456, auth: ['ada', 'hun"ter\\2'] };
    expect(mask(event)).toEqual({ ...event, auth: ['ada', '"AUTH 9"'] });
    expect(event.auth).toEqual(['ada', 'hun"ter\\2']);
  });
});

describe('many events that come from no file', () => {
  const create = (counts: string[]) =>
    createRedactor(RedactProcessConfig.parse({ plugin: 'redact' }), {
      now: () => 0,
      onMask: (rule) => void counts.push(rule),
    });
  /** The first event of a source may be the rest of a key. */
  const started = (source: string) => {
    const redactor = create([]);
    redactor.maskEvent({ data: { message: 'the first one' } }, source);
    return redactor.rows(source);
  };
  const key = `AKIA${'QWERTYUIOP234567'}`;
  const record = (secret: string, others: object = {}) => ({
    ...{ severity_text: 'INFO', body: `GET / 200 ${secret}`, time: '2023-11-14T22:13:20.123456789Z' },
    ...{ attributes: { 'log.file.name': 'shop.log', thread: 7 }, ...others },
    resource: {
      attributes: { 'host.name': 'web1.example.com', 'service.name': 'shop', password: 'hunter2' },
    },
  });

  it('are masked together, as each of them by itself', () => {
    const rows = [
      ...Array.from({ length: 5 }, (_, n) => record(n === 2 ? key : 'ok')),
      // Strings that stayed as they were behind other keys, and others behind the same keys.
      record('ok', { attributes: { password: 'INFO', 'host.name': key, name: 'password', value: 'shop' } }),
      record('ok', { resource: { secret: { 'host.name': 'web1.example.com', name: 'shop' } } }),
      record('ok', { severity_text: key, source: 7 }),
      // Lists that belong to what stands beside them.
      ...BESIDE.map((fields) => record('ok', fields)),
      record(key, { tags: ['eu', 'web'] }),
      record('ok', { args: ['curl', '-u', 'ada:hunter2', 'x'.repeat(3000)] }),
    ];
    const counts: string[] = [];
    const expectedCounts: string[] = [];
    const alone = create(expectedCounts);
    const expected = rows.map((data) => (alone.maskEvent({ data }) as { data: object }).data);
    const together = create(counts);
    const mask = together.rows('');
    if (mask === undefined) throw new Error('rows are not masked together');
    const fields = structuredClone(rows);
    const left = new RowsMasker(mask).maskRows(fields, (place) => {
      fields[place] = (together.maskEvent({ data: fields[place] }) as { data: (typeof rows)[0] }).data;
      return true;
    });
    expect([left, fields]).toEqual([undefined, expected]);
    expect(counts.toSorted()).toEqual(expectedCounts.toSorted());
    expect(JSON.stringify(fields)).not.toMatch(/hunter2|AKIA/);
  });

  it('are none of a file', () => {
    const mask = started('');
    const takes = (row: object) => mask?.takes?.({ ...row });
    expect([takes({}), takes({ source: '' }), takes({ source: 7 })]).toEqual([true, true, true]);
    expect([takes({ source: 'a.log' }), started('a.log')?.takes?.({})]).toEqual([false, false]);
  });

  it('are masked by themselves where a key says something, and no others', () => {
    const mask = started('');
    if (mask === undefined) throw new Error('rows are not masked together');
    const rows = Array.from({ length: 4 }, () => ({ 'host.name': 'web1', message: 'ok' }) as object);
    rows.splice(2, 0, { 'host.name': 'web1', password: 'hunter2' });
    const maskedAlone: number[] = [];
    const maskAlone = (place: number) => maskedAlone.push(place) > 0;
    expect(
      new RowsMasker(mask).maskRows(
        rows.map((row) => ({ ...row })),
        maskAlone,
      ),
    ).toBeUndefined();
    expect(maskedAlone).toEqual([2]);
  });
});

describe('placeholders', () => {
  it.each([
    ...['changeme', 'CHANGE_ME', 'xxxxxxxx', '********', '<password>', '<your token>', '${TOKEN}', '$TOKEN'],
    ...['{{ token }}', '%TOKEN%', 'REDACTED', '[redacted]', '<:token:>', 'Bearer <:token:>', '<:card:1111:>'],
    ...[
      'your-api-key',
      'AKIAXXXXXXXXXXXXXXXX',
      'sk_live_example0123456789',
      'null',
      'password',
      '"changeme"',
      'n/a',
    ],
    ...['<API_KEY>', '<api_key1>', '<32 chars>', '<:my-rule:>', '<:a/b:token:>', '<nil>'],
    ...['<redacted:9f3a>', "<%= ENV['A1'] %>", '<Secret object at 0x7f3a9c01>', '<...>', '<base64>'],
  ])('%s is never masked', (value) => {
    expect(isPlaceholder(value, true)).toBe(true);
    expect(mask(value, { rules: { 'secrets/test:ALL': '(?s).+' } })).toBe(value);
  });

  it.each([
    ...['hunter2', 'S3cr3t!', 'correct horse', 'p<:a:>q1', 'Xx9$aQ', 'aaaaaaab'],
    ...['<hunter2>', '<tr0ub4dor>', '<Horse!Battery>', '<:hunter2Xq:>', '<:token:hunter2Xq:>'],
    ...['<%q8Zk2mVx7LpR%>', '<secret-q8Zk2mVx7LpR>', '<removed-hunter2xyz>', '<Winter.2026>'],
    ...['<:card:0123456789ab:>', '<masked q8Zk2mVx7LpR>', '<?q8Zk2mVx7?>'],
    ...['Example2026!', 'example-Zx9kLq22', 'Zx9kLq22example77', 'postgres%3A%2F%2Fu%3AZx9%40db.example.org'],
  ])('%s is none', (value) => {
    expect(isPlaceholder(value, true)).toBe(false);
  });

  it('are whole values in your own rules and in rules about people', () => {
    const email = '[a-z.]+@[a-z.]+';
    expect(mask('to ada@example.com', { rules: { 'pii/contact:email': email } })).toBe('to <:email:>');
    expect(mask('to ada@example.com', { rules: { EMAIL: email } })).toBe('to <:EMAIL:>');
    expect(mask('x@y', { rules: { 'secrets/a:b': email } })).toBe('<:b:>');
  });
});

describe('brackets of a mask', () => {
  const rules = { ...{ 'a/b:token': TOKEN }, 'a/b:pin': 'pin|tok' };

  it('hide nothing but masks of rules in use', () => {
    expect(mask('<:tk_01234567:> x<:tk_01234567> <:x:tk_01234567:>')).toBe(
      '<:<:token:>:> x<:<:token:>> <:x:<:token:>:>',
    );
    expect(mask('<:token:> <:a/b:token:> <:tok:>', { rules })).toBe('<:token:> <:a/b:token:> <:<:pin:>:>');
  });

  it('hold what an action adds to the name of a rule, and nothing else', () => {
    const redactor = createRedactor(
      RedactProcessConfig.parse({
        plugin: 'redact',
        rules: { NUMBER: '[0-9]{4,}' },
        packs: [],
        action: { NUMBER: { keep_last: 4 } },
      }),
      { now: () => 0, onMask: () => {} },
    );
    const masked = redactor.maskText('1234567890123456');
    expect(masked).toBe('<:NUMBER:3456:>');
    expect(redactor.maskText(`${masked} <:NUMBER:12345:> <:OTHER:3456:>`)).toBe(
      `${masked} <:NUMBER:<:NUMBER:5:>:> <:OTHER:<:NUMBER:6:>:>`,
    );
  });
});

describe('values in brackets', () => {
  const secrets = redactor({ rules: resolvePackRules(['secrets/context']) });

  it.each([
    ['user=<bob> password=<tr0ub4dor>', 'user=<bob> password=<<:password:>>'],
    ['password="<Horse!Battery7>" x', 'password="<:password:>" x'],
    ['api_key=<k3dEf9hIjk2mnOpq5stUvwXy>', 'api_key=<<:token:>>'],
    ['password=<:hunter2Xq:>', 'password=<:<:password:>:>'],
    ['password=<your-password> secret=<32 chars>', 'password=<your-password> secret=<32 chars>'],
    ['password=<:password:> token=<:other-rule:>', 'password=<:password:> token=<:other-rule:>'],
    ['token=<%q8Zk2mVx7LpR4tYw9BnC3dFg%>', 'token=<<:token:>>'],
    ['password=<masked q8Zk2mVx7LpR4tYw>', 'password=<masked <:password:>>'],
    ['token=<secret-q8Zk2mVx7LpR4tYw9BnC3dFg>', 'token=<<:token:>>'],
    ['password=<removed-hunter2xyz>', 'password=<<:password:>>'],
    ['api_key=<:x:d41d8cd98f00b204e9800998ecf8427e:>', 'api_key=<:<:token:>:>'],
    ['password=<Winter.2026>', 'password=<<:password:>>'],
    ['password=<Winter.2026', 'password=<:password:>'],
    ['password=<redacted 4096 bytes> <filtered>', 'password=<redacted 4096 bytes> <filtered>'],
  ])('%s', (text, masked) => {
    expect(secrets(text)).toBe(masked);
    expect(secrets({ text })).toEqual({ text: masked });
  });
});

describe('colours and escapes', () => {
  const rules = {
    'secrets/test:key': { match: 'key["\']?\\s*[=:]\\s*["\']?(\\w+)', mask: 1, keywords: ['key'] },
  };
  const written = (text: string) => text.replaceAll('␛', '\x1b');

  it.each([
    ['␛[1mkey␛[0m=␛[38;5;208mabc12␛[0m', '␛[1mkey␛[0m=␛[38;5;208m<:key:>␛[0m'],
    ['{␛[34;1m"key"␛[0m: ␛[32m"abc12"␛[m}', '{␛[34;1m"key"␛[0m: ␛[32m"<:key:>"␛[m}'],
    ['k␛[01;31m␛[Key␛[m␛[K=ab␛[7mc12␛[27m.', 'k␛[01;31m␛[Key␛[m␛[K=<:key:>␛[27m.'],
    ['{"log":"\\u001b[36mkey\\u001B[0m=abc12"}', '{"log":"\\u001b[36mkey\\u001B[0m=<:key:>"}'],
    ['\\e[1mkey\\e[0m=\\033[1mabc12', '\\e[1mkey\\e[0m=\\033[1m<:key:>'],
    ['␛[1mkey␛[0m', '␛[1mkey␛[0m'],
    ['{"k\\u0065y":"a\\u0062c12"}', '{"k\\u0065y":"<:key:>"}'],
    ['"{\\"\\\\u006bey\\":\\"', '"{\\"\\\\u006bey\\":\\"'],
  ])('hide no value: %s', (text, masked) => {
    expect(mask(written(text), { rules })).toBe(written(masked));
    const [field] = [written(text)].map((message) => redactor({ rules })({ message }));
    expect(field).toEqual({ message: written(masked) });
  });

  it('take time in proportion to the text', () => {
    const part = '\x1b[31mkey=abc12\x1b[0m ';
    const start = process.cpuUsage().user;
    const masked = mask(part.repeat(32_000), { rules });
    expect(masked).toBe(part.replace('abc12', '<:key:>').repeat(32_000));
    // It was more than ten seconds.
    expect((process.cpuUsage().user - start) / 1e6).toBeLessThan(4);
  });

  it('are searched in bounded time', () => {
    let isLimited = false;
    const seen: boolean[] = [];
    const slow = { key: { match: '[a-z ]*key=([a-z0-9]+)', mask: 1, keywords: ['key'] } };
    const limited = new Redactor({
      ...{ rules: slow, confidence: 'medium', allowedValues: [], allowedKeys: [] },
      decode: { json: 0, percent: 0, base64: 0 },
      replace: (value) => {
        seen.push(isLimited);
        return '*'.repeat(value.length);
      },
      boundTime: (work) => {
        isLimited = true;
        try {
          return work();
        } finally {
          isLimited = false;
        }
      },
    });
    const text = `${'x '.repeat(10_000)}\x1b[1mkey=`;
    expect(limited.maskText(`${text}abc12`)).toBe(`${text}*****`);
    // Rules run twice: one time to find that something is masked, and one to find where. What is put in at the end takes no time.
    expect(seen).toEqual([true, true, false]);
  });

  it('hide no value of a field', () => {
    expect(redactor({ rules })({ key: '\x1b[31mabc12\x1b[0m' })).toEqual({ key: '<:key:>' });
  });

  it('limits the time of saying where values of fields were, and fails closed', () => {
    const events = () =>
      new Redactor({
        ...{
          rules: { PIN: { match: '[a-z": ]*pin": "[a-z ]*([0-9]{4})', mask: 1, keywords: ['pin'] } },
          confidence: 'medium',
        },
        ...{ allowedValues: [], allowedKeys: [], decode: { json: 0, percent: 0, base64: 0 } },
        replace: () => '*',
        onFind: () => {},
        boundTime: () => {
          throw new Error('too slow');
        },
      });
    expect(() => events().maskEvent({ pin: `${'x '.repeat(10_000)}1234` })).toThrow('too slow');
    expect(events().maskEvent({ pin: 'none' })).toEqual({ pin: 'none' });
  });

  it('are no part of a place, of a count and of what an action gets', () => {
    const found: unknown[] = [];
    const counts: unknown[] = [];
    const coloured = new Redactor({
      ...{ rules, confidence: 'medium', allowedValues: [], allowedKeys: [] },
      decode: { json: 2, percent: 1, base64: 2 },
      replace: (value) => '*'.repeat(value.length),
      onFind: (finding) => found.push(finding),
      onMask: (...count) => counts.push(count),
    });
    expect(coloured.maskText(written('␛[1mkey␛[0m=a␛[7mb␛[0mc key=d'))).toBe(
      written('␛[1mkey␛[0m=*** key=*'),
    );
    expect(counts).toEqual([
      ['secrets/test:key', 1],
      ['secrets/test:key', 1],
    ]);
    expect(found).toEqual([
      { rule: 'secrets/test:key', start: 12, end: 23 },
      { rule: 'secrets/test:key', start: 28, end: 29 },
    ]);
  });
});

describe('decoding', () => {
  it.each<[string, string]>([
    ['base64', base64('the token is tk_01234567')],
    ['base64url without padding', Buffer.from('??>> tk_01234567>>').toString('base64url')],
    ['base64 twice', base64(base64('the token is tk_01234567'))],
    ['base64 of UTF-16', Buffer.from('use tk_01234567', 'utf16le').toString('base64')],
    ['percent', 'tk%5F01234567'],
    ['percent of base64', encodeURIComponent(base64('a tk_01234567>>>???'))],
  ])('masks a whole token: %s', (_, token) => {
    expect(mask(`x ${token} y`)).toBe('x <:token:> y');
    expect(mask({ data: { a: [token] } })).toEqual({ data: { a: ['<:token:>'] } });
  });

  it('masks JSON strings with escapes', () => {
    const text = JSON.stringify({ a: 'no', b: 'a \u0001tk_01234567'.replace('_', '_') });
    expect(mask(text)).toBe('{"a":"no","b":"a \\u0001<:token:>"}');
    expect(mask('{"b":"tk\\u005f01234567","c":"\\u005f"}')).toBe('{"b":"<:token:>","c":"\\u005f"}');
  });

  it('sees through as many layers as it may', () => {
    const twice = base64(base64('the token is tk_01234567'));
    expect(mask(twice, { decode: { base64: 1 } })).toBe(twice);
    expect(mask('tk%5F01234567', { decode: { percent: 0 } })).toBe('tk%5F01234567');
    expect(mask('"tk\\u005f01234567"', { decode: { json: 0 } })).toBe('"tk\\u005f01234567"');
  });

  it('masks text in UTF-16 that was read as UTF-8, as a whole', () => {
    const wide = (text: string) => Buffer.from(text, 'utf16le').toString();
    expect(mask(wide('a tk_01234567 b'))).toBe('<:token:>');
    expect(mask(wide('nothing here'))).toBe(wide('nothing here'));
    // Also in a field whose key has a keyword.
    expect(mask({ tk_: wide('a tk_01234567 b') })).toEqual({ tk_: '<:token:>' });
  });

  it('leaves the rest of a text whose NULs hide nothing', () => {
    expect(mask('tk_01234567\0 b')).toBe('<:token:>\0 b');
    expect(mask('a\0b tk_01234567 c')).toBe('a\0b <:token:> c');
    expect(mask({ tk_: 'a tk_01234567\0 b' })).toEqual({ tk_: 'a <:token:>\0 b' });
    expect(mask('a tk_0\x001234567 b')).toBe('<:token:>');
  });

  it('masks a value with NULs that is a secret only behind its key', () => {
    const rules = { api: { match: 'apikey": "([0-9a-f]{16})"', mask: 1, keywords: ['apikey'] } };
    const counts: [string, number][] = [];
    const onMask = (rule: string, count: number) => void counts.push([rule, count]);
    const wide = Buffer.from('0123456789abcdef', 'utf16le').toString();
    expect(mask({ apikey: wide }, { rules, onMask })).toEqual({ apikey: '<:api:>' });
    expect(mask({ apikey: '0123\x00456789abcdef' }, { rules, onMask })).toEqual({ apikey: '<:api:>' });
    expect(counts).toEqual([
      ['api', 1],
      ['api', 1],
    ]);
    expect(mask({ apikey: 'no\0ne', other: wide }, { rules })).toEqual({ apikey: 'no\0ne', other: wide });
  });

  it('leaves other tokens, and counts one for a token', () => {
    const counts: [string, number][] = [];
    const tokens = [
      base64('nothing to see in this text'),
      '59601e367f33496cf24050ceea80dc6e',
      'a%20b%2',
      'a\\"b"',
    ];
    const text = tokens.join(' ');
    expect(mask(text, { onMask: (rule, count) => void counts.push([rule, count]) })).toBe(text);
    expect(counts).toEqual([]);
    mask(base64('tk_01234567 and tk_01234567'), { onMask: (rule, count) => void counts.push([rule, count]) });
    expect(counts).toEqual([['a/b:token', 1]]);
  });
});

describe('a mask', () => {
  it('fails closed', () => {
    expect(() => mask({ data: new Map() })).toThrow(MaskError);
    const boundTime = () => {
      throw new MaskError('too long');
    };
    const rules = { T: { ...TOKEN, match: 'tk_[a-z]*[a-z]*[a-z]*[0-9]' } };
    expect(() => mask(`tk_${'a'.repeat(1000)}`, { rules, boundTime })).toThrow('too long');
  });
});

describe('a search for names of keys', () => {
  it('is watched as soon as it is late, in the middle of a text too', () => {
    const id = 'secrets/context:password';
    let asked = 0;
    const watched: number[] = [];
    const limited = new Redactor({
      rules: { [id]: resolvePackRules(['secrets/context'])[id] as RedactRule },
      ...{ confidence: 'medium', allowedValues: [], allowedKeys: [] },
      decode: { json: 0, percent: 0, base64: 0 },
      replace: () => '*',
      isLate: () => ++asked > 2,
      boundTime: (work, length) => {
        watched.push(length);
        return work();
      },
    });
    const text = 'password. '.repeat(20_000);
    expect(limited.maskText(text)).toBe(text);
    expect(watched).toEqual([text.length]);
  });
});

describe('bitsPerCharacter', () => {
  it.each([
    ['', 0],
    ['aaaa', 0],
    ['abab', 1],
    ['abcd', 2],
  ])('of %j is %d', (text, bits) => expect(bitsPerCharacter(text)).toBe(bits));
});

describe('a value that fails a check', () => {
  const card = { match: '[0-9]{13,19}', check: 'card' };
  const CARD = '4111111111111111';

  it.each<[string, string, RedactRule, string]>([
    ['a card behind other digits', `12${CARD}`, card, '12<:R:>'],
    ['the value of a group', `key=key=${CARD}`, { ...card, match: 'key=([^ ]+)', mask: 1 }, 'key=key=<:R:>'],
    [
      'a random value behind a plain one',
      'key:aaaaaaaakey:q7Xw2Lk9Zp',
      { match: 'key:(\\S+)', mask: 1, check: { entropy: 3.3 } },
      'key:aaaaaaaakey:<:R:>',
    ],
    ['one of two groups', `1 ${CARD}`, { ...card, match: '(\\d+) (\\d+)', mask: [1, 2] }, '1 <:R:>'],
  ])('does not hide %s', (_, text, rule, wanted) => {
    expect(mask(text, { rules: { R: rule } })).toBe(wanted);
  });

  it('is not searched for parts if it is allowed, or a placeholder', () => {
    const rule = { match: '[\\w-]+', check: { entropy: 1 } };
    expect(mask('build-123', { rules: { R: { ...rule, allow: ['^build-'] } } })).toBe('build-123');
    expect(mask('build-123', { rules: { R: rule }, allowedValues: ['^build-'] })).toBe('build-123');
    expect(mask('changeme', { rules: { 'secrets/test:R': rule } })).toBe('changeme');
  });

  it('costs in proportion to the length of the text, and is passed over when that is spent', () => {
    let checked = 0;
    const rule: MaskRule = {
      name: 'R',
      expression: /a+b?/,
      groups: [0],
      accepts: (value) => {
        checked += value.length;
        return value === 'ab' || 'search-inside';
      },
      replace: () => '*',
    };
    expect(applyRulesInOrder('aaaab', [rule])).toBe('aaa*');
    checked = 0;
    const long = 'a'.repeat(10_000);
    expect(compileMaskRules([rule]).mask(`${long}b ab`)).toBe(`${long}b *`);
    expect(checked).toBeLessThan(18 * long.length);
  });
});
