import type { CollectedEvent } from '../../sdk/events.ts';

const TIMESTAMP = '2026-01-02T03:04:05.678Z';

/** Stands in every odd event; no error may quote it. */
export const CONTENT = 'conformance-s3cret-4711';

const event = (data: Record<string, unknown>): CollectedEvent => ({ timestamp: TIMESTAMP, data });

/** Events of ordinary shapes. */
export function sampleEvents(): CollectedEvent[] {
  return [
    event({ line: 'GET /index.html 200', source: '/var/log/access.log' }),
    event({ name: 'ticks', count: 1 }),
    event({ user: { name: 'ada', tags: ['a', 'b'] }, ok: true, load: [0.5, 0.25] }),
  ];
}

/** Events that the type allows and that nobody thinks of, by what is odd about them. */
export function oddEvents(): ReadonlyMap<string, CollectedEvent> {
  const cyclic: Record<string, unknown> = { text: CONTENT };
  cyclic.self = cyclic;
  let deep: Record<string, unknown> = { text: CONTENT };
  for (let i = 0; i < 2000; i++) deep = { deep };
  // JSON.parse creates an own key; an assignment would set the prototype.
  const proto = JSON.parse(`{"__proto__":{"text":"${CONTENT}"},"constructor":"${CONTENT}"}`);
  return new Map([
    ['empty data', event({})],
    [
      'null, undefined and numbers',
      event({ a: null, b: undefined, c: Number.NaN, d: 2 ** 60, e: -0, text: CONTENT }),
    ],
    ['a bigint', event({ n: 10n, text: CONTENT })],
    ['the keys __proto__ and constructor', event(proto)],
    ['data without a prototype', event(Object.assign(Object.create(null), { text: CONTENT }))],
    ['a line that is no string', event({ line: { text: CONTENT }, source: 7 })],
    ['text that is no JSON', event({ line: `{"text": "${CONTENT}`, message: `${CONTENT}}` })],
    ['half of a surrogate pair', event({ text: `${CONTENT}\ud800` })],
    [
      'a Date, a Map and bytes',
      event({ at: new Date(0), map: new Map([[CONTENT, 1]]), bytes: Buffer.from(CONTENT) }),
    ],
    ['data that contains itself', event(cyclic)],
    ['data of great depth', event(deep)],
  ]);
}
