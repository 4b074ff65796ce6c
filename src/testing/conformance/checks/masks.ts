import type { CollectedEvent } from '../../../sdk/events.ts';
import { isMask, type ProcessPlugin } from '../../../sdk/plugin.ts';
import { type Check, demand } from '../check.ts';
import { handled, observe } from '../observe.ts';
import type { Subject } from '../subject.ts';

const TIMESTAMP = '2026-01-02T03:04:05.678Z';

/** What a plugin with the trait `masks` promises: masking fails closed. */
export const MASK_CHECKS: readonly Check[] = [
  {
    name: 'masks: what it cannot look into goes no further',
    kinds: ['process'],
    applies: (plugin) => isMask(plugin as ProcessPlugin),
    async run(subject) {
      for (const [what, value] of opaqueValues()) {
        const events = await results(subject, { timestamp: TIMESTAMP, data: { nested: [{ value }] } });
        demand(
          !events.some((event) => holdsOpaque(event)),
          `it let ${what} pass, in which a secret may stand; throw on what you cannot mask, or replace it by what you masked`,
        );
      }
      return undefined;
    },
  },
  {
    name: 'masks: the secret goes no further, wherever it stands',
    kinds: ['process'],
    applies: (plugin) => isMask(plugin as ProcessPlugin),
    async run(subject) {
      const { secret } = subject;
      if (secret === undefined) return 'give the option `secret`: a text that it must not let pass';
      for (const [where, event] of eventsWith(secret)) {
        const shown = JSON.stringify(await results(subject, event));
        demand(
          !shown.includes(JSON.stringify(secret).slice(1, -1)),
          `it let the secret pass ${where}; mask every text at any depth of the event`,
        );
      }
      return undefined;
    },
  },
];

/** What came of an event; none if the plugin failed on it, as it may. */
async function results(subject: Subject, event: CollectedEvent): Promise<readonly unknown[]> {
  const { values } = await observe(subject, () => handled(subject, subject.context(), event));
  return values;
}

function opaqueValues(): [what: string, value: unknown][] {
  return [
    ['a Map', new Map([['key', 'value']])],
    ['a Set', new Set(['value'])],
    ['bytes', Buffer.from('value')],
    ['a function', () => 'value'],
  ];
}

function holdsOpaque(value: unknown, depth = 0): boolean {
  if (typeof value === 'function') return true;
  if (typeof value !== 'object' || value === null || depth > 10) return false;
  if (value instanceof Map || value instanceof Set || ArrayBuffer.isView(value)) return true;
  return Object.values(value).some((inner) => holdsOpaque(inner, depth + 1));
}

function eventsWith(secret: string): [where: string, event: CollectedEvent][] {
  const event = (data: Record<string, unknown>, fields: object = {}): CollectedEvent => ({
    timestamp: TIMESTAMP,
    data,
    ...fields,
  });
  return [
    ['in a field of the data', event({ line: secret })],
    ['deep in the data', event({ a: [{ b: [{ c: secret }] }] })],
    ['beside the data', event({ line: 'x' }, { raw_data: { line: secret } })],
    ['behind a toJSON', event({ line: { toJSON: () => secret } })],
    ['in a field named __proto__', event(JSON.parse(`{"__proto__":${JSON.stringify(secret)}}`))],
  ];
}
