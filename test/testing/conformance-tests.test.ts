import { describe, expect, it, jest } from '@jest/globals';
import { ForwardConfigBase } from '../../src/sdk/config.ts';
import type { CollectedEvent } from '../../src/sdk/events.ts';
import {
  ConformanceError,
  checkPlugin,
  conformanceTests,
  reportText,
} from '../../src/testing/conformance/index.ts';

const good = { get_config_schema: () => ForwardConfigBase, forward() {} };
const bad = { ...good, forward: ({ event }: { event: CollectedEvent }) => event.timestamp };

/** Registers the tests of a plugin and returns them instead. */
function registered(plugin: typeof good): { title: string; tests: [string, () => Promise<void>][] } {
  const tests: [string, () => Promise<void>][] = [];
  let title = '';
  conformanceTests(
    'forward',
    plugin,
    {},
    {
      describe: (name, body) => {
        title = name;
        body();
      },
      it: (name, body) => tests.push([name, body]),
    },
  );
  return { title, tests };
}

describe('checkPlugin', () => {
  it('reports every check, and why one had nothing to look at', async () => {
    const report = await checkPlugin('forward', good);
    expect(report.kind).toBe('forward');
    expect(report.checks).toContainEqual({
      name: 'forward: forwardBatch does what forward does for each event',
      outcome: 'skipped',
      note: 'it has no forwardBatch',
    });
    expect(reportText(report)).toContain('✓ schema: requires `plugin`\n');
    expect(reportText(report)).toContain('each event\n    it has no forwardBatch\n');
  });

  it('rejects with the report, and with what failed as its message', async () => {
    const error = await checkPlugin('forward', bad as never).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ConformanceError);
    const { message, report } = error as ConformanceError;
    expect(message).toMatch(/^this forward plugin fails 1 of 11 checks:\n\n✗ forward: takes events/);
    expect(report.checks.filter(({ outcome }) => outcome === 'failed')).toHaveLength(1);
  });

  it('looks no further if there is no plugin to run', async () => {
    const error = await checkPlugin('forward', {} as never).catch((reason: unknown) => reason);
    expect((error as ConformanceError).report.checks).toHaveLength(1);
  });
});

describe('conformanceTests', () => {
  it('registers a test for each check, which fails or passes with it', async () => {
    const { title, tests } = registered(bad as never);
    expect(title).toBe('a forward plugin of millrace');
    const outcomes = await Promise.all(
      tests.slice(0, 7).map(([name, run]) =>
        run().then(
          () => '',
          (error: Error) => `${name}: ${error.message}`,
        ),
      ),
    );
    expect(outcomes.filter(Boolean)).toEqual([
      expect.stringMatching(/^forward: takes events, and returns nothing: forward returns or emits a value/),
    ]);
  });

  it('skips a test in which there is nothing to check, with the reason', async () => {
    const skipped: string[] = [];
    const context = { skip: (note: string) => void skipped.push(note) };
    for (const [, run] of registered(good).tests)
      await (run as (...args: object[]) => Promise<void>)(context);
    expect(skipped).toContain('it has no forwardBatch');
    const told: unknown[] = [];
    const info = jest.spyOn(console, 'info').mockImplementation((line) => void told.push(line));
    for (const [, run] of registered(good).tests) await run();
    info.mockRestore();
    expect(told).toContain(
      'not checked: forward: forwardBatch does what forward does for each event: it has no forwardBatch',
    );
  });

  it('declares no parameter, which Jest would take for a callback', () => {
    for (const [, run] of registered(good).tests) expect(run).toHaveLength(0);
  });

  it('says what is missing without a test runner', () => {
    expect(() => conformanceTests('forward', good, {}, {})).toThrow(
      'pass those of your test runner as the fourth argument: { describe, it }',
    );
  });
});
