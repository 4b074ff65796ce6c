import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A frame of a stack that has a file: its path or URL, and the line. */
const FRAME = /^\s+at .*?\(?((?:file:|\/|[A-Z]:\\).*?:\d+):\d+\)?$/gm;

/** An error with the place of its own code: `TypeError: x is not a function, at my-plugins/parse.mjs:12`. */
export function errorText(error: unknown): string {
  const { name, message, stack } = (error ?? {}) as Partial<Error>;
  if (typeof message !== 'string') return `${String(error)} was thrown`;
  const place = placeOf(stack ?? '', message);
  return `${name}: ${message}${place === undefined ? '' : `, at ${place}`}`;
}

/** The first line of code that is neither Node's nor of an installed package. */
function placeOf(stack: string, message: string): string | undefined {
  // A message may hold what looks like a frame.
  const frames = stack.slice(Math.max(0, stack.indexOf(message)) + message.length);
  const places = Array.from(frames.matchAll(FRAME), ([, place]) => place as string);
  const place = places.find((path) => !/[\\/]node_modules[\\/]/.test(path));
  if (place === undefined) return undefined;
  const path = place.startsWith('file:') ? fileURLToPath(place) : place;
  const below = relative(process.cwd(), path);
  return below.startsWith('..') ? path : below;
}
