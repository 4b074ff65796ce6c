import { STATUS_CODES } from 'node:http';
import { asyncScheduler } from 'rxjs';
import { type FailedEvent, PluginError } from '../../src/sdk/index.ts';
import { isRowError } from './clickhouse-errors.ts';
import type { Documents } from './documents.ts';

/** What a server has answered. */
export interface Answer {
  /** What the server has answered or, where the protocol reads another status in the answer, that one. */
  readonly status: number;
  /** The status of the answer, if `status` is another one. */
  readonly received?: number | undefined;
  /** By their names in lower case. They may quote events. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Seconds until the next request, if the server asks for them. */
  readonly retryAfter: number | undefined;
  /** The first part of the body. It may quote events. */
  readonly text: string;
  /** Whether the body is longer, so that its end is not in `text`. */
  readonly isCut?: boolean | undefined;
  /** `text` as bytes. */
  readonly bytes: Buffer;
  /** The error that the server names beside the status. It quotes nothing of an event. */
  readonly serverError: string | undefined;
  /** What it means, where the protocol knows more than the status says. */
  readonly verdict?: Verdict | undefined;
}

/** `failed`: the request itself has failed, for whatever events. */
export interface Verdict {
  readonly means: 'taken' | 'too large' | 'busy' | 'failed';
  /** What the user can do about it. */
  readonly hint?: string | undefined;
}

export type RetryStatuses = readonly (number | '4xx' | '5xx')[];
/** Overload, and errors that may pass. */
export const RETRY_STATUSES: RetryStatuses = [408, 425, 429, '5xx'];

/** The call that an answer belongs to. */
export interface AnsweredCall {
  readonly documents: Documents;
  /** How messages name the server. */
  readonly server: string;
  readonly statuses: RetryStatuses;
  /** Aborted when nobody waits for the call any longer. */
  readonly signal: AbortSignal;
  /** Whether an answer without success, beside 413, is about an event. Default: by its status. */
  readonly isAboutEvents?: ((answer: Answer) => boolean) | undefined;
}

/** A refusal of the body, so that an event in it may be the cause. All other ones are about the request itself. */
const ABOUT_EVENTS = new Set([400, 409, 413, 422]);

const HINTS: Readonly<Record<number, string>> = {
  401: 'check `auth`',
  403: 'check `auth`',
  404: 'check `url`',
  405: 'check `url`',
  407: 'check the credentials of the proxy',
  413: 'the event alone is too large for the server',
};

const isOk = (status: number): boolean => status >= 200 && status < 300;

/** Whether the server has taken the body: a server may find an error after it has sent a status of success. */
export const isSuccess = ({ status, serverError, verdict }: Answer): boolean =>
  verdict === undefined ? isOk(status) && serverError === undefined : verdict.means === 'taken';

/** Whether the server may take the events in smaller bodies. */
export const isTooLarge = ({ status, verdict }: Answer): boolean =>
  verdict === undefined ? status === 413 : verdict.means === 'too large';

/** Whether the server refuses the body, so that an event in it may be the cause, and would refuse it again. */
export function isRefusal(
  answer: Answer,
  { statuses, isAboutEvents }: Pick<AnsweredCall, 'statuses' | 'isAboutEvents'>,
): boolean {
  const { status, serverError, verdict } = answer;
  if (verdict !== undefined) return isTooLarge(answer);
  if (isAboutEvents !== undefined) return isTooLarge(answer) || isAboutEvents(answer);
  if ((status >= 500 || isOk(status)) && isRowError(serverError)) return true;
  return !isRetried(status, statuses) && (ABOUT_EVENTS.has(status) || status >= 500);
}

/**
 * The error of an answer without success. One that is to be retried asks for the wait of `Retry-After`. One about the
 * body is permanent for a single event; for several it is left open which one is the cause. Any other one is fatal, because
 * every event would fail the same way.
 */
export function errorOf(answer: Answer, of: AnsweredCall): PluginError {
  const {
    documents: { count },
    server,
    statuses,
    isAboutEvents,
  } = of;
  const { status, retryAfter, serverError, verdict } = answer;
  const answered = `${server} answered ${statusText(answer)}`;
  if (isRefusal(answer, of)) {
    if (count > 1) {
      const hint = verdict?.hint === undefined ? '' : `; ${verdict.hint}`;
      return new PluginError(`${answered} to a batch of ${count} events${hint}`);
    }
    return new PluginError(isTooLarge(answer) ? `${answered}; ${HINTS[413]}` : answered, { permanent: true });
  }
  if (verdict === undefined ? isRetried(status, statuses) || isOk(status) : verdict.means === 'busy') {
    return new PluginError(answered, { retryAfter });
  }
  const isRedirect = status >= 300 && status < 400;
  const isMissing = status === 404 && serverError?.startsWith('ClickHouse');
  const hint = verdict
    ? verdict.hint
    : isRedirect
      ? 'redirects are not followed; set `url` to the new address'
      : isMissing
        ? 'create the table, or check `url`'
        : isAboutEvents !== undefined
          ? (HINTS[status] ?? HINTS[404])
          : HINTS[status];
  const error = new PluginError(hint === undefined ? answered : `${answered}; ${hint}`);
  return Object.assign(error, { fatal: true });
}

/** The status of an answer in words, for messages. */
export function statusText({ status, received, serverError }: Answer): string {
  const meanings = [STATUS_CODES[status], serverError].filter((text) => text !== undefined);
  const read = received === undefined ? '' : `${received}, which means `;
  return meanings.length === 0 ? `${read}${status}` : `${read}${status} (${meanings.join('; ')})`;
}

/**
 * The events that a server has not taken, of an answer with a status for each of them.
 *
 * @param errors the names of their errors, for messages; they must quote nothing of an event.
 * @param isPermanent whether the server would refuse the event at a position of `each` again. Default: unless the status is one of `statuses`.
 */
export function failedItems(
  each: readonly number[],
  { documents: { first }, statuses }: AnsweredCall,
  errors: readonly (string | undefined)[] = [],
  isPermanent = (status: number, _index: number) => !isRetried(status, statuses),
): FailedEvent[] {
  return each.flatMap((status, index) => {
    if (isOk(status)) return [];
    const error = errors[index];
    const reason = `the server answered ${status}${error === undefined ? '' : ` (${error})`} for the event`;
    return [{ index: first + index, reason, permanent: isPermanent(status, index) }];
  });
}

export function isRetried(status: number, statuses: RetryStatuses): boolean {
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
  /** The error after which no further event was sent. One that may pass keeps later events from overtaking those that failed. */
  readonly stoppedBy?: unknown;
}

/** The JSON of an answer; undefined if it is none. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
