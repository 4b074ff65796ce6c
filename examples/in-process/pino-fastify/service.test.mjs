// Secrets are planted wherever the service logs something. None of them may be in what it writes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createService } from './service.mjs';

const PLANTED = {
  header: 'Gr4nite-header-72',
  cookie: 'Gr4nite-cookie-73',
  query: 'Gr4nite-query-75',
  password: 'Gr4nite-passw0rd-76',
  url: 'Gr4nite-database-77',
  environment: 'ghp_16C7e42F292c6912E7710c838347Ae178B4a',
};

test('no planted secret is in a line, and what is needed to find an error is', async () => {
  let written = '';
  const write = (line) => {
    written += line;
  };
  const env = {
    DATABASE_URL: `postgres://shop:${PLANTED.url}@db.example.com/shop`,
    GITHUB: PLANTED.environment,
  };
  const { app } = createService({ stream: { write }, env });
  const { statusCode } = await app.inject({
    method: 'POST',
    url: `/login?token=${PLANTED.query}&lang=en`,
    headers: { authorization: `Bearer ${PLANTED.header}`, cookie: `session=${PLANTED.cookie}` },
    payload: { user: 'ada', password: PLANTED.password },
  });
  await app.close();

  assert.equal(statusCode, 500);
  for (const [place, secret] of Object.entries(PLANTED))
    assert(!written.includes(secret), `${place} was written`);
  const lines = written
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  for (const { level, time, pid, hostname, reqId } of lines) {
    assert.deepEqual([typeof level, typeof time, pid], ['number', 'number', process.pid]);
    assert.match(`${hostname} ${reqId}`, /^\S+ req-\w+$/);
  }
  assert.equal(lines[0].req.url, '/login?token=<:query:>&lang=en');
  assert(written.includes('"user":"ada"'));
  assert(written.includes('cannot run UPDATE users SET password'));
  assert(written.includes('postgres://shop:<:url-password:>@db.example.com/shop'));
});
