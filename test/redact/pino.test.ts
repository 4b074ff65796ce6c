import { hostname } from 'node:os';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import pino, { type DestinationStream, type Logger, type LoggerOptions } from 'pino';
import { createRedactor, type Redactor } from '../../redact/index.ts';
import { redactedDestination, redactedLogMethod, redactedStreamWrite } from '../../redact/pino.ts';

/** Not in the format of any provider: found only by what it is the value of. */
const SECRET = 'Tr0ub4dor&3';
const TOKEN = 'ghp_16C7e42F292c6912E7710c838347Ae178B4a';
const redactor = createRedactor();

type Make = (write: (line: string) => void, options?: LoggerOptions) => Logger;
const FORMS: Readonly<Record<string, Make>> = {
  streamWrite: (write, options = {}) =>
    pino({ ...options, hooks: { ...options.hooks, streamWrite: redactedStreamWrite(redactor) } }, { write }),
  destination: (write, options = {}) =>
    pino(options, redactedDestination<DestinationStream>(redactor, { write })),
  logMethod: (write, options = {}) =>
    pino({ ...options, hooks: { ...options.hooks, logMethod: redactedLogMethod(redactor) } }, { write }),
};

function logging(make: Make, use: (logger: Logger) => void, options?: LoggerOptions) {
  const lines: string[] = [];
  use(make((line) => void lines.push(line), options));
  for (const line of lines) expect(line).toMatch(/^\{.*\}\n$/);
  const text = lines.join('');
  expect(text).not.toContain(SECRET);
  expect(text).not.toContain(TOKEN);
  return lines.map((line) => JSON.parse(line));
}

describe.each(Object.entries(FORMS))('pino with %s', (name, make) => {
  it('masks messages, with what %s stands for', () => {
    const records = logging(make, (log) => {
      log.info(`password=${SECRET}`);
      log.info('password=%s', SECRET);
      log.info('password=%s of %d users, %j %o', SECRET, 3, { pin: 1 }, { user: 'ada' });
      log.info({ user: 'ada' }, 'token %s', TOKEN);
      log.info('%s has %d%%', 'ada', 100);
      log.info(undefined, `password=${SECRET}`);
    });
    expect(records.map(({ msg }) => msg)).toEqual([
      'password=<:password:>',
      'password=<:password:>',
      expect.stringContaining('password=<:password:> of 3 users, {"pin":'),
      expect.stringMatching(/^token <:[\w-]+:>$/),
      'ada has 100%',
      'password=<:password:>',
    ]);
  });

  it('masks fields at any depth by their keys, and secrets in keys', () => {
    const [record] = logging(make, (log) =>
      log.warn({
        db: { pool: [{ password: SECRET }] },
        [TOKEN]: true,
        env: { name: 'DB_PASSWORD', value: SECRET },
      }),
    );
    expect(record.db).toEqual({ pool: [{ password: '<:password:>' }] });
    expect(record.env).toEqual({ name: 'DB_PASSWORD', value: '<:password:>' });
    expect(record.level).toBe(40);
  });

  it('masks errors with their causes, aggregates and fields', () => {
    const records = logging(make, (log) => {
      const cause = Object.assign(new Error(`password=${SECRET}`), {
        config: { headers: { authorization: `Bearer ${TOKEN}` } },
      });
      const error = new TypeError(`connect failed: postgres://ada:${SECRET}@db/app`, { cause });
      log.error(error);
      log.error(error, 'with a message');
      log.error({ err: error, user: 'ada' });
      log.error(new AggregateError([cause, error], 'several'));
      log.error({ err: { message: `password=${SECRET}` } });
    });
    expect(records[0].err).toMatchObject({
      type: 'TypeError',
      message: expect.stringContaining('connect failed'),
    });
    expect(records[0].msg).toContain('connect failed: postgres://ada:<:');
    expect(records[1].msg).toBe('with a message');
    expect(records[2].err.stack).toContain('caused by: Error: password=<:password:>');
    expect(records[3].err.aggregateErrors).toHaveLength(2);
  });

  it('masks what serialisers return', () => {
    const [record] = logging(make, (log) => log.info({ user: new User('ada'), req: new Request() }), {
      serializers: {
        user: (user: User) => ({ id: user.id, password: user.secret() }),
        req: ({ url, headers }: Request) => ({ url, headers }),
      },
    });
    expect(record.user).toEqual({ id: 'ada', password: '<:password:>' });
    expect(record.req.headers.authorization).toContain('<:');
    expect(record.req.url).toMatch(/^\/login\?user=ada&token=<:/);
  });

  it('shows what JSON shows of odd values, or nothing', () => {
    const circular: Record<string, unknown> = { password: SECRET };
    circular.self = circular;
    const [record] = logging(make, (log) =>
      log.info({
        circular,
        buffer: Buffer.from(SECRET),
        map: new Map([['password', SECRET]]),
        big: 12345678901234567890n,
        json: { toJSON: () => ({ password: SECRET }) },
        getter: {
          get password() {
            throw new Error(SECRET);
          },
          user: 'ada',
        },
        nested: JSON.stringify({ db: { password: SECRET }, again: JSON.stringify({ password: SECRET }) }),
        fn: () => SECRET,
        date: new Date(0),
      }),
    );
    expect(record.circular.password).toBe('<:password:>');
    expect(JSON.stringify(record)).not.toContain(Buffer.from(SECRET).toString('base64'));
    expect(JSON.stringify(record)).not.toContain(Buffer.from(SECRET).toJSON().data.slice(0, 4).join());
    expect(record.map).toEqual({});
    expect(record.json).toEqual({ password: '<:password:>' });
    expect(record.date).toBe('1970-01-01T00:00:00.000Z');
  });

  it('keeps level, time, pid, hostname and reqId, also with all packs', () => {
    const all = createRedactor({ packs: 'all', confidence: 'low' });
    const lines: string[] = [];
    const write = (line: string) => void lines.push(line);
    const log = pino(
      name === 'streamWrite' ? { hooks: { streamWrite: redactedStreamWrite(all) } } : {},
      name === 'destination' ? redactedDestination<DestinationStream>(all, { write }) : { write },
    );
    log.child({ reqId: 'req-4f' }).info('hello');
    expect(JSON.parse(lines[0] as string)).toEqual({
      level: 30,
      time: expect.any(Number),
      pid: process.pid,
      hostname: hostname(),
      reqId: 'req-4f',
      msg: 'hello',
    });
  });

  it('logs at its levels only, and custom ones', () => {
    const records = logging(
      make,
      (log) => {
        log.debug(`password=${SECRET}`);
        log.fatal(`password=${SECRET}`);
        (log as unknown as Logger<'audit'>).audit({ password: SECRET });
      },
      { level: 'info', customLevels: { audit: 35 } },
    );
    expect(records.map(({ level }) => level)).toEqual([60, 35]);
  });
});

describe.each(Object.entries(FORMS).slice(0, 2))('pino with %s', (_, make) => {
  it('masks bindings of children, mixins, formatters and options', () => {
    const records = logging(
      make,
      (log) => {
        const child = log.child({ session: { token: TOKEN }, password: SECRET });
        child.info('child');
        child.child({ password: 'other' }, { msgPrefix: `password=${SECRET} ` }).info('grandchild');
        child.setBindings({ apiKey: SECRET });
        child.info('more');
      },
      {
        base: { pid: 1, password: SECRET },
        mixin: () => ({ mixed: { password: SECRET } }),
        formatters: {
          log: (object) => ({ ...object, formatted: { password: SECRET } }),
          level: (level) => ({ level }),
        },
        timestamp: pino.stdTimeFunctions.isoTime,
        messageKey: 'message',
        nestedKey: 'payload',
      },
    );
    expect(records[0]).toMatchObject({
      level: 'info',
      time: expect.stringMatching(/Z$/),
      password: '<:password:>',
      session: { token: expect.stringContaining('<:') },
      payload: { mixed: { password: '<:password:>' }, formatted: { password: '<:password:>' } },
      message: 'child',
    });
    expect(records[1].message).toBe('password=<:password:> grandchild');
    expect(records[2].apiKey).toContain('<:');
  });

  it('masks values that are bound to a statement', () => {
    const text = 'UPDATE users SET password = $1 WHERE name = $2';
    const [record] = logging(make, (log) =>
      log.info({ id: 2n ** 64n, query: { text, values: [SECRET, 'ada'] } }),
    );
    expect(record.query).toEqual({ text, values: ['<:password:>', 'ada'] });
  });

  it('keeps integers that are no number of JavaScript', () => {
    const [record] = ((): string[] => {
      const lines: string[] = [];
      make((line) => void lines.push(line)).info({
        id: 12345678901234567890n,
        list: [9007199254740993n],
        text: '12345678901234567890',
      });
      return lines;
    })();
    expect(record).toContain(
      '"id":12345678901234567890,"list":[9007199254740993],"text":"12345678901234567890"',
    );
  });

  it('does not take a secret for a field of pino', () => {
    const [record] = logging(make, (log) =>
      log.info({ hostname: TOKEN, reqId: TOKEN, time: `password=${SECRET}`, pid: { password: SECRET } }),
    );
    expect(record.reqId).toContain('<:');
  });
});

describe('redactedLogMethod', () => {
  const { logMethod } = FORMS as { logMethod: Make };

  it('takes nothing for a request or response that pino takes for an object', () => {
    const [response, request] = logging(logMethod, (log) => {
      log.info({ setHeader: 1, password: SECRET });
      log.info({ method: '', headers: 1, socket: 1, password: SECRET });
    });
    expect(response).toMatchObject({ setHeader: 1, password: '<:password:>' });
    expect(request).toMatchObject({ headers: 1, password: '<:password:>' });
  });

  it('throws nothing, whatever is logged', () => {
    const refuse = () => {
      throw new Error(SECRET);
    };
    let error = new Error(`password=${SECRET}`);
    for (let i = 0; i < 5000; i++) error = new Error('c', { cause: error });
    const records = logging(logMethod, (log) => {
      log.error(error);
      log.info(new Proxy({}, { get: refuse, has: refuse, ownKeys: refuse }));
      log.info(new Proxy(new Error(SECRET), { ownKeys: refuse }));
    });
    expect(records.map(({ msg }) => String(msg).slice(0, 16))).toEqual([
      'c',
      '<:unmaskable:>',
      '<:unmaskable:>',
    ]);
  });
});

describe('redactedDestination', () => {
  it('masks the last lines of a stream, too', async () => {
    const stream = new PassThrough();
    redactedDestination(createRedactor(), stream).end('{"password":"Tr0ub4dor&3"}\n');
    expect(String(await stream.toArray())).toBe('{"password":"<:password:>"}\n');
  });

  it('is the destination in all else', () => {
    const calls: string[] = [];
    const destination = redactedDestination(redactor, {
      write: (line: string) => calls.push(line),
      flushSync: () => calls.push('flushSync'),
      flush: (done: () => void) => {
        calls.push('flush');
        done();
      },
    });
    const log = pino({}, destination);
    log.info(`password=${SECRET}`);
    log.flush();
    destination.flushSync();
    expect(calls.slice(1)).toEqual(['flush', 'flushSync']);
    expect(calls[0]).toContain('password=<:password:>');
  });

  it('masks what multistream and streams with metadata get', () => {
    const lines: string[] = [];
    const errors: string[] = [];
    const seen: unknown[] = [];
    const withMetadata = {
      [Symbol.for('pino.metadata')]: true,
      lastObj: undefined as unknown,
      lastMsg: undefined as unknown,
      write(line: string) {
        seen.push(line, this.lastObj, this.lastMsg);
      },
    };
    const streams = pino.multistream([
      { stream: { write: (line: string) => void lines.push(line) } },
      { level: 'error', stream: { write: (line: string) => void errors.push(line) } },
      { stream: withMetadata },
    ]);
    const log = pino({}, redactedDestination(redactor, streams));
    log.info({ password: SECRET }, `password=${SECRET}`);
    log.error({ password: SECRET });
    expect([lines.length, errors.length]).toEqual([2, 1]);
    expect(JSON.stringify([lines, errors, seen])).not.toContain(SECRET);
    expect(seen[1]).toEqual({ password: '<:password:>' });
  });

  it('masks several lines, bytes, and what is no JSON', () => {
    const lines: string[] = [];
    const destination = redactedDestination<{ write(lines: string | Uint8Array): unknown }>(redactor, {
      write: (line) => lines.push(line as string),
    });
    destination.write(`{"password":"${SECRET}"}\n{"password":"${SECRET}","password":"x"}\r\n`);
    destination.write(Buffer.from(`{"msg":"grüße, password=${SECRET}"}\n`));
    destination.write(`{"password":"${SECRET}"`);
    destination.write(`[{"password":"${SECRET}"}]\n`);
    expect(lines.join('')).not.toContain(SECRET);
    expect(lines[0]).toBe('{"password":"<:password:>"}\n{"password":"x"}\r\n');
    expect(lines[1]).toBe('{"msg":"grüße, password=<:password:>"}\n');
  });

  it('stays around a destination whose methods return it', () => {
    const lines: string[] = [];
    const destination = redactedDestination(redactor, {
      on() {
        return this;
      },
      write: (line: string) => lines.push(line),
    });
    destination.on().write(`{"password":"${SECRET}"}\n`);
    expect(lines).toEqual(['{"password":"<:password:>"}\n']);
  });

  it('replaces a record that cannot be masked, and counts it', () => {
    const strict = createRedactor({ maxLength: 100 });
    const line = redactedStreamWrite(strict)(
      `{"level":30,"time":1767225600000,"msg":"${'x'.repeat(101)} password=${SECRET}"}\n`,
    );
    expect(JSON.parse(line)).toEqual({ level: 30, time: 1767225600000, msg: '<:unmaskable:>' });
    const deep = `{"level":30,"a":${'['.repeat(5000)}"password=${SECRET}"${']'.repeat(5000)}}\n`;
    expect(redactedStreamWrite(strict)(deep)).not.toContain(SECRET);
    expect(strict.report().unmaskable).toBeGreaterThan(1);
  });
});

describe('the arguments of a call', () => {
  const argumentsOf = (own: Redactor, ...args: unknown[]) => {
    const passed: unknown[] = [];
    redactedLogMethod(own).call({}, args, (...masked: unknown[]) => passed.push(...masked));
    return passed;
  };

  it('applies the policies of fields, also to errors', () => {
    const own = createRedactor({ fields: { ssn: 'drop', fault: 'drop' }, keys: ['err', 'cause'] });
    const error = new Error('no login', { cause: new Error('inner') });
    const fields = { ssn: 1, user: 'ada', err: error, ok: true, fault: error, failure: error, last: 'x' };
    const [masked] = argumentsOf(own, fields) as [{ failure: Error }];
    expect(masked).toEqual({ user: 'ada', err: '<:err:>', ok: true, failure: expect.any(Error), last: 'x' });
    expect(masked.failure).toMatchObject({ message: 'no login', cause: '<:cause:>' });
    expect(argumentsOf(own, { last: 'x', ssn: '078-05-1120' })).toEqual([{ last: 'x' }]);
  });

  it('masks keys beside what a serialiser gets', () => {
    expect(argumentsOf(redactor, { [`password=${SECRET}`]: 1, req: new Request(), ok: null })).toEqual([
      { 'password=<:password:>': 1, req: new Request(), ok: null },
    ]);
  });

  it('copies what the getters of an error give', () => {
    const [masked] = argumentsOf(redactor, new HttpError()) as [HttpError];
    expect(masked).toBeInstanceOf(HttpError);
    expect(masked.detail).toBe('password=<:password:>');
  });

  it('leaves percent signs of a message alone', () => {
    expect(argumentsOf(redactor, 'as %%o and %o: password=%s', [1], SECRET)).toEqual([
      'as %o and [1]: password=<:password:>',
    ]);
  });
});

class HttpError extends Error {
  readonly #detail = `password=${SECRET}`;
  get detail(): string {
    return this.#detail;
  }
}

class User {
  readonly id: string;
  readonly #secret = SECRET;
  constructor(id: string) {
    this.id = id;
  }
  secret(): string {
    return this.#secret;
  }
}

class Request {
  readonly url = `/login?user=ada&token=${SECRET}`;
  readonly headers = { authorization: `Bearer ${TOKEN}`, host: 'example.org' };
}
