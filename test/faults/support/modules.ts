/** The schema of a module that takes any settings. */
export const ANY_SETTINGS =
  'export const get_config_schema = () => ({ safeParse: (data) => ({ success: true, data }) });';

/** Writes at once, and confirms a random while later, as a remote does: what a kill finds open comes again. */
export const LATE_FORWARDER = `
import fs from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
${ANY_SETTINGS}
let output;
export async function forwardBatch({ events }) {
  fs.mkdirSync('out', { recursive: true });
  output ??= openMended('out/late.jsonl');
  fs.writeSync(output, events.map((event) => JSON.stringify(event) + '\\n').join(''));
  await delay(Math.random() * 20);
}
export const forward = ({ event }) => forwardBatch({ events: [event] });
// A kill can cut a write in two: what the last one left of a line has to go, as \`disk\` does it.
function openMended(path) {
  const file = fs.openSync(path, 'a');
  fs.ftruncateSync(file, fs.readFileSync(path).lastIndexOf('\\n') + 1);
  return file;
}
`;

/** Makes none of every seventh line of the oracle, two of every eleventh, and one of the others. */
export const MULTIPLYING_PROCESSOR = `
${ANY_SETTINGS}
export function process({ event }) {
  const id = Number(/id:(\\d+)/.exec(event.data.line)?.[1]);
  if (id % 7 === 0) return [];
  return id % 11 === 0 ? [event, { ...event, data: { ...event.data, again: true } }] : [event];
}
`;

/** What {@link MULTIPLYING_PROCESSOR} makes of a line. */
export const copiesOf = (id: number) => (id % 7 === 0 ? 0 : id % 11 === 0 ? 2 : 1);
