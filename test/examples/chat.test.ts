import { beforeAll, expect, it } from '@jest/globals';
import { upToDateBuild } from '../support/build.ts';
import { startProcess } from '../support/cli.ts';

// It imports millrace by its name, as programs of others do: what is built, not what is written here.
beforeAll(upToDateBuild);

it('examples/in-process/chat: no planted secret reaches the model', async () => {
  const args = ['--test', 'examples/in-process/chat/chat.test.mjs'];
  const { code, stdout } = await startProcess(process.execPath, args).ended();
  expect(stdout).toMatch(/^[#ℹ] pass 2$/m);
  expect(code).toBe(0);
});
