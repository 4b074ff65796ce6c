import { STATUS_CODES } from 'node:http';
import { asyncScheduler } from 'rxjs';
import { counted } from '../../operators/internal.ts';
import { type FailedEvent, PluginError } from '../../src/sdk/index.ts';
import { isRowError } from './clickhouse-errors.ts';
import type { Documents } from './documents.ts';

/** What a server has answered. */
export interface Answer {
  readonly status: number;
  /** Seconds until the next request, if the server asks for them. */
  readonly retryAfter: number | undefined;
  /** The first part of the body. It may quote events. */
  readonly text: string;
  /** The error that the server names beside the status. It quotes nothing of an event. */
  readonly serverError: string | undefined;
}

type RetryStatuses = readonly (number | '4xx' | '5xx')[];

/** A refusal of the body, so that an event in it may be the cause. All other ones are about the request itself. */
const ABOUT_EVENTS = new Set([400, 409, 413, 422]);

const HINTS: Readonly<Record<number, string>> = {
  401: 'check `auth`',
  403: 'check `auth`',
  404: 'check `url`',
  405: 'check `method` and `url`',
  407: 'check the credentials of `proxy`',
  413: 'the event alone is too large for the server',
};

const isOk = (status: number): boolean => status >= 200 && status < 300;

/** Whether the server has taken the body: a server may find an error after it has sent a status of success. */
export const isSuccess = ({ status, serverError }: Answer): boolean =>
  isOk(status) && serverError === undefined;

/** Whether the server refuses the body, so that an event in it may be the cause, and would refuse it again. */
export function isRefusal({ status, serverError }: Answer, statuses: RetryStatuses): boolean {
  if ((status >= 500 || isOk(status)) && isRowError(serverError)) return true;
  return !isRetried(status, statuses) && (ABOUT_EVENTS.has(status) || status >= 500);
}

/**
 * The error of an answer without success. One that is to be retried asks for the wait of `Retry-After`. One about the
 * body is permanent for a single event; for several it is left open which one is the cause. Any other one is fatal, because
 * every event would fail the same way.
 *
 * @param server how messages name the server.
 */
export function errorOf(
  answer: Answer,
  { count }: Documents,
  { server, statuses }: { readonly server: string; readonly statuses: RetryStatuses },
): PluginError {
  const { status, retryAfter, serverError } = answer;
  const meaning = STATUS_CODES[status];
  const meanings = [meaning, serverError].filter((text) => text !== undefined);
  const answered = `${server} answered ${status}${meanings.length === 0 ? '' : ` (${meanings.join('; ')})`}`;
  if (isRefusal(answer, statuses)) {
    if (count > 1) return new PluginError(`${answered} to a batch of ${count} events`);
    return new PluginError(status === 413 ? `${answered}; ${HINTS[413]}` : answered, { permanent: true });
  }
  if (isRetried(status, statuses) || isOk(status)) {
    return new PluginError(answered, { retryAfter });
  }
  const isRedirect = status >= 300 && status < 400;
  const isMissing = status === 404 && serverError !== undefined;
  const hint = isRedirect
    ? 'redirects are not followed; set `url` to the new address'
    : isMissing
      ? 'create the table, or check `url`'
      : HINTS[status];
  const error = new PluginError(hint === undefined ? answered : `${answered}; ${hint}`);
  return Object.assign(error, { fatal: true });
}

function isRetried(status: number, statuses: RetryStatuses): boolean {
  return statuses.some((retried) =>
    typeof retried === 'number' ? retried === status : `${Math.floor(status / 100)}xx` === retried,
  );
}

/** A date of HTTP. `Date.parse` takes many other texts for dates, such as -5. */
const DATE = /^\w{3,9}, .* GMT\s*$/;

/**
 * The wait that an answer asks for by `Retry-After`, which is a number of seconds or a date; undefined if it is neither, or
 * not in the future. A date counts from the `Date` of the same answer, because the clock of this machine may be wrong.
 */
export function secondsUntil(retryAfter: string | undefined, date?: string): number | undefined {
  if (retryAfter === undefined) return undefined;
  const isNumber = /^\s*\d+\s*$/.test(retryAfter);
  if (!isNumber && !DATE.test(retryAfter)) return undefined;
  const answeredAt = date !== undefined && DATE.test(date) ? Date.parse(date) : Number.NaN;
  const now = Number.isNaN(answeredAt) ? asyncScheduler.now() : answeredAt;
  const seconds = isNumber ? Number(retryAfter) : (Date.parse(retryAfter) - now) / 1000;
  return seconds > 0 ? seconds : undefined;
}

/** Events of a call that were not delivered, of which the others were. */
export interface PartialFailure {
  readonly failedEvents: readonly FailedEvent[];
  /** Seconds until those that are to be retried may be sent again, if the server said so. */
  readonly retryAfter?: number | undefined;
}

/**
 * The events that a 207 refuses: its body is a JSON array with a status for each event.
 *
 * @param server how messages name the server.
 * @throws PluginError for any other body: some events may have been refused, and must not be lost. An array that was cut
 * may be whole the next time. A body of another form is fatal, because the server may answer each batch like that.
 */
export function refusedBy(
  { status, text, retryAfter }: Answer,
  { count, first }: Documents,
  { server, statuses }: { readonly server: string; readonly statuses: RetryStatuses },
): PartialFailure {
  if (status !== 207) return { failedEvents: [] };
  const each = parse(text);
  if (each === undefined && /^\s*\[/.test(text)) {
    const message = `${server} answered 207 with an array that is too long or no JSON, so it is not known which of ${counted(count, 'event')} it took`;
    throw new PluginError(message);
  }
  if (!Array.isArray(each) || each.length !== count || !each.every(Number.isInteger)) {
    const message = `${server} answered 207 to ${counted(count, 'event')} with a body other than a JSON array with a status for each, so it is not known which of them it took; let it answer with such an array, or with 200 if it took all of them`;
    throw Object.assign(new PluginError(message), { fatal: true });
  }
  const failedEvents = each.flatMap((own: number, index) => {
    if (own >= 200 && own < 300) return [];
    const reason = `the server answered ${own} for the event`;
    return [{ index: first + index, reason, permanent: !isRetried(own, statuses) }];
  });
  return { failedEvents, retryAfter };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
