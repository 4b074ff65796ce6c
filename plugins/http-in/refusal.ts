/** Why a request is not taken. `message` goes to its sender and into the log, so it holds nothing of a body. */
export class Refusal extends Error {
  readonly status: number;
  /** Seconds after which the sender should repeat the request; undefined if it would be refused again. */
  readonly retryAfter: number | undefined;
  /** The number of the document that is not an event, from 1 on. */
  readonly position: number | undefined;

  constructor(
    status: number,
    message: string,
    { retryAfter, position }: { retryAfter?: number; position?: number } = {},
  ) {
    super(message);
    this.status = status;
    this.retryAfter = retryAfter;
    this.position = position;
  }
}

/** Seconds. The window of a pipeline has room again as soon as its sink takes events. */
export const RETRY_AFTER = 5;

export const isFull = (what: string) => new Refusal(429, what, { retryAfter: RETRY_AFTER });
export const isUnavailable = (why: string) => new Refusal(503, why, { retryAfter: RETRY_AFTER });
