// A service that records far too much: headers, bodies, parameters of SQL, prompts, errors and its environment.

import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';

/** @param {Pick<ReturnType<typeof import('./telemetry.mjs').startTelemetry>, 'tracer' | 'logger'>} telemetry */
export function createService({ tracer, logger }) {
  logger.emit({ severityText: 'INFO', body: 'started', attributes: { environment: { ...process.env } } });

  return createServer(async (request, response) => {
    const { pathname, search } = new URL(request.url ?? '/', 'http://shop.example.com');
    const span = tracer.startSpan(`${request.method} ${request.url}`, {
      kind: SpanKind.SERVER,
      attributes: { 'http.route': pathname, 'url.query': search.slice(1) },
    });
    const context = trace.setSpan(ROOT_CONTEXT, span);
    for (const [name, value] of Object.entries(request.headers))
      span.setAttribute(`http.request.header.${name}`, [value ?? ''].flat());
    const body = await text(request);
    logger.emit({ severityText: 'DEBUG', body, context, attributes: { headers: { ...request.headers } } });
    try {
      logIn(JSON.parse(body));
      response.writeHead(204);
    } catch (error) {
      // The SDK records the message and the stack of an exception, and no cause. The body of a record has all of it.
      span.recordException(/** @type {Error} */ (error));
      span.setStatus({ code: SpanStatusCode.ERROR, message: String(error) });
      const logged = /** @type {import('@opentelemetry/api-logs').LogBody} */ (error);
      logger.emit({ severityText: 'ERROR', body: logged, context });
      response.writeHead(500);
    }
    span.setAttribute('http.response.status_code', response.statusCode);
    span.end();
    response.end();
  });

  /** @param {{ user: string, password: string, prompt: string }} login */
  function logIn({ user, password, prompt }) {
    const asked = { role: 'user', parts: [{ type: 'text', content: prompt }] };
    const chat = tracer.startSpan('chat gpt-4', { kind: SpanKind.CLIENT });
    chat.setAttributes({
      'gen_ai.request.model': 'gpt-4',
      'gen_ai.usage.input_tokens': 42,
      'gen_ai.input.messages': JSON.stringify([asked]),
      'gen_ai.output.messages': JSON.stringify([
        { role: 'assistant', parts: [{ type: 'text', content: prompt }] },
      ]),
    });
    chat.end();
    const statement = `UPDATE users SET password = '${password}' WHERE name = $1 AND token = $2`;
    const query = tracer.startSpan('UPDATE users', { kind: SpanKind.CLIENT });
    query.setAttributes({
      'db.query.text': statement,
      'db.query.parameter.0': user,
      'db.query.parameter.1': password,
    });
    query.addEvent('slow query', { statement });
    query.end();
    const cause = new Error(`connect postgres://shop:${password}@db.example.com/shop: refused`);
    throw new Error(`cannot log ${user} in with password=${password}`, { cause });
  }
}
