import { join, resolve } from 'node:path';
import { defer, EMPTY, finalize, type MonoTypeOperatorFunction, type Observable, tap } from 'rxjs';
import * as z from 'zod';
import { ExactFile, leaseAppender } from '../../operators/internal-files.ts';
import { type FileAppender, NumberedFiles } from '../../operators/node.ts';
import {
  bytes,
  type CollectedEvent,
  type ConfigProblem,
  count,
  type ExactOutput,
  type ExactOutputEvents,
  ForwardConfigBase,
  oncePerContext,
  type PipelinePlace,
  type PipelineProblem,
  type PipelineRunContext,
  path,
  seconds,
  serialise,
  toJsonLine,
} from '../../src/sdk/index.ts';

export const description = 'Writes events as JSON: line by line to one file, or each to a separate file.';

export const example = `
archive:
  plugin: disk
  path: out/archive
  filename: events.jsonl
  fsync: batch
`;

export const shownSettings = { path: '', filename: '', pretty_print: '' };

export const traits = { writes, virtualFiles: true };

const DUMP_NAME = 'event-dump-';
const DUMP_SUFFIX = '.json';

/** A separator would lead out of `path`. The backslash is one on other systems. */
const isBareName = (name: string) => !/^\.{0,2}$|[/\\\0]/.test(name);

/** The owner has to be able to write to the file again. */
const isFileMode = (digits: string) => /^0?[67][0-7]{2}$/.test(digits);

const rotation = () =>
  z
    .strictObject({
      bytes: bytes().min(1).optional().describe('Rotate before a write that would make the file larger.'),
      seconds: seconds()
        .min(1)
        .optional()
        .describe('Rotate before the first write of a new period. `1d` rotates at midnight, in UTC.'),
      compression: z.enum(['none', 'gzip']).default('none').describe('What is done with rotated files.'),
      keep: z
        .strictObject({
          files: count().optional().describe('The most rotated files that are kept.'),
          bytes: bytes().min(1).optional().describe('The most bytes of rotated files that are kept.'),
          seconds: seconds().gt(0).optional().describe('How long a rotated file is kept.'),
        })
        .optional()
        .describe(
          'Which rotated files are kept: the newest ones, as far as all of these allow. Default: all.',
        ),
    })
    .refine(({ bytes, seconds }) => bytes !== undefined || seconds !== undefined, {
      message: 'expected `bytes`, `seconds` or both',
    });

/**
 * docs/specification.md#29-forward-plugins; `fsync`, `rotate` and `file_mode` are additions. By default a power cut can cost the last second of events. That
 * costs next to nothing, and the kernel alone would make it half a minute. `batch` acknowledges only what the disk has.
 */
export const DiskConfig = ForwardConfigBase.extend({
  path: path().describe('The folder that is written to.'),
  filename: z
    .string()
    .refine(isBareName, { message: 'a bare file name, without separators' })
    .optional()
    .describe('The file that events are appended to. Default: a file for each event.'),
  pretty_print: z.boolean().default(false).describe('Indent the JSON by 2.'),
  fsync: z
    .enum(['never', 'interval', 'batch'])
    .default('interval')
    .describe('When written data is forced to the disk.'),
  /** The permissions of files that are created; the umask can only take some away. */
  file_mode: z
    .string()
    .refine(isFileMode, {
      message:
        "expected octal digits in quotes, such as '0600', of which the first lets the owner read and write (6 or 7)",
    })
    .default('0640')
    .describe(
      'The permissions of new files, in octal digits. Forwarders of one file: what all of them allow.',
    ),
  rotate: rotation()
    .optional()
    .describe('When `filename` is renamed to a name with a date, and what becomes of it. Default: never.'),
});
export type DiskConfig = Readonly<z.output<typeof DiskConfig>>;

export function get_config_schema(): typeof DiskConfig {
  return DiskConfig;
}

/** Its file, or the first of those that it numbers. */
function writes({ config }: { config: DiskConfig }): string {
  return resolve(config.path, config.filename ?? `${DUMP_NAME}1${DUMP_SUFFIX}`);
}

/** Files of one event each have nothing to rotate. */
export function checkConfig({ config }: { config: DiskConfig }): readonly ConfigProblem[] {
  if (config.rotate === undefined || config.filename !== undefined) return [];
  return [{ path: ['rotate'], message: 'it requires `filename`: a file for each event is never rotated' }];
}

/** One file per event cannot be cut back to a place. */
export function checkPipeline({
  name,
  config,
  pipeline,
}: PipelinePlace<DiskConfig>): readonly PipelineProblem[] {
  if (!pipeline.exactly_once || config.filename !== undefined) return [];
  const message = `the output of \`${name}\` is a file for each event, which cannot be cut back after a crash; \`exactly_once\` requires \`filename\``;
  return [{ message }];
}

type Context = PipelineRunContext<DiskConfig>;
type Write<T> = (documents: T) => Observable<never>;

/** Appends the event to `filename`, or writes it to the next `event-dump-<n>.json`, in the order of the calls. */
export function forward({ ctx, event }: { ctx: Context; event: CollectedEvent }): Observable<never> {
  return forwardBatch({ ctx, events: [event] });
}

/** {@link forward} for many events in one write: all of them or none. */
export function forwardBatch({
  ctx,
  events,
}: {
  ctx: Context;
  events: readonly CollectedEvent[];
}): Observable<never> {
  const { filename, pretty_print } = ctx.config;
  const indent = pretty_print ? 2 : undefined;
  return defer(() => {
    if (filename === undefined) return dumpsOf(ctx)(events.map((event) => serialise(event, indent)));
    return linesOf(ctx)(events.map((event) => toJsonLine(event, indent)).join(''));
  });
}

/** {@link forwardBatch} for documents on lines of their own, in one file. */
export function forwardJsonLines({ ctx }: { ctx: Context }): Write<Buffer> | undefined {
  const { filename, pretty_print } = ctx.config;
  return filename === undefined || pretty_print ? undefined : (documents) => linesOf(ctx)(documents);
}

/** {@link forward} for a pipeline with `exactly_once`. Only with `filename`. */
export function exactly({ ctx, ...events }: { ctx: Context } & ExactOutputEvents): ExactOutput {
  const { path, filename = '', pretty_print } = ctx.config;
  const appender = heldAppender(join(path, filename), ctx);
  const file = new ExactFile(appender, { log: ctx.logger, ...events });
  const indent = pretty_print ? 2 : undefined;
  return {
    restore: (marks, lost) => file.restore(marks, lost),
    write: (events) =>
      defer(() => {
        const documents = events.map((event) => toJsonLine(event, indent));
        return file.write(documents).pipe(reportBytes(documents, ctx));
      }),
    sync: () => file.sync(),
    committed: (mark) => file.committed(mark),
  };
}

// A context is one run: its file is closed when the run is over.
const dumpsOf = oncePerContext(dumps);
const linesOf = oncePerContext(lines);

function lines(ctx: Context): Write<string | Buffer> {
  const { path: folder, filename = '', fsync } = ctx.config;
  const path = join(folder, filename);
  const options = { fsync };
  if (!ctx.signal.aborted) heldAppender(path, ctx);
  return (text) =>
    defer(() => {
      // A part of its own, because a write that was begun may outlast the run.
      const { appender, release } = leaseAppender(path, appenderOptions(ctx));
      return appender.append(text, options).pipe(reportBytes([text], ctx), finalize(release));
    });
}

const modeOf = ({ file_mode }: DiskConfig): number => Number.parseInt(file_mode, 8);

const appenderOptions = ({ config, logger }: Context) => ({
  log: logger,
  mode: modeOf(config),
  rotation: rotationOf(config),
});

function rotationOf({ rotate }: DiskConfig) {
  if (rotate === undefined) return undefined;
  const { bytes, seconds, compression, keep } = rotate;
  const kept = keep && { files: keep.files, bytes: keep.bytes, age: milliseconds(keep.seconds) };
  return { bytes, period: milliseconds(seconds), compression, keep: kept };
}

const milliseconds = (seconds: number | undefined) => (seconds === undefined ? undefined : seconds * 1000);

/** The appender of a file, kept until the run is over. */
function heldAppender(path: string, ctx: Context): FileAppender {
  const { appender, release } = leaseAppender(path, appenderOptions(ctx));
  // Files that were rotated are compressed and deleted before the run is over.
  if (appender.rotation !== undefined) ctx.beforeEnd?.(defer(() => appender.rotation?.settled ?? EMPTY));
  const reopening = ctx.reopen$?.subscribe(() => appender.close());
  const end = () => {
    reopening?.unsubscribe();
    release();
  };
  ctx.signal.addEventListener('abort', end, { once: true });
  return appender;
}

function dumps(ctx: Context): Write<readonly string[]> {
  const { path, fsync } = ctx.config;
  const files = new NumberedFiles(path, DUMP_NAME, DUMP_SUFFIX, {
    flush: fsync === 'batch',
    mode: modeOf(ctx.config),
  });
  return (documents) => files.write(documents).pipe(reportBytes(documents, ctx));
}

/** Once they are written. */
function reportBytes<T>(documents: readonly (string | Buffer)[], ctx: Context): MonoTypeOperatorFunction<T> {
  const complete = () =>
    ctx.stats.bytes(documents.reduce((sum, document) => sum + Buffer.byteLength(document), 0));
  return tap({ complete });
}
