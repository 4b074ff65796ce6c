// Secrets are planted wherever a question has text. None of them may reach the model.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { createChat } from './chat.mjs';

const PLANTED = {
  email: 'ada.lovelace@example.org',
  card: '4111 1111 1111 1111',
  password: 'Gr4nite-passw0rd-81',
  header: 'Gr4nite-header-82',
  environment: 'Gr4nite-environment-83',
  cause: 'Gr4nite-cause-84',
  sql: 'Gr4nite-sql-85',
};

/** What reached the model, and the keys that it was called with. */
let sent = '';
/** @type {(string | undefined)[]} */
const keys = [];

// It repeats what it was asked last, character by character.
const model = createServer(async (request, response) => {
  keys.push(request.headers.authorization);
  const body = await text(request);
  sent += body;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const answer = `You wrote: ${JSON.parse(body).messages.at(-1).content}`;
  for (const content of answer)
    response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`);
  response.write(
    `data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}\n\n`,
  );
  response.end('data: [DONE]\n\n');
}).listen(0, '127.0.0.1');
await once(model, 'listening');
after(() => model.close());
const { port } = /** @type {import('node:net').AddressInfo} */ (model.address());

test('no planted secret reaches the model, and personal data is in its answers again', async () => {
  const chat = createChat({ url: `http://127.0.0.1:${port}`, key: 'key-of-the-call' });
  const ask = async (/** @type {string} */ question) => {
    let answer = '';
    for await (const piece of chat.ask(question)) answer += piece;
    return answer;
  };
  const error = new Error('login failed', {
    cause: new Error(`connect postgres://shop:${PLANTED.cause}@db.example.com/shop: refused`),
  });
  const log = [
    `password=${PLANTED.password}`,
    `authorization: Bearer ${PLANTED.header}`,
    JSON.stringify({ env: { DB_PASSWORD: PLANTED.environment } }),
    `${error.stack}\n${/** @type {Error} */ (error.cause).stack}`,
    `UPDATE users SET password = '${PLANTED.sql}' WHERE id = 7`,
  ].join('\n');
  const first = await ask(`Write to ${PLANTED.email} about the card ${PLANTED.card}`);
  assert.equal(first, `You wrote: Write to ${PLANTED.email} about the card ${PLANTED.card}`);
  const second = await ask(`And ${PLANTED.email} sent this:\n${log}`);
  assert(second.includes(`And ${PLANTED.email} sent this:\npassword=<:password:>`), second);

  for (const [place, secret] of Object.entries(PLANTED)) assert(!sent.includes(secret), `${place} left`);
  assert(sent.includes('Write to <:EMAIL_1:> about the card <:CARD_1:>'));
  assert.deepEqual(keys, ['Bearer key-of-the-call', 'Bearer key-of-the-call']);
  assert(chat.report().masked['secrets/context:password'] > 0);
});

test('without the mask, each of them would leave', async () => {
  sent = '';
  const body = { messages: [{ content: Object.values(PLANTED).join(' ') }] };
  await (await fetch(`http://127.0.0.1:${port}`, { method: 'POST', body: JSON.stringify(body) })).text();
  for (const secret of Object.values(PLANTED)) assert(sent.includes(secret));
});
