import { checkRedactor } from './check-redactor.ts';
import type { Redactor } from './create-redactor.ts';
import { isError, redactedError, redactedFields, unmaskable } from './errors.ts';
import { redactedFormatted, tokensOf } from './formatted.ts';

type Serializers = Readonly<Record<string, (value: unknown) => unknown>>;
/** What pino calls in place of a method: `args` are those of the call, and `method` logs. */
type LogMethod = (this: object, args: readonly unknown[], method: (...args: never[]) => void) => void;

/** Documented by pino: the serialisers of a logger. */
const SERIALIZERS = Symbol.for('pino.serializers');

/**
 * Returns `hooks.logMethod` for pino. It masks the arguments of a call before serialisers, formatters and mixins see them. Errors stay
 * errors, a message is masked together with the values of its `%s`, and what a serialiser returns is masked as well. Child bindings
 * and mixins are not arguments: use `redactedStreamWrite` to mask them.
 *
 * @example
 * const logMethod = redactedLogMethod(createRedactor());
 * const logged = [];
 * logMethod.call({}, [{ user: 'ada' }, 'password=%s', 'Tr0ub4dor&3'], (...args) => logged.push(...args));
 * logged; // [{ user: 'ada' }, 'password=<:password:>']
 */
export function redactedLogMethod(redactor: Redactor): LogMethod {
  checkRedactor('redactedLogMethod', redactor);
  const known = new WeakMap<Serializers, Serializers>();
  return function (args, method) {
    const serializers = (this as { [SERIALIZERS]?: Serializers })[SERIALIZERS] ?? {};
    let redacted = known.get(serializers);
    if (redacted === undefined) {
      redacted = redactedSerializers(redactor, serializers);
      known.set(serializers, redacted);
    }
    const logger = Object.create(this, { [SERIALIZERS]: { value: redacted } }) as object;
    Reflect.apply(method, logger, argumentsOrNone(redactor, args, redacted));
  };
}

/** Requests and responses of Node.js are serialised by pino itself. */
function redactedSerializers(redactor: Redactor, serializers: Serializers): Serializers {
  const asIs = (value: unknown) => value;
  const all = { req: asIs, res: asIs, ...serializers };
  return Object.fromEntries(
    Object.entries(all).map(([key, serialize]) => [
      key,
      (value: unknown) => Object.values(redactor.redact({ [key]: serialize(value) }) as object)[0],
    ]),
  );
}

/** A program must not fail because of what it logs: a Proxy can throw at whatever is asked of it. */
function argumentsOrNone(
  redactor: Redactor,
  args: readonly unknown[],
  serializers: Serializers,
): readonly unknown[] {
  try {
    return redactedArguments(redactor, args, serializers);
  } catch {
    return [unmaskable(redactor)];
  }
}

/** As pino takes them: an object or a message first, then what its `%s` stand for. */
function redactedArguments(
  redactor: Redactor,
  [first, ...others]: readonly unknown[],
  serializers: Serializers,
): readonly unknown[] {
  if (typeof first === 'object') {
    const object = first === null || isHttp(first) ? first : redactedObject(redactor, first, serializers);
    return [object, ...redactedMessage(redactor, others)];
  }
  return redactedMessage(redactor, first === undefined ? others : [first, ...others]);
}

/** As pino asks: others are logged by their fields. */
const isHttp = (value: object) => {
  const { method, headers, socket, setHeader } = value as Record<string, unknown>;
  return Boolean(method && headers && socket) || typeof setHeader === 'function';
};

function redactedObject(redactor: Redactor, object: object, serializers: Serializers): object {
  if (isError(object)) return redactedError(redactor, object);
  // A serialiser needs the object as it is. What it returns is masked.
  return redactedFields(
    redactor,
    object,
    (key, value) => serializers[key] !== undefined && typeof value === 'object' && !isPlain(value),
  );
}

function redactedMessage(redactor: Redactor, [message, ...values]: readonly unknown[]): readonly unknown[] {
  if (message === undefined) return [];
  if (typeof message !== 'string') return [message, ...values].map((value) => redactor.redact(value));
  // pino uses no more values than a message has tokens.
  const [text, shown] = redactedFormatted(redactor, message, values.slice(0, tokensOf(message).length));
  return [text, ...shown];
}

function isPlain(value: object | null): boolean {
  if (value === null || Array.isArray(value)) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}
