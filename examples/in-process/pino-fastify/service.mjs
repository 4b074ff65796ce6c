// A Fastify service whose logger has one hook. Run it: node examples/in-process/pino-fastify/service.mjs

import { pathToFileURL } from 'node:url';
import fastify from 'fastify';
import { redactedStreamWrite } from 'millrace/pino';
import { createRedactor } from 'millrace/redact';

/** @param stream where lines go: standard output by default */
export function createService({ stream, env = process.env } = {}) {
  const redactor = createRedactor();
  const app = fastify({
    logger: {
      ...(stream && { stream }),
      hooks: { streamWrite: redactedStreamWrite(redactor) },
      // Fastify leaves headers out of its logs. This service wants them.
      serializers: {
        req: ({ method, url, headers }) => ({ method, url, headers }),
      },
    },
  });

  app.get('/metrics', () => redactor.report());

  app.post('/login', async (request) => {
    const { user, password } = request.body;
    request.log.info({ body: request.body }, 'login of %s with password %s', user, password);
    const session = request.log.child({ session: { cookie: request.headers.cookie } });
    session.debug({ env }, 'environment');
    session.info({ env }, 'environment');
    await query('UPDATE users SET password = $1 WHERE name = $2', [password, user]);
    return { ok: true };
  });

  /** A database that is down, and says too much. */
  async function query(text, values) {
    const cause = new Error(`connect ECONNREFUSED ${env.DATABASE_URL}`);
    throw Object.assign(new Error(`cannot run ${text}`, { cause }), {
      query: { text, values },
      password: values[0],
    });
  }

  return { app, redactor };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  await createService().app.listen({ port: 3000 });
}
