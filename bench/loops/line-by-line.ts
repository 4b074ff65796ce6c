import { THREE_RULES } from '../log-generator.ts';
import type { EventLoop } from './event-loop.ts';

const SECRET = new RegExp(THREE_RULES.SECRET as string, 'g');
const IP = new RegExp(THREE_RULES.IP as string, 'g');
const EMAIL = new RegExp(THREE_RULES.EMAIL as string, 'g');

/** What most programs do: three `replace` and one `JSON.stringify` for each line. */
export const lineByLine: EventLoop = (text, source) => {
  const timestamp = new Date().toISOString();
  let events = '';
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const masked = line.replace(SECRET, '<:SECRET:>').replace(IP, '<:IP:>').replace(EMAIL, '<:EMAIL:>');
    events += `${JSON.stringify({ timestamp, data: { line: masked, source }, backfill: true })}\n`;
  }
  return events;
};
