// An Express service whose winston logger has one format more. Run it: node examples/in-process/winston-express/service.mjs

import { pathToFileURL } from 'node:url';
import express from 'express';
import { createRedactor } from 'millrace/redact';
import { redactedFormat } from 'millrace/winston';
import winston from 'winston';

const { combine, errors, json, splat, timestamp } = winston.format;

/** @param transports where entries go: standard output by default */
export function createService({ transports = [new winston.transports.Console()], env = process.env } = {}) {
  const log = winston.createLogger({
    defaultMeta: { service: 'shop' },
    // The last format sees what all others have made of an entry.
    format: combine(
      errors({ stack: true, cause: true }),
      timestamp(),
      splat(),
      json(),
      redactedFormat(createRedactor()),
    ),
    transports,
  });
  const app = express();
  app.use(express.json());

  app.use(({ method, url, headers }, _response, next) => {
    log.info('request', { req: { method, url, headers } });
    next();
  });

  app.post('/login', async ({ body, headers }, _response) => {
    log.info('login of %s with password %s', body.user, body.password, { body });
    log.child({ session: { cookie: headers.cookie } }).info('environment', { env });
    await query('UPDATE users SET password = $1 WHERE name = $2', [body.password, body.user]);
  });

  app.use((error, _request, response, _next) => {
    log.error(error);
    log.error('request failed', { query: error.query });
    response.status(500).json({ ok: false });
  });

  /** A database that is down, and says too much. */
  async function query(text, values) {
    const cause = new Error(`connect ECONNREFUSED ${env.DATABASE_URL}`);
    throw Object.assign(new Error(`cannot run ${text}`, { cause }), {
      query: { text, values },
      password: values[0],
    });
  }

  return { app, log };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) createService().app.listen(3000);
