import { THREE_RULES } from '../log-generator.ts';
import type { EventLoop } from './event-loop.ts';
import { speltEvents } from './spelt-events.ts';

const RULES = Object.entries(THREE_RULES).map(([name, source]) => ({
  expression: new RegExp(source, 'g'),
  replacement: `<:${name}:>`,
}));

/** Each expression once over the whole text: none of the three can match across the end of a line. */
export const wholeChunks: EventLoop = (text, source) => {
  let masked = text;
  for (const { expression, replacement } of RULES) masked = masked.replace(expression, replacement);
  return speltEvents(masked, source);
};
