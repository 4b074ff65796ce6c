import { describe, expect, it } from '@jest/globals';
import { pseudonyms, restorePseudonyms } from '../../operators/index.ts';
import { redactMiddleware } from '../../redact/ai.ts';
import { patchConsole } from '../../redact/console.ts';
import {
  createPseudonyms,
  createRedactor,
  iterateRedacted,
  packRules,
  redactedTransform,
  redactFetch,
} from '../../redact/index.ts';
import { redactedNodeTransform } from '../../redact/node.ts';
import { RedactingLogRecordProcessor, RedactingSpanProcessor } from '../../redact/otel.ts';
import { redactedDestination, redactedLogMethod, redactedStreamWrite } from '../../redact/pino.ts';
import { redactTransport } from '../../redact/pino-transport.ts';
import { secretRules } from '../../redact/secrets.ts';
import { redactedFormat } from '../../redact/winston.ts';

const SECRET = 'Tr0ub4dor&3';

/** What a call throws. */
function thrownBy(work: () => unknown): Error & { readonly code?: string } {
  try {
    work();
  } catch (error) {
    return error as Error;
  }
  throw new Error('nothing was thrown');
}

describe('createRedactor refuses', () => {
  it.each<readonly [kind: string, options: unknown, message: string]>([
    ['what is no object', 'all', 'the options must be an object'],
    ['a list as options', ['all'], 'the options must be an object'],
    ['no options', null, 'the options must be an object'],

    ['an option that is misspelt', { pack: 'all' }, "unknown option 'pack'"],
    ['an option of allow', { allow: { key: ['id'] } }, "unknown option 'allow.key'"],
    ['an option of decode', { decode: { base65: 1 } }, "unknown option 'decode.base65'"],
    ['an option of entropy', { entropy: { treshold: 1 } }, "unknown option 'entropy.treshold'"],
    ['an action', { action: { default: { foo: 1 } } }, "unknown option 'action.default.foo'"],
    ['an option of hmac', { action: { default: { hmac: { key_env: 'K' } } } }, 'action.default.hmac.key_env'],
    ['an option of a rule', { rules: { X: { mach: 'a' } } }, "unknown option 'rules.X.mach'"],
    ['an option of a block', { rules: { X: { match: 'a', block: { begin: 'a' } } } }, 'rules.X.block.begin'],
    ['a mode', { rules: { X: { match: 'a', check: { name: 'luhn', mode: 'of' } } } }, 'rules.X.check.mode'],

    ['packs of another type', { packs: 5 }, 'packs must be the name of a pack'],
    ['a pack of another type', { packs: ['default', null] }, 'packs[1] must be'],
    ['a pack without a name', { packs: '' }, 'packs must be'],
    ['a list as allow', { allow: ['x'] }, 'allow must be an object with values or keys'],
    [
      'keys that are no list',
      { allow: { keys: 'password' } },
      'allow.keys must be an array of names of keys',
    ],
    ['values that are no list', { allow: { values: SECRET } }, 'allow.values must be an array'],
    ['a value that is no expression', { allow: { values: [/a/] } }, 'allow.values[0] must be an expression'],
    ['an empty place of a list', { keys: Array(1) }, 'keys[0] must be a string'],
    ['a Map of rules', { rules: new Map([['X', 'a']]) }, 'rules must be an object with rules by their names'],
    ['a list of rules', { rules: ['a'] }, 'rules must be an object with rules by their names'],
    [
      'an empty expression',
      { rules: { X: '' } },
      "rules.X must be an expression as a string, such as 'TK-[0-9]{8}', not an empty string",
    ],
    ['a RegExp', { rules: { X: /a/ } }, 'not a value of type RegExp; write its source'],
    ['a RegExp in a rule', { rules: { X: { match: /a/ } } }, 'rules.X.match must be an expression'],
    ['a rule without an expression', { rules: { X: { mask: 1 } } }, 'rules.X.match must be an expression'],
    [
      'a rule that is none',
      { rules: { X: null } },
      'rules.X must be an expression as a string, or an object',
    ],
    ['a check that there is not', { rules: { X: { match: 'a', check: 'lun' } } }, 'lun'],
    ['a group that there is not', { rules: { X: { match: 'a', mask: 1 } } }, 'X'],
    ['a layer', { decode: { json: '2' } }, 'decode.json must be an integer from 0 to 4'],
    ['too many layers', { decode: { base64: 5 } }, 'decode.base64 must be an integer from 0 to 4, not 5'],
    ['decode that is true', { decode: true }, 'decode must be false, or an object'],
    ['a threshold', { entropy: { threshold: 5 } }, 'entropy.threshold must be a number in [0, 1], not 5'],
    ['a word as an action', { action: { default: 'mask' } }, "action.default must be 'name' or one of"],
    ['an empty action', { action: { default: {} } }, 'action.default must be'],
    ['two actions', { action: { default: { keep_last: 1, mask_char: '*' } } }, 'action.default must be'],
    [
      'two characters',
      { action: { default: { mask_char: 'ab' } } },
      'must be a string of exactly one character, not another string',
    ],
    ['a string as a number', { action: { default: { keep_last: '4' } } }, 'action.default.keep_last must be'],
    ['too many characters', { action: { default: { keep_last: 65 } } }, 'an integer from 1 to 64, not 65'],
    ['a string as hmac', { action: { default: { hmac: SECRET } } }, 'action.default.hmac must be an object'],
    ['hmac without a key', { action: { default: { hmac: {} } } }, 'action.default.hmac.key must be a string'],
    ['an empty key', { fields: { ssn: { hmac: { key: '' } } } }, 'fields.ssn.hmac.key must be a string'],
    ['a short hash', { action: { default: { hmac: { key: SECRET, length: 4 } } } }, 'hmac.length must be'],
    ['a policy that there is not', { fields: { 'a.b': 'hide' } }, "fields['a.b'] must be 'keep', 'drop'"],
    ['pseudonyms that are none', { pseudonyms: {} }, 'which createPseudonyms returns'],
    ['a confidence', { confidence: 'some' }, "confidence must be 'high' or 'medium' or 'low'"],

    [
      'a pattern that allows all keys',
      { allow: { keys: ['id', '*s*', '*'] } },
      'allow.keys[1]: this pattern matches most',
    ],
    [
      'a pattern that allows most keys',
      { allow: { keys: ['*e*'] } },
      'allow.keys[0]: this pattern matches most',
    ],
    ['all keys', { allow: { keys: ['*'] } }, 'allow.keys[0]: `allow.keys` must have names of keys'],
    ['a key without a name', { allow: { keys: ['_'] } }, 'allow.keys[0]:'],
    [
      'an expression for all values',
      { allow: { values: ['.*'] } },
      'allow.values[0]: this expression matches',
    ],
    ['one for most values', { allow: { values: ['[a-z0-9]'] } }, 'allow.values[0]: this expression matches'],
    [
      'an allowed value that is none',
      { allow: { values: ['('] } },
      'allow.values[0] must be a valid regular',
    ],
    [
      'a slow allowed value',
      { allow: { values: ['(a+)+$'] } },
      'allow.values[0] could take exponential time',
    ],
    ['a slow rule', { rules: { X: { match: 'a', allow: ['(a+)+$'] } } }, 'rules.X.allow[0] could take'],
    ['a policy that keeps all', { fields: { '*': 'keep' } }, "fields['*']: this pattern matches most keys"],
    ['a path that is none', { fields: { 'a..b': 'mask' } }, "fields['a..b']: a pattern of `fields` must be"],
    ['keys that are all masked', { keys: ['ssn', '*'] }, 'keys[1]: this pattern matches most keys'],

    [
      'a rule that there is not',
      { disable: ['secrets/context:pasword'] },
      'did you mean secrets/context:password?',
    ],
    ['a rule without its pack', { disable: ['password'] }, 'did you mean secrets/context:password?'],
    ['a rule of another pack', { disable: ['pii/contact:email'] }, 'disable[0]: `disable` must name a rule'],
    ['an own rule in disable', { rules: { X: 'a' }, disable: ['X'] }, 'remove it from `rules` instead'],
    [
      'an action without its rule',
      { action: { 'pii/contact:email': 'name' } },
      "action['pii/contact:email']: no rule",
    ],
    ['no packs', { packs: [] }, 'no rule is left of packs and disable, so nothing would be masked'],
    ['no rules', { disable: ['*'] }, 'no rule is left'],
    ['nothing but fields that stay', { packs: [], fields: { id: 'keep' } }, 'no rule is left'],
  ])('%s', (_kind, options, expected) => {
    const error = thrownBy(() => createRedactor(options as object));
    expect(error.message).toContain(expected);
    expect(error.message).not.toMatch(/Cannot|not a function|not iterable/);
    expect(error.message).not.toContain(SECRET);
    expect(error.name).toMatch(/^(?:Type|Range|Expression)Error$/);
  });
});

describe('createRedactor takes', () => {
  it.each<readonly [kind: string, options: Parameters<typeof createRedactor>[0]]>([
    [
      'options that are undefined',
      { packs: undefined, allow: { keys: undefined }, decode: { json: undefined } },
    ],
    ['options from a prototype', Object.create({ packs: 'all' }) as object],
    ['no packs, with rules', { packs: [], rules: { X: 'a' } }],
    ['no packs, with fields', { packs: [], fields: { '*': 'mask' } }],
    ['no packs, with keys', { packs: [], keys: ['ssn'] }],
    ['no packs, with entropy', { packs: [], entropy: {} }],
    ['no packs, at low confidence', { packs: [], confidence: 'low' }],
    ['patterns of rules', { disable: ['secrets/providers:*'], action: { 'secrets/*': { keep_last: 4 } } }],
    ['actions of rules that are no pack’s', { action: { 'high-entropy': 'name', 'key-fragment': 'name' } }],
    ['fields that keep text', { fields: { message: 'keep' } }],
    ['an expression for some values', { allow: { values: ['^build-[0-9]+$'], keys: ['*_id'] } }],
  ])('%s', (_kind, options) => {
    expect(() => createRedactor(options)).not.toThrow();
  });

  it('rules of packs as its own', () => {
    const { 'pii/contact:email': email } = packRules('pii/contact');
    const redactor = createRedactor({ packs: [], rules: { EMAIL: email as { match: string } } });
    expect(redactor.redact('ada@example.org')).toBe('<:EMAIL:>');
  });
});

describe('a redactor refuses', () => {
  it.each<
    readonly [kind: string, work: (redactor: ReturnType<typeof createRedactor>) => unknown, message: string]
  >([
    [
      'JSON that is undefined',
      (r) => r.redactJson(undefined as never),
      'redactJson: the document must be a string',
    ],
    ['bytes as JSON', (r) => r.redactJson(Buffer.from(SECRET) as never), 'not a value of type Uint8Array'],
    [
      'pseudonyms that are none',
      (r) => r.withPseudonyms({} as never),
      'withPseudonyms: pseudonyms must be a table',
    ],
    ['no pseudonyms', (r) => r.withPseudonyms(undefined as never), 'which createPseudonyms returns'],
  ])('%s', (_kind, work, expected) => {
    const error = thrownBy(() => work(createRedactor({ packs: 'secrets/keys' })));
    expect(error).toBeInstanceOf(TypeError);
    expect(error.message).toContain(expected);
    expect(error.message).not.toContain(SECRET);
  });
});

/** Everything that needs a redactor, with what else it needs. */
const MAKERS: Readonly<Record<string, (redactor: never) => unknown>> = {
  patchConsole: (redactor) => patchConsole(redactor, { ...console }),
  redactedStreamWrite,
  redactedLogMethod,
  redactedDestination: (redactor) => redactedDestination(redactor, { write: () => undefined }),
  redactedFormat,
  redactedTransform: (redactor) => redactedTransform(redactor),
  redactedNodeTransform: (redactor) => redactedNodeTransform(redactor),
  iterateRedacted: (redactor) => iterateRedacted(redactor, []),
  RedactingSpanProcessor: (redactor) => new RedactingSpanProcessor(redactor, PROCESSOR as never),
  RedactingLogRecordProcessor: (redactor) => new RedactingLogRecordProcessor(redactor, PROCESSOR as never),
  redactFetch: (redactor) => redactFetch(fetch, { redactor }),
  redactMiddleware: (redactor) => redactMiddleware({ redactor }),
};
const PROCESSOR = {
  ...{ onStart: () => undefined, onEnd: () => undefined, onEmit: () => undefined },
  ...{ forceFlush: async () => undefined, shutdown: async () => undefined },
};

describe.each(Object.entries(MAKERS))('%s refuses at once', (name, make) => {
  it.each<readonly [kind: string, redactor: unknown]>([
    ['no redactor', undefined],
    ['null', null],
    ['options of createRedactor', { packs: 'all' }],
    ['an object', {}],
    ['a string', SECRET],
    ['createRedactor itself', createRedactor],
  ])('%s', (_kind, redactor) => {
    const error = thrownBy(() => make(redactor as never));
    expect(error).toMatchObject({ name: 'TypeError', code: 'MILLRACE_ARGUMENT' });
    expect(error.message).toMatch(new RegExp(`^${name}: .*must be a redactor, which createRedactor returns`));
    expect(error.message).not.toContain(SECRET);
  });

  it('nothing of a redactor', () => {
    expect(() => make(createRedactor({ packs: 'secrets/keys' }) as never)).not.toThrow();
  });
});

describe('refused at once is', () => {
  const redactor = createRedactor({ packs: 'secrets/keys' });
  it.each<readonly [kind: string, work: () => unknown, message: string]>([
    [
      'a destination that is missing',
      () => redactedDestination(redactor, undefined as never),
      'the destination must be a stream',
    ],
    [
      'a destination without write',
      () => redactedDestination(redactor, {} as never),
      'the destination must be a stream',
    ],
    ['no iterable', () => iterateRedacted(redactor, undefined as never), 'the pieces must be an iterable'],
    ['an object as pieces', () => iterateRedacted(redactor, {} as never), 'the pieces must be an iterable'],
    ['a bound of an iterable', () => iterateRedacted(redactor, [], { mostHeld: 1 }), 'mostHeld'],
    [
      'a span processor without the next',
      () => new RedactingSpanProcessor(redactor, undefined as never),
      'the next processor must be',
    ],
    [
      'a log processor without the next',
      () => new RedactingLogRecordProcessor(redactor, {} as never),
      'the next processor must be',
    ],
    [
      'fetch without options',
      () => redactFetch(fetch, undefined as never),
      'as in { redactor }, not undefined',
    ],
    [
      'fetch with the redactor itself',
      () => redactFetch(fetch, redactor as never),
      'as in { redactor }, not undefined',
    ],
    ['fetch that is none', () => redactFetch(undefined as never, { redactor }), 'fetch must be a function'],
    [
      'an option of fetch',
      () => redactFetch(fetch, { redactor, unmaskabel: 'pass' } as never),
      "'unmaskabel'",
    ],
    [
      'a middleware without options',
      () => redactMiddleware(undefined as never),
      'as in { redactor }, not undefined',
    ],
    [
      'restorePseudonyms without a table',
      () => restorePseudonyms(undefined as never),
      'table must be a table of pseudonyms',
    ],
    [
      'restorePseudonyms with a redactor',
      () => restorePseudonyms(redactor as never),
      'table must be a table of pseudonyms',
    ],
    [
      'pseudonyms with an empty table',
      () => pseudonyms({ rules: { X: 'a' }, table: {} as never }),
      'table must be a table',
    ],
    [
      'an object as ids of rules',
      () => secretRules({ x: 1 } as never),
      'secretRules: disable must be an array of strings',
    ],
    [
      'an object as names of packs',
      () => packRules({ x: 1 } as never),
      'packRules: names must be the name of a pack',
    ],
    [
      'a string as ids of rules',
      () => packRules('default', 'secrets/*' as never),
      'packRules: disable must be',
    ],
    [
      'an option of the transport',
      () => redactTransport({ redactr: { packs: 'all' } } as never),
      "unknown option 'redactr'",
    ],
    [
      'a redactor as options of a redactor',
      () => redactTransport({ redactor: [] } as never),
      'the options must be',
    ],
    [
      'a destination of the transport',
      () => redactTransport({ destination: {} } as never),
      'destination must be',
    ],
    [
      'pseudonyms of no pack',
      () => createPseudonyms({ rules: 'pii/emial' }),
      'rules: no rule of the packs has an id such as pii/emial',
    ],
    [
      'pseudonyms of a pack without rules',
      () => createPseudonyms({ rules: ['pii/*', 'pii/contact'] }),
      'has an id such as pii/contact;',
    ],
    [
      'pseudonyms of no rule',
      () => createPseudonyms({ rules: 'pii/contact:emial' }),
      'such as pii/contact:emial',
    ],
  ])('%s', (_kind, work, expected) => {
    const error = thrownBy(work);
    expect(error.message).toContain(expected);
    expect(error.message).not.toMatch(/Cannot|not a function|not iterable/);
    expect(error).toMatchObject({ code: 'MILLRACE_ARGUMENT' });
  });

  it('no rule that pseudonyms may have', () => {
    const rules = [
      'pii/*',
      'pii/contact:*',
      'pii/contact:email',
      'pii/*:email',
      '*:email',
      '*',
      'CUSTOMER',
      'acme/crm:customer',
    ];
    expect(() => createPseudonyms({ rules })).not.toThrow();
  });

  it('nothing that pino gives its transports', () => {
    expect(() =>
      redactTransport({
        levels: { loud: 35 },
        dedupe: true,
        pinoWillSendConfig: true,
        $context: {},
      } as object),
    ).not.toThrow();
  });
});

describe('redactFetch says why it has sent nothing', () => {
  const sending = redactFetch(
    () => {
      throw new Error('sent');
    },
    { redactor: createRedactor({ packs: 'secrets/keys' }) },
  );
  const url = 'http://localhost/v1/messages';
  const body = JSON.stringify({ input: SECRET });
  it.each<readonly [kind: string, init: RequestInit, message: string]>([
    [
      'text',
      { body, headers: { 'content-type': 'text/plain' } },
      'type of the request is text/plain, as that of a Request',
    ],
    [
      'bytes',
      { body, headers: { 'content-type': 'application/octet-stream' } },
      "octet-stream: set the header 'content-type'",
    ],
    [
      'no type',
      { body, headers: { 'content-type': `${SECRET} ${SECRET}` } },
      'type of the request is another one',
    ],
    ['gzip', { body, headers: { 'content-encoding': 'gzip' } }, 'send its body without one'],
    [
      'a form',
      { body: new URLSearchParams({ a: SECRET }) },
      'the body of the request is neither a string nor bytes',
    ],
    ['text that is no JSON', { body: `{"a":"${SECRET}` }, 'the body of the request is not valid JSON'],
  ])('%s', async (_kind, init, expected) => {
    const refused = sending(url, { method: 'POST', ...init });
    await expect(refused).rejects.toMatchObject({
      name: 'MaskError',
      message: expect.stringContaining(expected),
    });
    await expect(refused).rejects.not.toThrow(SECRET);
  });

  it('a Request without a content type', async () => {
    const request = new Request(url, { method: 'POST', body });
    await expect(sending(request)).rejects.toThrow("set the header 'content-type': 'application/json'");
    const headers = { 'content-type': 'application/json' };
    await expect(sending(new Request(url, { method: 'POST', body, headers }))).rejects.toThrow('sent');
  });
});
