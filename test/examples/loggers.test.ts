import { beforeAll, expect, it } from '@jest/globals';
import { upToDateBuild } from '../support/build.ts';
import { startProcess } from '../support/cli.ts';

// They import millrace by its name, as programs of others do: what is built, not what is written here.
beforeAll(upToDateBuild);

it.each(['pino-fastify', 'winston-express'])(
  'examples/in-process/%s: no planted secret is written',
  async (name) => {
    const args = ['--test', `examples/in-process/${name}/service.test.mjs`];
    const { code, stdout } = await startProcess(process.execPath, args).ended();
    expect(stdout).toMatch(/^[#ℹ] pass 1$/m);
    expect(code).toBe(0);
  },
);
