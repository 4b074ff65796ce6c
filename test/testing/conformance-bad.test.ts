import { describe, expect, it } from '@jest/globals';
import type { Plugin, PluginKind } from '../../src/sdk/plugin.ts';
import { type ConformanceOptions, checkPlugin } from '../../src/testing/conformance/index.ts';
import { BAD_CONTRACT } from './bad-plugins/contract.ts';
import { BAD_DECLARED } from './bad-plugins/declared.ts';
import { BAD_FAST_WAYS, BAD_ROWS } from './bad-plugins/fast-ways.ts';
import { BAD_RUNNING, leaked } from './bad-plugins/running.ts';
import { BAD_STATE } from './bad-plugins/state.ts';

async function failures(kind: PluginKind, plugin: unknown, options?: ConformanceOptions): Promise<string> {
  const checked = checkPlugin(kind, plugin as Plugin as never, options);
  return checked.then(
    () => 'it passed',
    (error: Error) => error.message,
  );
}

describe('a plugin with a problem is told what to change', () => {
  it.each([...BAD_CONTRACT, ...BAD_DECLARED, ...BAD_FAST_WAYS, ...BAD_ROWS, ...BAD_RUNNING, ...BAD_STATE])(
    '%s (%s)',
    async (...[, kind, plugin, told, options]) => {
      const message = await failures(kind, plugin, options);
      for (const each of leaked.splice(0)) clearInterval(each);
      for (const pattern of told) expect(message).toMatch(pattern);
    },
  );
});
