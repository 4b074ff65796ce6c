import { join } from 'node:path';
import { defer, type Observable } from 'rxjs';
import { z } from 'zod';
import { FileAppender } from '../../operators/append-file.ts';
import { NumberedFiles } from '../../operators/numbered-files.ts';
import {
  type CollectedEvent,
  ForwardConfigBase,
  type PipelineRunContext,
  path,
} from '../../src/models/index.ts';
import { serialise } from '../../src/models/serialise.ts';

export const description = 'Writes events as JSON: line by line to one file, or each to a file of its own.';

export const example = `
archive:
  plugin: disk
  path: out/archive
  filename: events.jsonl
`;

/** A separator would lead out of `path`. The backslash is one on other systems. */
const isBareName = (name: string) => !/^\.{0,2}$|[/\\\0]/.test(name);

/** Specification 2.9: disk. */
export const DiskConfig = ForwardConfigBase.extend({
  path: path(),
  filename: z.string().refine(isBareName, { message: 'a bare file name, without separators' }).optional(),
  pretty_print: z.boolean().default(false),
});
export type DiskConfig = Readonly<z.output<typeof DiskConfig>>;

export function get_config_schema(): typeof DiskConfig {
  return DiskConfig;
}

interface Writer {
  write(documents: readonly string[]): Observable<never>;
  close(): void;
}

type Context = PipelineRunContext<DiskConfig>;

/** Appends the event to `filename`, or writes it to the next `event-dump-<n>.json`, in the order of the calls. */
export function forward({ ctx, event }: { ctx: Context; event: CollectedEvent }): Observable<never> {
  return forwardBatch({ ctx, events: [event] });
}

/** The same for many events in one write: all of them or none. */
export function forwardBatch({
  ctx,
  events,
}: {
  ctx: Context;
  events: readonly CollectedEvent[];
}): Observable<never> {
  const indent = ctx.config.pretty_print ? 2 : undefined;
  return defer(() => writerOf(ctx).write(events.map((event) => serialise(event, indent))));
}

/** One for each context, because a context is one run: its file is closed when the run is over. */
const writers = new WeakMap<Context, Writer>();

function writerOf(ctx: Context): Writer {
  const known = writers.get(ctx);
  if (known !== undefined) return known;
  const { path, filename } = ctx.config;
  const writer = filename === undefined ? dumps(path) : lines(join(path, filename));
  writers.set(ctx, writer);
  if (ctx.signal.aborted) writer.close();
  else ctx.signal.addEventListener('abort', () => writer.close(), { once: true });
  return writer;
}

function lines(path: string): Writer {
  const appender = new FileAppender(path);
  return {
    write: (documents) => appender.append(documents.map((document) => `${document}\n`).join('')),
    close: () => appender.close(),
  };
}

function dumps(folder: string): Writer {
  const files = new NumberedFiles(folder, 'event-dump-', '.json');
  return { write: (documents) => files.write(documents), close: () => {} };
}
