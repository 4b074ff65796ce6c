import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import {
  batchBy,
  CircuitOpenError,
  dedupe,
  delayRange,
  InFlightWindow,
  rateLimit,
  redactor,
  regexMask,
  regexMasker,
} from '../../operators/index.ts';
import { defineProcessor, Manager, packRules, registerPlugin } from '../../src/index.ts';
import { ERROR_TABLE, type ErrorCode } from '../../src/sdk/error-table.ts';
import {
  isPermanent,
  loggable,
  MillraceError,
  PluginError,
  safeReason,
  stackPlaces,
} from '../../src/sdk/errors.ts';
import { marbles } from '../../src/testing/marbles.ts';
import { ROOT } from '../support/build.ts';
import { folderWith } from '../support/cli.ts';
import { sourceFiles, withoutComments } from '../support/sources.ts';

/** Apart from environment variables: that of the fault tests, and that of `--admin`. */
const CODE = /\bMILLRACE_(?!SEED\b|ADMIN_TOKEN\b)[A-Z_]*[A-Z]\b/g;

const sources = sourceFiles('operators', 'plugins', 'src').filter(
  ({ path }) => path !== 'src/sdk/error-table.ts',
);
const codes = Object.keys(ERROR_TABLE);
const rows = Object.entries(ERROR_TABLE).map(([code, info]) => ({ code, ...info }));

/** Errors that no program sees, each with the reason. Any other one is thrown with a code. */
const WITHOUT_CODE: Readonly<Record<string, string>> = {
  'operators/files/': 'errors of files have the codes of Node.js, such as ENOENT',
  'operators/from-node-stream.ts': 'passes on the error of a stream',
  'operators/masks/mask-run.ts': 'caught: the strings are masked again, under a watch',
  'operators/masks/rows-masker.ts': 'a mistake in a mask, for which the rows fail',
  'plugins/http-in/request-body.ts': 'nobody is there who could be answered',
  'plugins/masks/redact-actions.ts': 'checked when the configuration is loaded',
  'plugins/packs/pack-schema.ts': 'caught by its callers',
  'plugins/packs/packs-from-yaml.ts': 'the build',
  'plugins/packs/rules-of-pack.ts': 'cannot happen',
  'src/config/load-config.ts': 'cannot happen',
  'src/config/tests/values.ts': 'caught by its callers',
  'src/engine/run-scope.ts': 'cannot happen',
  'src/testing/conformance/checks/errors.ts': 'what a plugin under test gets',
  'src/testing/record/': 'caught: the time of a replay is over',
  'src/testing/virtual-disk.ts': 'what a disk answers',
  'src/workers/line-processors.ts': 'counted as a failed event',
};

describe('the table of errors', () => {
  it('has every code of the sources, in order, and no other', () => {
    const used = sources.flatMap(({ text }) => withoutComments(text).match(CODE) ?? []);
    expect(codes).toEqual([...new Set(used)].sort());
  });

  it.each(rows)('says of $code what it means, what throws it, and what to do', (info) => {
    expect(info.meaning).toMatch(/^\S.{10,}/);
    expect(info.thrownBy).toMatch(/^\S.{4,}/);
    expect(info.action).toMatch(/^\S.{10,}/);
  });

  it('is what docs/errors.md has: `npm run errors` writes it', () => {
    const written = join(folderWith(), 'errors.md');
    execFileSync(process.execPath, [join(ROOT, 'docs/write-errors.mjs'), written]);
    expect(readFileSync(join(ROOT, 'docs/errors.md'), 'utf8')).toBe(readFileSync(written, 'utf8'));
  });

  it('has the errors that sources throw: none is a plain Error', () => {
    const plain = sources
      .filter(({ text }) => /\bnew (?:Type|Range|Syntax)?Error\(/.test(withoutComments(text)))
      .map(({ path }) => path);
    const isExcused = (path: string) => Object.keys(WITHOUT_CODE).some((prefix) => path.startsWith(prefix));
    expect(plain.filter((path) => !isExcused(path))).toEqual([]);
    const stale = Object.keys(WITHOUT_CODE).filter(
      (prefix) => !plain.some((path) => path.startsWith(prefix)),
    );
    expect(stale).toEqual([]);
  });

  const open = new CircuitOpenError(5);
  const host = { subscribe: 1 } as never;
  it.each<[ErrorCode, string, () => unknown]>([
    [
      'MILLRACE_ARGUMENT',
      'a Manager with an unknown option',
      () => new Manager({} as never, { x: 1 } as never),
    ],
    ['MILLRACE_ARGUMENT', 'an unknown pack', () => packRules(['secrets/none'] as never)],
    ['MILLRACE_ARGUMENT', 'a pack that is not in a list', () => packRules('secrets/keys' as never)],
    ['MILLRACE_ARGUMENT', 'an unknown option of an operator', () => dedupe({ x: 1 } as never)],
    ['MILLRACE_ARGUMENT', 'a number out of range', () => rateLimit({ count: -1, per: 1 } as never)],
    ['MILLRACE_ARGUMENT', 'a missing bound', () => batchBy({})],
    ['MILLRACE_ARGUMENT', 'bounds in the wrong order', () => delayRange({ minimum: 2, maximum: 1 })],
    ['MILLRACE_ARGUMENT', 'more released than was open', () => new InFlightWindow(1).release(1)],
    ['MILLRACE_ARGUMENT', 'rules that are no object', () => regexMask({ rules: [] as never })],
    [
      'MILLRACE_ARGUMENT',
      'an unknown check',
      () => redactor({ rules: { A: { expression: 'a', check: { name: 'x' } } } } as never),
    ],
    ['MILLRACE_EXPRESSION', 'an expression with a mistake', () => regexMask({ rules: { A: '(' } })],
    [
      'MILLRACE_MASK',
      'a value that cannot be masked',
      () => regexMasker({ rules: { A: 'a' } })({ a: () => host } as never),
    ],
    [
      'MILLRACE_CIRCUIT_OPEN',
      'an open circuit',
      () => {
        throw open;
      },
    ],
    ['MILLRACE_PLUGIN_NAME', 'a plugin without a name', () => registerPlugin('forward', '', {} as never)],
    ['MILLRACE_PLUGIN_CONTRACT', 'a plugin without functions', () => defineProcessor({} as never)],
    ['MILLRACE_TEST_MARBLES', 'marbles that cannot be read', () => marbles('a(')],
  ])('has the code of what is thrown: %s for %s', (code, _, call) => {
    expect(call).toThrow(expect.objectContaining({ code }));
  });

  it('is the only list: comments and other pages name no code that is not there', () => {
    const pages = readdirSync(join(ROOT, 'docs'))
      .filter((name) => name.endsWith('.md'))
      .map((name) => ({ path: `docs/${name}`, text: readFileSync(join(ROOT, 'docs', name), 'utf8') }));
    const unknown = [...pages, ...sources].flatMap(({ path, text }) =>
      (text.match(CODE) ?? []).filter((code) => !codes.includes(code)).map((code) => `${path}: ${code}`),
    );
    expect(unknown).toEqual([]);
  });
});

describe('MillraceError', () => {
  it('has a code, a name, and the cause', () => {
    const cause = new Error('the cause');
    const error = new MillraceError('MILLRACE_USAGE', 'what is wrong', { cause });
    expect(error).toMatchObject({
      code: 'MILLRACE_USAGE',
      name: 'MillraceError',
      message: 'what is wrong',
      cause,
    });
  });

  it('is what a PluginError is, which may be permanent', () => {
    expect(new PluginError('no')).toBeInstanceOf(MillraceError);
    expect(new PluginError('no')).toMatchObject({
      code: 'MILLRACE_PLUGIN',
      name: 'PluginError',
      permanent: false,
    });
    expect(isPermanent(new PluginError('no', { permanent: true }))).toBe(true);
    expect([new PluginError('no'), { permanent: 1 }, null, 'permanent'].some(isPermanent)).toBe(false);
    expect(isPermanent({ permanent: true })).toBe(true);
  });
});

describe('safeReason', () => {
  const SECRET = 'hunter2';

  const thrown = (run: () => unknown): unknown => {
    try {
      run();
    } catch (error) {
      return error;
    }
    throw new Error('nothing was thrown');
  };

  it.each([
    ['a MillraceError', new MillraceError('MILLRACE_USAGE', 'the message')],
    ['a PluginError', new PluginError('the message')],
    ['a PluginError, not of its cause', new PluginError('the message', { cause: new Error(SECRET) })],
  ])('shows the message of %s', (_, error) => {
    expect(safeReason(error)).toBe('the message');
  });

  it('shows what the operating system says, without the path: a plugin may have made it of an event', () => {
    const error = thrown(() => readFileSync(`/no/such/${SECRET}`));
    expect((error as Error).message).toContain(SECRET);
    expect(safeReason(error)).toBe('ENOENT: no such file or directory, open');
  });

  it('shows nothing of a command that cannot be started, or of a name that cannot be resolved', async () => {
    const [notStarted] = await once(spawn(`/no/such/${SECRET}`), 'error');
    expect(safeReason(notStarted)).toBe('ENOENT: no such file or directory, spawn');
    const notFound = { errno: -3008, code: 'ENOTFOUND', syscall: 'getaddrinfo', hostname: SECRET };
    const error = Object.assign(new Error(`getaddrinfo ENOTFOUND ${SECRET}`), notFound);
    expect(safeReason(error)).toBe('ENOTFOUND: host name not found, getaddrinfo');
  });

  it('shows why a request was not answered, which fetch hides in the cause of its error', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, 'close');
    const error = await fetch(`http://127.0.0.1:${port}/?token=${SECRET}`).catch((error: unknown) => error);
    expect(safeReason(error)).toBe('TypeError, caused by ECONNREFUSED: connection refused, connect');
  });

  it.each([
    [{ code: 'CERT_HAS_EXPIRED' }, 'CERT_HAS_EXPIRED: certificate has expired'],
    [
      { cause: { code: 'UND_ERR_SOCKET' } },
      'Error, caused by UND_ERR_SOCKET: connection closed by the other side',
    ],
    [
      { errors: [{ code: 'EHOSTUNREACH', syscall: 'connect', address: SECRET }] },
      'Error, caused by EHOSTUNREACH: host is unreachable, connect',
    ],
  ])('shows of %j the code of the network and its meaning', (fields, shown) => {
    expect(safeReason(Object.assign(new Error(SECRET), fields))).toBe(shown);
  });

  it.each([
    ['what no system defines', { cause: { code: SECRET.toUpperCase(), syscall: SECRET } }],
    ['a cause that is a text', { cause: SECRET }],
  ])('shows no cause that is %s', (_, fields) => {
    expect(safeReason(Object.assign(new Error(SECRET), fields))).toMatch(/^Error at \S+ \(message withheld/);
  });

  it('is not caught in a ring of causes', () => {
    const error = new Error(SECRET);
    error.cause = error;
    expect(safeReason(error)).toMatch(/^Error at \S+ \(message withheld/);
  });

  it.each([
    [{ code: SECRET, syscall: 'open' }, /^Error at \S+ \(message withheld/],
    [{ code: 'EACCES', syscall: `/${SECRET}` }, /^EACCES: permission denied$/],
    [{ code: 'EOWN', syscall: 'open', errno: -2 }, /^Error EOWN at \S+ \(message withheld/],
  ])('shows of %j what cannot be an event', (fields, shown) => {
    const error = Object.assign(new Error(SECRET), fields);
    expect(safeReason(error)).toMatch(shown);
    expect(safeReason(error)).not.toContain(SECRET);
  });

  it('shows the message of an error that is marked as loggable', () => {
    expect(safeReason(loggable(new Error('cannot write to /srv/out')))).toBe('cannot write to /srv/out');
  });

  it('withholds the message of any other error, and shows type, code and place', () => {
    const error = thrown(() => JSON.parse(`{"password": ${SECRET}}`));
    expect((error as Error).message).toContain(SECRET[0]);
    expect(safeReason(error)).toMatch(
      /^SyntaxError at \S+:\d+:\d+ \(message withheld: it could quote an event\)$/,
    );
    const coded = Object.assign(new TypeError(SECRET), { code: 'ERR_X' });
    expect(safeReason(coded)).toMatch(/^TypeError ERR_X at /);
    expect(safeReason(coded)).not.toContain(SECRET);
  });

  it.each([
    ['of its own', Object.assign(new TypeError(SECRET), { name: SECRET }), /^TypeError at /],
    ['of its constructor', Object.assign(new Error(SECRET), { constructor: { name: SECRET } }), /^Error at /],
  ])('shows no name that an error was given: one %s', (_, error, shown) => {
    expect(safeReason(error)).toMatch(shown);
    expect(safeReason(error)).not.toContain(SECRET);
  });

  it('does without a place where an error has none', () => {
    const error = new Error(SECRET);
    delete error.stack;
    expect(safeReason(error)).toBe('Error (message withheld: it could quote an event)');
  });

  it.each([
    [SECRET, 'a thrown string (withheld)'],
    [{ message: SECRET }, 'a thrown object (withheld)'],
    [{ code: SECRET, syscall: 'open', message: SECRET }, 'a thrown object (withheld)'],
    [null, 'a thrown null (withheld)'],
    [undefined, 'a thrown undefined (withheld)'],
    [42, 'a thrown number (withheld)'],
  ])('shows of %j, which is no error, the type', (value, shown) => {
    expect(safeReason(value)).toBe(shown);
  });

  it('shows nothing of a message of many lines, even one that looks like a stack', () => {
    const error = new Error(`first\n    at ${SECRET} (/home/${SECRET}.js:1:2)\n    at /${SECRET}:1:1`);
    expect(safeReason(error)).not.toContain(SECRET);
  });
});

describe('what an error says of itself', () => {
  const PLANTED = 'AKIAQ3ZEBR4LAMP9KQ7X';

  it.each([
    [
      'the name of its class',
      () => Object.defineProperty(class extends Error {}, 'name', { value: PLANTED }),
    ],
    [
      'the name of its class, as of an error',
      () => Object.defineProperty(class extends Error {}, 'name', { value: `${PLANTED} Error` }),
    ],
  ])('%s: is not shown if it names no kind of error', (_, classOf) => {
    const Planted = classOf() as typeof Error;
    expect(safeReason(new Planted('x'))).toMatch(/^Error at /);
  });

  it('a code is shown only if it is written as codes are', () => {
    const withCode = (code: string) => safeReason(Object.assign(new Error('x'), { code }));
    expect(withCode(PLANTED)).toMatch(/^Error at /);
    for (const code of ['ERR_HTTP2_STREAM_ERROR', 'UND_ERR_X', 'HPE_INVALID_CONSTANT', 'DEP0040'])
      expect(withCode(code)).toContain(`Error ${code} at `);
  });

  it('a message that looks like a stack is no place in the code', () => {
    const error = new Error(`x\n    at ${PLANTED} (file:///${PLANTED}.js:1:1)\n    at y:1:1`);
    expect(safeReason(error)).not.toContain(PLANTED);
    expect(stackPlaces(error).join()).not.toContain(PLANTED);
    expect(stackPlaces(error)[0]).toMatch(/errors\.test\.ts:\d+:\d+$/);
    error.message = 'changed after the stack was written';
    expect(stackPlaces(error)).toEqual([]);
  });
});
