import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import pc from 'picocolors';
import { createLogger, type LoggerOptions } from '../../src/cli/logger.ts';

// winston is loaded later, by a timer.
beforeEach(() => {
  jest.useFakeTimers({ now: Date.now() });
});
afterEach(() => {
  jest.useRealTimers();
  jest.restoreAllMocks();
});

function logged(options: Partial<LoggerOptions> = {}) {
  const lines: string[] = [];
  const logger = createLogger({
    level: 'info',
    format: 'pretty',
    colours: pc.createColors(false),
    terminal: false,
    write: (line) => lines.push(line),
    ...options,
  });
  return { logger, lines };
}

describe('createLogger, pretty', () => {
  it('begins a line with the date in UTC, or on a terminal with the local time', () => {
    const file = logged();
    file.logger.info('web: running');
    expect(file.lines[0]).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z info {2}web: running\n$/);
    const terminal = logged({ terminal: true });
    terminal.logger.warn('web: failed');
    expect(terminal.lines[0]).toMatch(/^\d\d:\d\d:\d\d warn {2}web: failed\n$/);
  });

  it('adds fields', () => {
    const { logger, lines } = logged();
    logger.error('no room', { bytes: 12, file: 'a b', path: '/tmp/x', none: undefined });
    expect(lines[0]).toMatch(/ error no room bytes=12 file="a b" path=\/tmp\/x\n$/);
  });

  it('lets nothing steer the terminal or start another line', () => {
    const { logger, lines } = logged();
    logger.info('one\n\u001b[2Jtwo', { name: '\u001b[31m' });
    expect(lines[0]).toMatch(/ one\\n\\u001b\[2Jtwo name=.*\n$/);
    expect(lines[0]).not.toContain('\u001b');
  });

  it('returns nothing: winston would return a stream, which a plugin could hand on as events', () => {
    expect(logged().logger.info('x')).toBeUndefined();
  });

  it('paints the level where colours are', () => {
    const { logger, lines } = logged({ colours: pc.createColors(true) });
    logger.error('no');
    expect(lines[0]).toContain('\u001b[31merror\u001b[39m');
  });
});

describe('createLogger, json', () => {
  it('writes one object a line', () => {
    const { logger, lines } = logged({ format: 'json' });
    logger.info('web: running\nnow', { attempt: 2 });
    expect(lines).toHaveLength(1);
    const entry = JSON.parse(lines[0] ?? '');
    expect(Object.keys(entry)).toEqual(['timestamp', 'level', 'message', 'attempt']);
    expect(entry).toMatchObject({ level: 'info', message: 'web: running\nnow', attempt: 2 });
  });

  it('survives fields that JSON cannot hold', () => {
    const { logger, lines } = logged({ format: 'json' });
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    logger.info('round', { circular, big: 10n });
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ message: 'round', big: '10' });
  });
});

describe('levels', () => {
  it.each([
    ['error', 1],
    ['warn', 2],
    ['info', 3],
    ['debug', 4],
  ] as const)('%s logs %d of the four', (level, expected) => {
    const { logger, lines } = logged({ level });
    logger.error('x');
    logger.warn('x');
    logger.info('x');
    logger.debug('x');
    expect(lines).toHaveLength(expected);
  });
});

describe('winston', () => {
  it.each(['pretty', 'json'] as const)('takes over, and logs the same lines (%s)', async (format) => {
    const { logger, lines } = logged({ format, level: 'warn' });
    const log = () => {
      logger.error('no\nroom', { bytes: 12, level: 'x' });
      logger.warn('slow');
      logger.info('left out');
      return lines.splice(0);
    };
    const first = log();
    await jest.advanceTimersByTimeAsync(500);
    jest.setSystemTime(Date.now() - 500);
    const { default: createWinstonLogger } = await import('winston/lib/winston/create-logger.js');
    const { prototype } = createWinstonLogger().constructor;
    const write = jest.spyOn(Object.getPrototypeOf(prototype), 'write');
    await jest.advanceTimersByTimeAsync(0);
    expect(log()).toEqual(first);
    expect(first).toHaveLength(2);
    expect(write).toHaveBeenCalled();
  });

  it('is done without where it cannot be loaded, as while no file can be opened', async () => {
    const load = jest.fn(() => {
      throw Object.assign(new Error('too many open files'), { code: 'EMFILE' });
    });
    jest.unstable_mockModule('winston/lib/winston/create-logger.js', load);
    const { logger, lines } = logged();
    await jest.advanceTimersByTimeAsync(500);
    await jest.advanceTimersByTimeAsync(0);
    logger.info('still here');
    expect(load).toHaveBeenCalled();
    expect(lines).toEqual([expect.stringMatching(/ info {2}still here\n$/)]);
  });
});
