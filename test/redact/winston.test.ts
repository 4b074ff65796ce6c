import { Writable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import winston, { type Logger } from 'winston';
import { createRedactor } from '../../redact/index.ts';
import { redactedFormat } from '../../redact/winston.ts';

const SECRET = 'Tr0ub4dor&3';
const TOKEN = 'ghp_16C7e42F292c6912E7710c838347Ae178B4a';
const redactor = createRedactor();
const { combine, json, splat, errors, timestamp, printf, colorize, simple, metadata, logstash } =
  winston.format;
type Format = ReturnType<typeof json>;
const redact = () => redactedFormat(redactor) as Format;

const ORDERS: Readonly<Record<string, () => Format>> = {
  last: () => combine(errors({ stack: true, cause: true }), timestamp(), splat(), json(), redact()),
  first: () => combine(redact(), errors({ stack: true, cause: true }), timestamp(), splat(), json()),
  'in the middle': () =>
    combine(timestamp(), redact(), splat(), errors({ stack: true, cause: true }), json()),
};

async function logging(format: Format, use: (logger: Logger) => void, options = {}): Promise<string[]> {
  const lines: string[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk).trimEnd());
      done();
    },
  });
  const logger = winston.createLogger({
    format,
    transports: [new winston.transports.Stream({ stream })],
    ...options,
  });
  use(logger);
  await new Promise((resolve) => {
    stream.on('finish', resolve);
    logger.on('finish', () => stream.end());
    logger.end();
  });
  expect(lines.join('\n')).not.toContain(SECRET);
  expect(lines.join('\n')).not.toContain(TOKEN);
  return lines;
}

describe.each(Object.entries(ORDERS))('redactedFormat %s', (order, format) => {
  it('masks messages with what %s stands for, and keeps other tokens', async () => {
    const lines = await logging(format(), (log) => {
      log.info(`password=${SECRET}`);
      log.info('password=%s', SECRET);
      log.info('password=%s, 100%% of %d', SECRET, 3, { user: 'ada', token: TOKEN });
      log.info('%s has %d%%', 'ada', 100);
    });
    const records = lines.map((line) => JSON.parse(line));
    expect(records.map(({ message }) => message)).toEqual([
      'password=<:password:>',
      'password=<:password:>',
      'password=<:password:>, 100% of 3',
      'ada has 100%',
    ]);
    expect(records[2]).toMatchObject({ user: 'ada', level: 'info', token: expect.stringContaining('<:') });
  });

  it('masks fields, meta, default meta and children', async () => {
    const lines = await logging(
      format(),
      (log) => {
        log.warn('meta', { db: { password: SECRET }, list: ['--password', SECRET], [TOKEN]: 1 });
        log.child({ session: { token: TOKEN } }).error('child');
        log.log({ level: 'info', message: 'object', password: SECRET });
      },
      { defaultMeta: { service: 'shop', apiKey: SECRET } },
    );
    const records = lines.map((line) => JSON.parse(line));
    expect(records[0]).toMatchObject({
      level: 'warn',
      message: 'meta',
      service: 'shop',
      db: { password: '<:password:>' },
    });
    expect(records[0].timestamp).toMatch(/^\d{4}-.*Z$/);
    expect(records[1].session.token).toContain('<:');
    expect(records[2].password).toBe('<:password:>');
  });

  it('masks errors with their causes', async () => {
    const lines = await logging(format(), (log) => {
      const cause = Object.assign(new Error(`password=${SECRET}`), { token: TOKEN });
      const error = Object.assign(new TypeError(`token ${TOKEN}`, { cause }), {
        sql: { parameters: ['--password', SECRET] },
      });
      log.error(error);
      log.error('failed', error);
      log.error('failed', { err: error });
      log.error(new AggregateError([error], `password=${SECRET}`));
      log.log({ level: 'error', message: error as unknown as string });
    });
    expect(lines).toHaveLength(5);
    expect(JSON.parse(lines[0] as string).stack).toContain('TypeError');
  });

  it('shows odd values as JSON does, or nothing', async () => {
    const circular: Record<string, unknown> = { password: SECRET };
    circular.self = circular;
    const [line = ''] = await logging(format(), (log) =>
      log.info('odd', {
        circular,
        buffer: Buffer.from(SECRET),
        map: new Map([['password', SECRET]]),
        big: 10n,
        json: { toJSON: () => ({ password: SECRET }) },
        // The format `json` throws it by itself.
        ...(order === 'last' ? {} : { getter: new Throwing() }),
        nested: JSON.stringify({ db: { password: SECRET } }),
      }),
    );
    const bytes = Buffer.from(SECRET).toJSON().data;
    expect(line.replace(/\s/g, '')).not.toContain(bytes.slice(0, 4).join());
    expect(JSON.parse(line).circular.password).toBe('<:password:>');
  });
});

describe('redactedFormat', () => {
  it.each(Object.keys(ORDERS))('masks the values of a message object, %s', async (order) => {
    const format = ORDERS[order] as () => Format;
    const [line = ''] = await logging(format(), (log) => {
      log.log({ level: 'info', message: 'user %s, password=%s', splat: ['ada', SECRET] });
    });
    expect(JSON.parse(line).splat).toEqual(['ada', '<:redacted:>']);
  });

  it('keeps levels in colours, and what logform knows of an entry', async () => {
    const info = {
      level: '\x1b[32mINFO\x1b[39m',
      message: 'hello',
      [Symbol.for('level')]: 'info',
      timestamp: '2026-11-27 10:00:00',
    };
    const shown = redactedFormat(createRedactor({ packs: 'all', confidence: 'low' })).transform(info);
    expect(shown).toEqual(info);
    expect(shown).not.toBe(info);
  });

  it('masks the lines of printf, simple, logstash and colorize', async () => {
    const pretty = printf(({ level, message, ...rest }) => `${level} ${message} ${JSON.stringify(rest)}`);
    for (const last of [
      pretty,
      simple(),
      logstash(),
      combine(colorize({ all: true }), simple()),
      combine(metadata(), json()),
    ]) {
      const lines = await logging(combine(splat(), last, redact()), (log) =>
        log.info('password=%s', SECRET, { headers: { authorization: `Bearer ${TOKEN}` } }),
      );
      expect(lines[0]).toContain('<:password:>');
    }
  });

  it('can be the format of a transport', async () => {
    const lines: string[] = [];
    const stream = new Writable({
      write(chunk, _encoding, done) {
        lines.push(String(chunk));
        done();
      },
    });
    const logger = winston.createLogger({
      transports: [new winston.transports.Stream({ stream, format: combine(splat(), json(), redact()) })],
    });
    logger.info('password=%s', SECRET);
    await new Promise((resolve) => stream.end(resolve));
    expect(lines.join('')).toContain('password=<:password:>');
  });

  it('applies the policies of fields, also to errors', () => {
    const { transform } = redactedFormat(createRedactor({ fields: { fault: 'drop' }, keys: ['err'] }));
    const error = new Error('x');
    expect(transform({ level: 'info', message: 'x', err: error, fault: error, failure: error })).toEqual({
      level: 'info',
      message: 'x',
      err: '<:err:>',
      failure: error,
    });
  });

  it('filters nothing, throws nothing and changes no input', () => {
    const meta = Object.freeze({ password: SECRET });
    const info = Object.freeze({
      level: 'info',
      message: 'x',
      meta,
      [Symbol.for('splat')]: Object.freeze([meta]),
    });
    const { transform } = redactedFormat(redactor);
    expect(transform(info)).toMatchObject({ meta: { password: '<:password:>' } });
    const hostile = {
      level: 'info',
      message: 'x',
      get boom() {
        throw new Error(SECRET);
      },
    };
    expect(transform(hostile)).toMatchObject({ boom: '<:unmaskable:>' });
    const refuse = () => {
      throw new Error(SECRET);
    };
    expect(transform(new Proxy({ level: 'warn' }, { ownKeys: refuse }))).toMatchObject({
      level: 'warn',
      message: '<:unmaskable:>',
    });
  });
});

class Throwing {
  get password(): never {
    throw new Error(SECRET);
  }
  toJSON(): never {
    throw new Error(SECRET);
  }
}
