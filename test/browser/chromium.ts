import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { json } from 'node:stream/consumers';
import { it } from '@jest/globals';

/** Debian's chromium, or undefined. */
export const CHROMIUM = (process.env.PATH ?? '')
  .split(delimiter)
  .map((folder) => join(folder, 'chromium'))
  .find((file) => existsSync(file));

/** `it` for tests that need it: their names say if it is not there. */
export const itInChromium: typeof it.skip = CHROMIUM === undefined ? it.skip : it;
export const skipped =
  CHROMIUM === undefined ? ' (SKIPPED: there is no chromium; apt-get install chromium)' : '';

// Nothing but the page: no first-run pages, no updates, no traffic of its own.
const FLAGS = [
  '--headless',
  '--no-sandbox', // containers run as root
  '--disable-gpu',
  '--disable-dev-shm-usage', // 64 MB in containers
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--enable-logging=stderr', // what the page's console says, for the error message
];

const PAGE =
  '<!doctype html><meta charset="utf-8"><title>millrace</title><script type="module" src="/bundle.js"></script>';

/** No `unsafe-eval`: the operators must be usable on pages that forbid it. */
const POLICY = "default-src 'self'";

const ROUTES: Readonly<Record<string, (bundle: string) => readonly [type: string, body: string]>> = {
  '/': () => ['text/html', PAGE],
  '/bundle.js': (bundle) => ['text/javascript', bundle],
};

/**
 * Serves a page with this script on localhost, opens it in headless Chromium and returns the JSON that the script
 * POSTs to `/report`.
 */
export async function runInChromium(bundle: string): Promise<unknown> {
  const profile = mkdtempSync(join(tmpdir(), 'millrace-chromium-'));
  const report = new PassThrough();
  const server = createServer((request, response) => {
    if (request.method === 'POST') {
      request.pipe(report);
      response.end();
      return;
    }
    const [type, body] = ROUTES[request.url ?? '']?.(bundle) ?? [];
    if (type === undefined) response.writeHead(404).end();
    else response.writeHead(200, { 'content-type': type, 'content-security-policy': POLICY }).end(body);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const browser = start(profile, `http://127.0.0.1:${port}/`, (error) => report.destroy(error));
  try {
    return await json(report);
  } finally {
    await stop(browser);
    server.closeAllConnections();
    server.close();
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

function start(profile: string, url: string, onFailure: (error: Error) => void): ChildProcess {
  // A process group of its own: Chromium is a tree of processes, and all of it must go in the end.
  const browser = spawn(CHROMIUM as string, [...FLAGS, `--user-data-dir=${profile}`, url], {
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: 45_000, // a page that never reports
  });
  let messages = '';
  browser.stderr?.setEncoding('utf8').on('data', (more) => {
    messages += more;
  });
  browser.once('error', onFailure);
  browser.once('close', () => onFailure(new Error(`chromium ended without a report:\n${messages}`)));
  return browser;
}

async function stop(browser: ChildProcess): Promise<void> {
  if (browser.pid === undefined || browser.exitCode !== null || browser.signalCode !== null) return;
  const closed = once(browser, 'close');
  process.kill(-browser.pid, 'SIGKILL');
  await closed;
}
