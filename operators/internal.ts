// What millrace shares with its operators, and its users do not see: no entry of a package exports it, and any release may
// change it. It runs wherever RxJS does. `internal-masks.ts` and `internal-files.ts` have what belongs to masks and files.
// `src` and `plugins` import operators from these three, `index.ts` and `node.ts` only, which a test checks.

// Time.

export { drawDelay } from './delay-range.ts';
export { isoNow, steadyClock, toUtc } from './support/clock.ts';

// Subscriptions without the cost of an operator.

export { subscribeFor, subscribeInner } from './support/subscribe-for.ts';

// The loop of everything that has a queue.

export { Pump } from './support/pump.ts';

// Collections.

export { Fifo } from './support/fifo.ts';
export { LruMap } from './support/lru-map.ts';

// Work that took long, after which the event loop has a turn.

export { forgetLongWork, hasLongWork, noteLongWork } from './support/long-work.ts';

// Flags of V8.

export { allowedV8Flags, allowV8Flags } from './support/v8-flags.ts';

// What is logged.

export { isNoteworthy } from './support/log-throttle.ts';

// Text.

export { countLines } from './support/count-lines.ts';
export { counted } from './support/counted.ts';
export { unescapeBytes } from './support/escaped-bytes.ts';
export { MAX_LINE_BYTES } from './support/max-line-bytes.ts';
