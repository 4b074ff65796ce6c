import { beforeAll, describe, expect, it } from '@jest/globals';
import { upToDateBuild } from '../support/build.ts';
import { startProcess } from '../support/cli.ts';

const node = (...args: string[]) => startProcess(process.execPath, args).ended();
const rows = (text: string) => text.trimEnd().split('\n');

// They import millrace by its name, as programs of others do: what is built, not what is written here.
beforeAll(upToDateBuild);

describe('examples/embed', () => {
  it('app.mjs masks an event stream of its own, and drops what cannot be masked', async () => {
    const { code, stdout, stderr } = await node('examples/embed/app.mjs');
    expect(rows(stdout).map((row) => JSON.parse(row))).toEqual([
      { user: '<:EMAIL:>', ok: true, request: { path: '/login', cookies: ['theme=dark', '<:TOKEN:>'] } },
      { user: '<:EMAIL:>', ok: false, request: { path: '/login?password=<:PASSWORD:>', cookies: [] } },
      { user: 'guest', ok: true, request: { path: '/' } },
    ]);
    expect(rows(stderr)).toEqual([expect.stringMatching(/^not logged: cannot mask a value of type Map/)]);
    expect(code).toBe(0);
  });

  it('masked.test.mjs passes', async () => {
    const { code, stdout } = await node('--test', 'examples/embed/masked.test.mjs');
    expect(stdout).toMatch(/^[#ℹ] pass 1$/m);
    expect(code).toBe(0);
  });

  it('engine.mjs runs a pipeline with plugins and a host of its own', async () => {
    const { code, stdout, stderr } = await node('examples/embed/engine.mjs');
    expect(rows(stdout)).toEqual([
      '{"user":"<:EMAIL:>","ok":true}',
      '{"user":"<:EMAIL:>","ok":false}',
      '{"ret":{"sessions":2,"contact":"<:EMAIL:>"}}',
      'completed',
    ]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });
});
