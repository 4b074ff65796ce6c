import pinoRedact from '@pinojs/redact';
// @ts-expect-error: it has no types.
import fastRedact from 'fast-redact';
import { redactedDestination, redactedLogMethod, redactedStreamWrite } from 'millrace/pino';
import { createRedactor } from 'millrace/redact';
import pino, { type LoggerOptions } from 'pino';

/** What a service logs for a request: with `msg`, 10 fields beside those of pino itself. None is a secret. */
const RECORD = {
  reqId: 'req-4f',
  method: 'GET',
  path: '/orders/81723',
  status: 200,
  duration: 18.25,
  user: { id: 5512, name: 'ada' },
  items: 3,
  warehouse: 'Rotterdam',
  cached: false,
};
const MESSAGE = 'request completed';
/** 170 characters. */
const LINE =
  '2026-11-27T09:57:18.123Z INFO [http-nio-8080-exec-4] c.e.orders.OrderService - order 81723 of customer 5512 ' +
  'shipped from warehouse Rotterdam in 182 ms, 3 parcels, carrier';

/** What a service would list. None is in the record, as mostly. */
const PATHS = [
  ...['password', 'token', 'user.password', 'user.token', 'req.headers.authorization'],
  ...['req.headers.cookie', 'headers.authorization', 'headers.cookie', 'body.password', '*.secret'],
];

const write = () => {};

const logging = (options: LoggerOptions, destination = { write }) => {
  const log = pino(options, destination);
  return () => log.info(RECORD, MESSAGE);
};

/** Each returns what is measured. */
export const IN_PROCESS = {
  'pino, without masks': () => logging({}),
  'pino with `redact`, 10 paths': () => logging({ redact: PATHS }),
  'pino with `redactedStreamWrite`': () =>
    logging({ hooks: { streamWrite: redactedStreamWrite(createRedactor()) } }),
  'pino with `redactedDestination`': () => logging({}, redactedDestination(createRedactor(), { write })),
  'pino with `redactedLogMethod`': () =>
    logging({ hooks: { logMethod: redactedLogMethod(createRedactor()) } }),
  'fast-redact of the record, 10 paths': () => {
    const redact = fastRedact({ paths: PATHS });
    return () => redact(RECORD);
  },
  '@pinojs/redact of the record, 10 paths': () => {
    const redact = pinoRedact({ paths: PATHS });
    return () => redact(RECORD);
  },
  '`redact` of the record': () => {
    const redactor = createRedactor();
    return () => redactor.redact(RECORD);
  },
  '`redact` of a line of 170 characters': () => {
    const redactor = createRedactor();
    return () => redactor.redact(LINE);
  },
} as const satisfies Record<string, () => () => unknown>;

export type InProcessName = keyof typeof IN_PROCESS;
