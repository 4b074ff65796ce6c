import { THREE_RULES } from '../log-generator.ts';
import type { EventLoop } from './event-loop.ts';

const RULES = Object.entries(THREE_RULES).map(([name, source]) => ({
  expression: new RegExp(source, 'g'),
  replacement: `<:${name}:>`,
}));

/** The structured job by hand: parses each line, drops those of the level DEBUG, and masks every string at any depth. */
export const structured: EventLoop = (text, source) => {
  const timestamp = new Date().toISOString();
  let events = '';
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const fields = JSON.parse(line);
    if (fields.level === 'DEBUG') continue;
    const data = masked({ source, ...fields });
    events += `${JSON.stringify({ timestamp, data, backfill: true })}\n`;
  }
  return events;
};

function masked(value: unknown): unknown {
  if (typeof value === 'string') {
    let text = value;
    for (const { expression, replacement } of RULES) text = text.replace(expression, replacement);
    return text;
  }
  if (Array.isArray(value)) return value.map(masked);
  if (typeof value !== 'object' || value === null) return value;
  const copy: Record<string, unknown> = {};
  for (const [key, field] of Object.entries(value)) copy[key] = masked(field);
  return copy;
}
