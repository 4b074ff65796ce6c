import fs from 'node:fs';
import { catchError, defer, type Observable, switchMap, tap, throwError, timer } from 'rxjs';
import * as z from 'zod';
import { ResumingWriter } from '../../operators/internal-files.ts';
import { writeToStream } from '../../operators/node.ts';
import {
  type CollectedEvent,
  ForwardConfigBase,
  type PipelineRunContext,
  PluginError,
  printableJson,
  toJsonLine,
} from '../../src/sdk/index.ts';

export const description = 'Writes events to standard output, one JSON document per line.';

export const example = `
console:
  plugin: stdout
  pretty_print: true
`;

export const shownSettings = { pretty_print: '' };

export const traits = { writesStdout: true };

/** Ours. `pretty_print` indents by 2. */
export const StdoutConfig = ForwardConfigBase.extend({
  pretty_print: z.boolean().default(false).describe('Indent the JSON by 2.'),
});
export type StdoutConfig = Readonly<z.output<typeof StdoutConfig>>;

export function get_config_schema(): typeof StdoutConfig {
  return StdoutConfig;
}

type Context = PipelineRunContext<StdoutConfig>;

/** Writes the event; completes when standard output has taken it, so that a slow reader slows the pipeline. */
export function forward({ ctx, event }: { ctx: Context; event: CollectedEvent }): Observable<never> {
  return forwardBatch({ ctx, events: [event] });
}

/** {@link forward} for many events in one write. */
export function forwardBatch({
  ctx,
  events,
}: {
  ctx: Context;
  events: readonly CollectedEvent[];
}): Observable<never> {
  const indent = ctx.config.pretty_print ? 2 : undefined;
  return defer(() => write(events.map((event) => toJsonLine(event, indent)).join(''), ctx));
}

/** {@link forwardBatch} for documents on lines of their own. */
export function forwardJsonLines({
  ctx,
}: {
  ctx: Context;
}): ((documents: Buffer) => Observable<never>) | undefined {
  return ctx.config.pretty_print ? undefined : (documents) => write(documents, ctx);
}

function write(text: string | Buffer, ctx: Context): Observable<never> {
  // What is in an event must not steer the terminal of the person who reads it. Programs get it as it is.
  const shown = process.stdout.isTTY ? printableJson(text.toString()) : text;
  const written$ =
    fileOnStdout()?.write(shown) ?? writeToStream(process.stdout, shown).pipe(catchError(explain));
  return written$.pipe(tap({ complete: () => ctx.stats.bytes(Buffer.byteLength(shown)) }));
}

let fileWriter: ResumingWriter | undefined;

/**
 * The writer of a file that standard output was redirected to; undefined for anything else. Node's own stream takes
 * a write for done that a full disk took a part of, and never writes again after an error.
 */
function fileOnStdout(): ResumingWriter | undefined {
  const { fd } = process.stdout;
  if (fileWriter === undefined && isFile(fd)) {
    fileWriter = new ResumingWriter(fd, 'standard output');
  }
  return fileWriter;
}

function isFile(fd: number): boolean {
  try {
    // Not asynchronous: it asks the kernel about a descriptor, not a disk.
    return fs.fstatSync(fd).isFile();
  } catch {
    return false;
  }
}

const CLOSED = new Set(['EPIPE', 'ERR_STREAM_DESTROYED', 'ERR_STREAM_WRITE_AFTER_END']);

/** Milliseconds. */
const REPORTED_AFTER = 5000;

/**
 * Node.js writes nothing more to a stream after an error. `millrace run` ends then, which is not a failure of the
 * forwarder, so the error is reported later: to a program that has not ended. It is not permanent, so that what could
 * not be written stays unacknowledged.
 */
function explain(error: NodeJS.ErrnoException): Observable<never> {
  const closed = 'standard output was closed by its reader; nothing more can be written to it';
  const explained = CLOSED.has(error.code ?? '') ? new PluginError(closed, { cause: error }) : error;
  return timer(REPORTED_AFTER).pipe(switchMap(() => throwError(() => explained)));
}
