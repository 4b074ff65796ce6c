import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PipelineRun } from '../pipeline-run.ts';
import type { PluginFailure } from '../trace.ts';
import type { Finding } from './received.ts';

const KINDS = {
  collect: 'collector',
  process: 'processor',
  forward: 'forwarder',
  dead_letter: 'dead letter',
  pipeline: 'pipeline',
} as const satisfies Record<PluginFailure['place']['kind'], string>;

/** A frame of a stack that has a file: its path or URL, and the line. */
const FRAME = /^\s+at .*?\(?((?:file:|\/|[A-Z]:\\).*?:\d+):\d+\)?$/gm;

/**
 * What plugins threw in a run of a test, each once. Message and place are shown, other than in a log: the events are the
 * author's own. What the test lets fail itself says nothing new.
 */
export function failureFindings({ failures }: PipelineRun): Finding[] {
  const counts = new Map<string, number>();
  for (const { place, error } of failures) {
    if (isOfTheTest(place, error)) continue;
    const text = `${KINDS[place.kind]} ${place.name} failed: ${errorText(error)}`;
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  return Array.from(counts, ([text, count]) => ({
    path: [],
    message: count === 1 ? text : `${text} (${count} times)`,
  }));
}

/** A forwarder that is to fail, or a collector whose marbles end with `#`. */
function isOfTheTest({ kind }: PluginFailure['place'], error: unknown): boolean {
  if (kind === 'forward' || kind === 'dead_letter') return true;
  return (error as { code?: unknown } | null | undefined)?.code === 'MILLRACE_TEST_FAILURE';
}

/** `TypeError: x is not a function, at my-plugins/parse.mjs:12` */
function errorText(error: unknown): string {
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
