import type { PluginOf } from '../../config/registry.ts';
import { MillraceError } from '../../sdk/errors.ts';
import type { PluginKind } from '../../sdk/plugin.ts';
import { CheckFailure } from './check.ts';
import { checksFor, runCheck } from './check-plugin.ts';
import { type ConformanceOptions, subjectOf } from './subject.ts';

/** What Jest, Vitest and node:test have in common. */
export interface TestFunctions {
  readonly describe: (name: string, body: () => void) => unknown;
  /** node:test and Vitest call the body with a context, in which a test can be skipped. */
  readonly it: (name: string, body: (...args: readonly never[]) => Promise<void>) => unknown;
}

/**
 * Registers one test for each check of {@link checkPlugin}. The functions are those of Jest, Vitest or node:test;
 * if they are not given, the global ones.
 *
 * @throws MillraceError `MILLRACE_CONFORMANCE` if there are none
 * @example
 * const names = [];
 * const plugin = { get_config_schema: () => ForwardConfigBase, forward() {} };
 * conformanceTests('forward', plugin, {}, { describe: (_, body) => body(), it: (name) => names.push(name) });
 * names[0]; // 'module: has get_config_schema and the entry function of its kind'
 */
export function conformanceTests<K extends PluginKind>(
  kind: K,
  plugin: PluginOf[K],
  options: ConformanceOptions = {},
  functions: Partial<TestFunctions> = globalThis as Partial<TestFunctions>,
): void {
  const { describe, it } = functions;
  if (typeof describe !== 'function' || typeof it !== 'function') {
    const message =
      'conformanceTests needs `describe` and `it`, and there are no global ones; pass those of your test runner as the fourth argument: { describe, it }';
    throw new MillraceError('MILLRACE_CONFORMANCE', message);
  }
  describe(`a ${kind} plugin of millrace`, () => {
    const subject = subjectOf(kind, plugin, options);
    for (const check of checksFor(kind, plugin)) {
      // Without a declared parameter, or Jest would wait for a callback.
      it(check.name, async (...args) => {
        const { outcome, note = '' } = await runCheck(check, subject);
        if (outcome === 'failed') throw new CheckFailure(note);
        if (outcome === 'skipped') skip(args[0], check.name, note);
      });
    }
  });
}

/** Jest cannot skip a test that runs, so that only its output can say that there was nothing to check. */
function skip(context: TestContext | undefined, name: string, note: string): void {
  if (typeof context?.skip === 'function') context.skip(note);
  else console.info(`not checked: ${name}: ${note}`);
}

interface TestContext {
  skip?(note: string): void;
}
