import { describe, expect, it } from '@jest/globals';
import { concat, defer, EMPTY, ignoreElements, map, type Observable, of, tap, throwError, timer } from 'rxjs';
import { z } from 'zod';
import type { PipelineRunContext } from '../../src/sdk/context.ts';
import { PluginError, safeReason } from '../../src/sdk/errors.ts';
import { collectedEvent } from '../../src/sdk/events.ts';
import type { ForwardPlugin, ProcessPlugin } from '../../src/sdk/plugin.ts';
import { states, type TestPlugins } from '../support/pipelines.ts';

const get_config_schema = () => z.looseObject({ plugin: z.string() });
const broken = () => {
  throw new PluginError('broken');
};

describe('a run that cannot be composed', () => {
  /** Runs a pipeline; the contexts that its plugins got, and where it ended. */
  function run(plugins: Omit<TestPlugins, 'collect'>, failsAt?: string) {
    const contexts: PipelineRunContext[] = [];
    const observer = {
      opened: ({ kind }: { readonly kind: string }, context: PipelineRunContext) => {
        contexts.push(context);
        if (kind === failsAt) broken();
      },
    };
    const { seen, manager } = states({
      collect: { source: () => [collectedEvent({ n: 1 })] },
      ...plugins,
      options: { observer: () => observer },
    });
    return { contexts, seen, error: safeReason(manager.states().main?.error) };
  }
  const pass: ProcessPlugin = { get_config_schema, process: ({ event }) => [event] };
  const out: ForwardPlugin = { get_config_schema, forward: () => [] };

  it.each<[string, Omit<TestPlugins, 'collect'>]>([
    [
      'joinLines of a processor',
      { process: { pass, joins: { ...pass, joinLines: broken } }, forward: { out } },
    ],
    [
      'needsOrder of a processor',
      { process: { pass, orders: { ...pass, traits: { needsOrder: broken } } }, forward: { out } },
    ],
    ['forwardJsonLines of a forwarder', { forward: { out: { ...out, forwardJsonLines: broken } } }],
    [
      'forwardJsonLines of the second forwarder',
      { process: { pass }, forward: { out, last: { ...out, forwardJsonLines: broken } } },
    ],
  ])('because %s throws fails, and ends every context that a plugin has', (_, plugins) => {
    const { contexts, seen, error } = run(plugins);
    expect(error).toMatch(/broken$/);
    expect(seen.at(-1)).toBe('0 failed');
    expect(contexts).not.toEqual([]);
    expect(contexts.map(({ signal, ended }) => signal.aborted && ended.aborted)).not.toContain(false);
  });

  it.each(['collect', 'process', 'forward'])('because an observer throws at %s ends them too', (kind) => {
    const { contexts, error } = run({ process: { pass }, forward: { out } }, kind);
    expect(error).toBe('broken');
    expect(contexts.map(({ signal, ended }) => signal.aborted && ended.aborted)).not.toContain(false);
  });
});

describe('beforeEnd', () => {
  /** A pipeline whose processors each have one of these left to do at its end. */
  function runWith(works: readonly (() => Observable<unknown>)[], collect: () => unknown = () => EMPTY) {
    const log: string[] = [];
    const logged = works.map((work, n) =>
      concat(
        of(0).pipe(
          tap(() => log.push(`start ${n}`)),
          ignoreElements(),
        ),
        work().pipe(
          tap({
            complete: () => log.push(`done ${n}`),
            unsubscribe: () => log.push(`cancelled ${n}`),
          }),
        ),
      ),
    );
    const { seen, manager } = states({
      collect: {
        source: ({ ctx }) => {
          for (const work of logged) ctx.beforeEnd?.(work);
          return collect();
        },
      },
      forward: { out: () => {} },
    });
    return { log, seen, error: safeReason(manager.states().main?.error) };
  }
  const fails = (reason: string, ms: number) => () =>
    timer(ms).pipe(
      map(() => {
        throw new PluginError(reason);
      }),
    );

  it.each<[string, (() => Observable<unknown>)[], string[], string]>([
    [
      'fails at once',
      [() => throwError(() => new PluginError('one')), () => timer(5)],
      ['done 1'],
      '5 failed',
    ],
    [
      'fails at once, last',
      [() => timer(5), () => throwError(() => new PluginError('one'))],
      ['done 0'],
      '5 failed',
    ],
    ['fails meanwhile', [() => timer(9), fails('one', 4), () => timer(5)], ['done 2', 'done 0'], '9 failed'],
    [
      'fails, and then another one',
      [fails('two', 6), fails('one', 4), () => timer(5)],
      ['done 2'],
      '6 failed',
    ],
    ['throws', [() => defer(() => broken()), () => timer(5)], ['done 1'], '5 failed'],
    ['does not fail', [() => timer(9), () => timer(5)], ['done 1', 'done 0'], '9 completed'],
  ])(
    'of all plugins is done although one of them %s, and the first error is that of the run',
    (_, works, done, end) => {
      const { log, seen, error } = runWith(works);
      expect(log.filter((entry) => !entry.startsWith('start'))).toEqual(done);
      expect(seen.at(-1)).toBe(end);
      if (end.endsWith('failed')) expect(error).toMatch(/^(?:one|broken)$/);
    },
  );

  it('is done after a collector has failed, whose error is that of the run', () => {
    const { log, seen, error } = runWith([fails('later', 3), () => timer(5)], () =>
      throwError(() => new PluginError('collector')),
    );
    expect(log).toEqual(['start 0', 'start 1', 'done 1']);
    expect(seen.at(-1)).toBe('5 failed');
    expect(error).toBe('collector');
  });
});
