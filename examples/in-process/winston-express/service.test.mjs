// Secrets are planted wherever the service logs something. None of them may be in what it writes.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import winston from 'winston';
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
  const stream = new Writable({
    write(chunk, _encoding, done) {
      written += chunk;
      done();
    },
  });
  const env = {
    DATABASE_URL: `postgres://shop:${PLANTED.url}@db.example.com/shop`,
    GITHUB: PLANTED.environment,
  };
  const { app, log } = createService({ transports: [new winston.transports.Stream({ stream })], env });
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { status } = await fetch(
    `http://127.0.0.1:${server.address().port}/login?token=${PLANTED.query}&lang=en`,
    {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${PLANTED.header}`,
        cookie: `session=${PLANTED.cookie}`,
      },
      body: JSON.stringify({ user: 'ada', password: PLANTED.password }),
    },
  );
  server.closeAllConnections();
  server.close();
  log.end();
  await once(log, 'finish');

  assert.equal(status, 500);
  for (const [place, secret] of Object.entries(PLANTED))
    assert(!written.includes(secret), `${place} was written`);
  const lines = written
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    lines.map(({ level }) => level),
    ['info', 'info', 'info', 'error', 'error'],
  );
  for (const { timestamp, service } of lines)
    assert.match(`${service} ${timestamp}`, /^shop \d{4}-\d\d-\d\dT/);
  assert.equal(lines[0].req.url, '/login?token=<:query:>&lang=en');
  assert.equal(lines[1].user, undefined);
  assert(written.includes('"user":"ada"'));
  assert(written.includes('cannot run UPDATE users SET password'));
  assert(written.includes('postgres://shop:<:url-password:>@db.example.com/shop'));
});
