// Masks what pino logs: as a hook, and around a destination. `pino-transport.ts` does it in a worker.

import { hostname } from 'node:os';
import { type Check, hasMethods, parseExact, stringifyExact } from '../operators/internal-redact.ts';
import { checkArgument, checkRedactor, leavesJson } from './check-redactor.ts';
import type { Redactor } from './create-redactor.ts';

export { redactedLogMethod } from './log-method.ts';

/**
 * Returns `hooks.streamWrite` for pino. It masks each line as JSON before the line reaches a stream or a transport, so it covers what
 * calls, bindings, mixins, serialisers and formatters have added. The fields `level`, `time`, `pid`, `hostname` and `reqId` stay as
 * pino and Fastify write them.
 *
 * @example
 * const streamWrite = redactedStreamWrite(createRedactor());
 * streamWrite('{"level":30,"time":1767225600000,"db":{"password":"Tr0ub4dor&3"}}\n');
 * // '{"level":30,"time":1767225600000,"db":{"password":"<:password:>"}}\n'
 */
export function redactedStreamWrite(redactor: Redactor): (lines: string) => string {
  checkRedactor('redactedStreamWrite', redactor);
  return (lines) => {
    const end = lines.indexOf('\n');
    if (end === lines.length - 1) return redactLine(redactor, lines);
    return lines.replace(/[^\n]+\n?/g, (line) => redactLine(redactor, line));
  };
}

/**
 * Wraps a destination of pino, which then receives lines masked as by {@link redactedStreamWrite}. Everything else, such as `flushSync`,
 * `reopen` and events, works as before.
 *
 * @param destination such as `pino.destination()`, `pino.multistream([…])` or a stream
 *
 * @example
 * const lines = [];
 * const destination = redactedDestination(createRedactor(), { write: (line) => lines.push(line) });
 * destination.write('{"level":30,"msg":"password=Tr0ub4dor&3"}\n');
 * lines; // ['{"level":30,"msg":"password=<:password:>"}\n']
 */
export function redactedDestination<T extends { write(lines: string): unknown }>(
  redactor: Redactor,
  destination: T,
): T {
  checkRedactor('redactedDestination', redactor);
  checkArgument('redactedDestination', 'the destination', destination, DESTINATION);
  const redactLines = redactedStreamWrite(redactor);
  const masked = (lines: unknown) => {
    if (typeof lines === 'string') return redactLines(lines);
    return lines instanceof Uint8Array ? redactLines(decoder.decode(lines)) : lines;
  };
  const write = (lines: string | Uint8Array, ...others: []) =>
    destination.write(masked(lines) as string, ...others);
  const redacted: T = new Proxy(destination, {
    get(target, key) {
      if (key === 'write') return write;
      const value: unknown = Reflect.get(target, key);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]): unknown => {
        // It takes the last lines.
        if (key === 'end' && args.length > 0) args[0] = masked(args[0]);
        const result: unknown = Reflect.apply(value, target, args);
        // What is chained, as in `destination.on('error', …)`, must not give the destination itself.
        return result === target ? redacted : result;
      };
    },
    set(target, key, value) {
      // pino gives these to streams with metadata, such as `multistream`.
      if (key === 'lastMsg' || key === 'lastObj') return Reflect.set(target, key, redactor.redact(value));
      return key === 'lastLogger' || Reflect.set(target, key, value);
    },
  });
  return redacted;
}

const DESTINATION: Check = (value) =>
  hasMethods(value, 'write') || 'a stream, or a destination of pino, such as pino.destination()';

const decoder = /* @__PURE__ */ new TextDecoder();

/** A line that pino has written, with its LF or without it. */
export function redactLine(redactor: Redactor, line: string): string {
  const length = line.endsWith('\n') ? line.length - (line.endsWith('\r\n') ? 2 : 1) : line.length;
  const json = length === line.length ? line : line.slice(0, length);
  if (leavesJson(redactor, json)) return line;
  const masked =
    json.charCodeAt(0) === OPENING_BRACE ? redactRecord(redactor, json) : redactor.redactJson(json);
  return length === line.length ? masked : masked + line.slice(length);
}

const OPENING_BRACE = 0x7b;

function redactRecord(redactor: Redactor, json: string): string {
  let record: Record<string, unknown>;
  try {
    record = parseExact(json) as Record<string, unknown>;
  } catch {
    return redactor.redact(json);
  }
  const kept = takeOwnFields(record);
  const masked = redactor.redact(record);
  // Only what nests too deeply is replaced as a whole.
  const shown = typeof masked === 'object' ? (masked as object) : { ...kept, msg: masked };
  return stringifyExact(Object.assign(shown, kept));
}

/** Takes the values of fields that pino and Fastify write by themselves out of a record: no rule changes them. */
function takeOwnFields(record: Record<string, unknown>): Readonly<Record<string, unknown>> {
  const kept: Record<string, unknown> = {};
  for (const [key, isOwn] of OWN_FIELDS) {
    const value = record[key];
    if (value === undefined || value === null || !isOwn(value)) continue;
    kept[key] = value;
    record[key] = null;
  }
  return kept;
}

const isNumber = (value: unknown) => typeof value === 'number';
const matches = (expression: RegExp) => (value: unknown) =>
  isNumber(value) || (typeof value === 'string' && expression.test(value));
const HOSTNAME = hostname();

/** Programs can log fields of these names as well, so they must look as expected. */
const OWN_FIELDS: readonly (readonly [key: string, isOwn: (value: unknown) => boolean])[] = [
  ['level', matches(/^[A-Za-z]{1,20}$/)],
  ['time', matches(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d)$/)],
  ['pid', isNumber],
  ['hostname', (value) => value === HOSTNAME],
  ['reqId', matches(/^(?:req-[0-9a-z]{1,11}|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})$/i)],
];
