import { isNativeError } from 'node:util/types';
import type { ErrorCode } from './error-table.ts';
import { describeSystemCause, describeSystemError } from './system-error.ts';

/** Marks an error for other installed copies of millrace, whose classes are not these. */
const BRAND = Symbol.for('millrace.MillraceError');

/**
 * An error of millrace's own. Its message names what was wrong, where, what was expected and what to do, and
 * never holds the content of an event, so it may be logged.
 */
export class MillraceError extends Error {
  static {
    Object.defineProperty(MillraceError.prototype, BRAND, { value: true });
  }

  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'MillraceError';
    this.code = code;
  }
}

/** Whether a value is a MillraceError, of this or of another installed copy of millrace: plugins may bring their own. */
function isMillraceError(value: unknown): value is MillraceError {
  return typeof value === 'object' && value !== null && BRAND in value && isNativeError(value);
}

/**
 * For plugin authors: an error whose message is safe to log, and which `permanent` keeps from being retried.
 *
 * @example
 * const error = new PluginError('there is no table `events`', { permanent: true });
 * error.code; // 'MILLRACE_PLUGIN'
 */
export class PluginError extends MillraceError {
  /** True skips the retries of a forwarder: the event goes to the dead letter, or is dropped, at once. */
  readonly permanent: boolean;
  /**
   * For an error of `forwardBatch`: which events of the batch failed, by their positions from 0 on, or with a reason each.
   * All others were delivered. Default: the whole batch failed.
   */
  readonly failedEvents: readonly (number | FailedEvent)[] | undefined;
  /**
   * Seconds until a forwarder may be called again, in place of the usual wait; at most an hour. Default: the usual wait.
   */
  readonly retryAfter: number | undefined;
  /** With `failedEvents`: those that are not permanent were not tried yet. See {@link isUnfinished}. */
  readonly unfinished: boolean;

  /** @throws MillraceError `MILLRACE_ARGUMENT` for an option that is unknown or of the wrong type: a typo could cost events. */
  constructor(message: string, options: PluginErrorOptions = {}) {
    const problem = optionsProblem(options);
    if (problem !== undefined)
      throw new MillraceError('MILLRACE_ARGUMENT', `PluginError: ${problem}. Its message was: ${message}`);
    super('MILLRACE_PLUGIN', message, options);
    this.name = 'PluginError';
    this.permanent = options.permanent ?? false;
    this.failedEvents = options.failedEvents;
    this.retryAfter = options.retryAfter;
    this.unfinished = options.unfinished ?? false;
  }
}

/** An event of a batch that was not delivered. */
export interface FailedEvent {
  /** Its position in the batch, from 0 on. */
  readonly index: number;
  /** Why, for the log and the dead letter. It must not quote the event. Default: the message of the error. */
  readonly reason?: string | undefined;
  /** Whether another attempt would fail too. Default: that of the error. */
  readonly permanent?: boolean | undefined;
}

export interface PluginErrorOptions extends ErrorOptions {
  readonly permanent?: boolean | undefined;
  readonly failedEvents?: readonly (number | FailedEvent)[] | undefined;
  readonly retryAfter?: number | undefined;
  readonly unfinished?: boolean | undefined;
}

const OPTIONS: Readonly<Record<string, (value: unknown) => string | undefined>> = {
  cause: () => undefined,
  permanent: (value) => (typeof value === 'boolean' ? undefined : 'expected true or false'),
  unfinished: (value) => (typeof value === 'boolean' ? undefined : 'expected true or false'),
  retryAfter: (value) =>
    typeof value === 'number' && !Number.isNaN(value) ? undefined : 'expected a number of seconds',
  failedEvents: failedEventsProblem,
};

function optionsProblem(options: unknown): string | undefined {
  if (typeof options !== 'object' || options === null) return 'its options are no object';
  for (const [name, value] of Object.entries(options)) {
    const check = Object.hasOwn(OPTIONS, name) ? OPTIONS[name] : undefined;
    if (check === undefined)
      return `it has the unknown option \`${name}\`; expected ${Object.keys(OPTIONS).join(', ')}`;
    const problem = value === undefined ? undefined : check(value);
    if (problem !== undefined) return `its option \`${name}\` is wrong: ${problem}`;
  }
  return undefined;
}

/** Says in words why `failedEvents` does not name events of a batch of `size`; undefined if it does, or names none. */
function failedEventsProblem(named: unknown, size = Number.POSITIVE_INFINITY): string | undefined {
  if (!Array.isArray(named))
    return 'expected an array of positions, or of objects `{ index, reason, permanent }`';
  for (const each of named as readonly unknown[]) {
    const isObject = typeof each === 'object' && each !== null;
    const { index, reason, permanent, ...others } = (isObject ? each : { index: each }) as Record<
      string,
      unknown
    >;
    const [unknown] = Object.keys(others);
    if (unknown !== undefined)
      return `the unknown field \`${unknown}\`; expected \`{ index, reason, permanent }\``;
    if (typeof index !== 'number')
      return `an index is of the type ${typeof index}; expected the position of an event in the batch`;
    if (!Number.isInteger(index) || index < 0 || index >= size) {
      const most =
        size === Number.POSITIVE_INFINITY ? 'an integer of at least 0' : `an integer from 0 to ${size - 1}`;
      return `the index ${index}; expected ${most}`;
    }
    if (reason !== undefined && typeof reason !== 'string') return 'a `reason` is no string';
    if (permanent !== undefined && typeof permanent !== 'boolean')
      return 'a `permanent` is neither true nor false';
  }
  return undefined;
}

/**
 * An error whose `failedEvents` do not name events of a batch of `size`: as an error of the whole batch that says so. All
 * others as they are.
 */
export function withValidFailedEvents(error: unknown, size: number): unknown {
  const named = (error as { failedEvents?: unknown } | null | undefined)?.failedEvents;
  const problem = named === undefined || named === null ? undefined : failedEventsProblem(named, size);
  if (problem === undefined) return error;
  const whole = new PluginError(
    `the \`failedEvents\` of its error are wrong: ${problem}. The whole call of ${size} events counts as failed: ${safeReason(error)}`,
    { permanent: isPermanent(error), retryAfter: retryAfterOf(error), cause: error },
  );
  return Object.assign(whole, { fatal: isFatal(error) });
}

const STACK_PLACE = /^\s+at .*?\(?((?:file:|node:|\/)[^)\s]+:\d+:\d+)\)?$/gm;

/** Codes as Node, its libraries and systems write them. Other capitals and digits can be a key. */
const CODE = /^(?:(?:[A-Z]{2,5}_)?ERR_[A-Z0-9_]{1,60}|DEP[0-9]{4}|[A-Z]{1,20}(?:_[A-Z]{1,20}){0,5})$/;
/** A program can name a class after anything. */
const ERROR_CLASS = /^(?:[A-Z][A-Za-z0-9]{0,40})?(?:Error|Exception|Warning)$/;

/**
 * What of an error may be logged. The message of a foreign error can quote an event (`JSON.parse` does), so it
 * is withheld unless the error is millrace's own, or has `loggable: true`. Of one of the operating system or of Node's
 * network, and of one that such an error has caused, the code, its meaning and the call are shown, but neither path nor
 * address: a plugin may have made them of an event.
 *
 * @example
 * safeReason(new PluginError('there is no table `events`')); // 'there is no table `events`'
 * safeReason('hunter2'); // 'a thrown string (withheld)'
 */
export function safeReason(error: unknown): string {
  if (isMillraceError(error)) return error.message;
  if (!(error instanceof Error || isNativeError(error)))
    return `a thrown ${error === null ? 'null' : typeof error} (withheld)`;
  if ((error as { loggable?: unknown }).loggable === true) return error.message;
  const system = describeSystemError(error);
  if (system !== undefined) return system;
  const cause = describeSystemCause(error);
  if (cause !== undefined) return `${kindOf(error)}, caused by ${cause}`;
  const [place] = stackPlaces(error);
  const code = codeOf(error);
  const kind = kindOf(error);
  const name = code === undefined ? kind : `${kind} ${code}`;
  return `${name}${place === undefined ? '' : ` at ${place}`} (message withheld: it could quote an event)`;
}

/** The name of its class, if that names a kind of error: what an error itself says may be anything. */
function kindOf(error: object): string {
  const name: unknown = Object.getPrototypeOf(error)?.constructor?.name;
  return typeof name === 'string' && ERROR_CLASS.test(name) ? name : 'Error';
}

/**
 * Marks an error whose message holds nothing of an event, such as one with a path of the configuration: it may be
 * logged as it is.
 */
export function loggable<E extends object>(error: E): E {
  return Object.assign(error, { loggable: true });
}

function codeOf(error: Error): string | undefined {
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === 'string' && CODE.test(code) ? code : undefined;
}

/**
 * Whether an error asks not to be retried: `permanent: true` on any error object.
 *
 * @example
 * isPermanent(new PluginError('there is no table `events`', { permanent: true })); // true
 * isPermanent(new Error('busy')); // false
 */
export function isPermanent(error: unknown): boolean {
  return typeof error === 'object' && error !== null && (error as { permanent?: unknown }).permanent === true;
}

/**
 * Whether an error says that every event of this forwarder would fail the same way: `fatal: true` on any error object. The
 * events wait for another attempt, as after any other error, but a batch of them is not bisected. With `permanent: true`,
 * another attempt would never succeed: the run fails, and the pipeline is not started again.
 *
 * @example
 * isFatal(Object.assign(new Error('there is no such table'), { fatal: true })); // true
 * isFatal(new Error('busy')); // false
 */
export function isFatal(error: unknown): boolean {
  return typeof error === 'object' && error !== null && (error as { fatal?: unknown }).fatal === true;
}

/**
 * Whether an error with `failedEvents` says that those that are not permanent were not tried yet: `unfinished: true` on any
 * error object. They are sent at once, which is not another attempt.
 *
 * @example
 * isUnfinished(new PluginError('half of it', { failedEvents: [2, 3], unfinished: true })); // true
 */
export function isUnfinished(error: unknown): boolean {
  return (
    typeof error === 'object' && error !== null && (error as { unfinished?: unknown }).unfinished === true
  );
}

/** Why one event of a batch failed. */
interface EventFailure {
  readonly permanent: boolean;
  /** The error of the batch, or one with the event's own reason. */
  readonly error: unknown;
}

/**
 * The events of a batch that an error names as the failed ones, by their positions, the others having been delivered:
 * `failedEvents` on any error object. Undefined if it names none, or what is not a position: then the whole batch counts as
 * failed.
 *
 * @example
 * const error = new PluginError('refused', { failedEvents: [3, { index: 5, permanent: true }] });
 * [...failedEventsOf(error, 10).keys()]; // [3, 5]
 * failedEventsOf(error, 10).get(5).permanent; // true
 * failedEventsOf(error, 5); // undefined
 */
export function failedEventsOf(error: unknown, size: number): ReadonlyMap<number, EventFailure> | undefined {
  const named = (error as { failedEvents?: unknown } | null | undefined)?.failedEvents;
  if (!Array.isArray(named) || named.length === 0) return undefined;
  if (failedEventsProblem(named, size) !== undefined) return undefined;
  const whole: EventFailure = { permanent: isPermanent(error), error };
  const failed = new Map<number, EventFailure>();
  for (const each of named as readonly unknown[]) {
    const event = typeof each === 'object' && each !== null ? (each as Partial<FailedEvent>) : undefined;
    const index = event === undefined ? each : event.index;
    failed.set(index as number, event === undefined ? whole : failureOf(event, error));
  }
  return failed;
}

/** A reason is shown only where the message would be: that of a foreign error could quote the event. */
function failureOf(event: Partial<FailedEvent>, error: unknown): EventFailure {
  const { reason, permanent = isPermanent(error) } = event;
  const isShown = typeof reason === 'string' && isMillraceError(error);
  return { permanent, error: isShown ? new PluginError(reason, { permanent, cause: error }) : error };
}

/** Seconds: a `Retry-After` in the far future is not believed. */
const LONGEST_RETRY_AFTER = 3600;

/**
 * Seconds after which an error asks to be tried again: `retryAfter` on any error object, at most an hour. Undefined if it
 * has none, or what is not a number above 0.
 *
 * @example
 * retryAfterOf(new PluginError('too many requests', { retryAfter: 30 })); // 30
 * retryAfterOf(new PluginError('down', { retryAfter: 86_400 })); // 3600
 */
export function retryAfterOf(error: unknown): number | undefined {
  const seconds = (error as { retryAfter?: unknown } | null | undefined)?.retryAfter;
  return typeof seconds === 'number' && seconds > 0 ? Math.min(seconds, LONGEST_RETRY_AFTER) : undefined;
}

/**
 * The places in the code that an error's stack names, from the inside out. The message, with which the stack starts, may
 * hold what looks like a place.
 */
export function stackPlaces({ stack, message }: Error): string[] {
  if (typeof stack !== 'string') return [];
  const at = stack.indexOf(message);
  const frames = at < 0 ? '' : stack.slice(at + message.length);
  return Array.from(frames.matchAll(STACK_PLACE), ([, place]) => place as string);
}

/**
 * On an error: the milliseconds until the next attempt, in the place of a random backoff. A recording replays its waits with
 * it. Other than `retryAfter`, it does not hold back other calls.
 */
export const BACKOFF = Symbol('backoff');
