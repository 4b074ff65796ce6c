import { describe, expect, it } from '@jest/globals';
import { freePort, startServer } from './support/start-server.ts';

const LISTEN = `require('node:http').createServer((request, response) => response.end('hello'))
  .listen(Number(process.argv[1]), '127.0.0.1', () => console.log('ready'))`;

describe('a server of the tests', () => {
  it('is ready when it says so, and is stopped', async () => {
    const port = await freePort();
    const server = await startServer(process.execPath, ['-e', LISTEN, String(port)], /ready/);
    const url = `http://127.0.0.1:${port}/`;
    expect(await (await fetch(url)).text()).toBe('hello');
    await server.stop();
    await expect(fetch(url)).rejects.toThrow();
  });

  it('is not waited for when it ends early: the error shows its output', async () => {
    const start = startServer(process.execPath, ['-e', 'console.error("no such option")'], /ready/);
    await expect(start).rejects.toThrow(/ended before it was ready:\nno such option/);
  });
});
