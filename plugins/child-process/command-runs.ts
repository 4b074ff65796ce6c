import { catchError, concat, defer, EMPTY, ignoreElements, merge, Observable, tap } from 'rxjs';
import { poll, restartWithBackoff } from '../../operators/index.ts';
import { counted, countLines } from '../../operators/internal.ts';
import { isFatal, type PipelineRunContext, PluginError, safeReason } from '../../src/sdk/index.ts';
import type { BatchDemand } from '../lines/batch-demand.ts';
import type { ReadLines } from '../lines/collect-lines.ts';
import { LineInput } from '../lines/line-input.ts';
import { UnacknowledgedLines } from '../lines/unacknowledged-lines.ts';
import { ChildProcess, endText, type ProcessEnd } from './child-process.ts';
import type { ExecConfig } from './exec-config.ts';

type Context = PipelineRunContext<ExecConfig>;
export type Stream = 'stdout' | 'stderr';

/** Milliseconds. */
const RESTART = { base: 1000, cap: 60_000, healthyAfter: 10_000 };

/** What the data of an event has beside its line and source. */
export function fieldsOf({ stderr }: Pick<ExecConfig, 'stderr'>, stream: Stream) {
  return stderr === 'collect' ? { stream } : undefined;
}

/** Runs the command, again and again. */
export class CommandRuns {
  readonly #ctx: Context;
  readonly #demand: BatchDemand;
  readonly #program: string;
  readonly #ends;
  #child: ChildProcess | undefined;
  readonly #backlogs: Record<Stream, number> = { stdout: 0, stderr: 0 };

  constructor(ctx: Context, demand: BatchDemand) {
    this.#ctx = ctx;
    this.#demand = demand;
    this.#program = ctx.config.command[0] as string;
    ctx.beforeEnd?.(defer(() => this.#child?.stop() ?? EMPTY));
    const help = 'How often the command has ended, by its exit code or signal.';
    this.#ends = ctx.metrics.counter({ name: 'exec_ends_total', help, labels: ['end'] });
  }

  get lines$(): Observable<ReadLines> {
    const { cache } = this.#ctx;
    cache.left ??= new UnacknowledgedLines();
    return (cache.left as UnacknowledgedLines).around(this.#runs$, this.#demand);
  }

  get #runs$(): Observable<ReadLines> {
    const { once, random, config } = this.#ctx;
    const run$ = defer(() => this.#run());
    if (once) return run$;
    if (config.interval !== undefined) {
      const reported$ = run$.pipe(catchError((error) => this.#reportFailure(error)));
      return poll(() => reported$, { interval: config.interval * 1000 });
    }
    return run$.pipe(
      restartWithBackoff(
        { ...RESTART, attempts: Number.POSITIVE_INFINITY, onComplete: true, isFatal, random },
        { onWait: (wait, _, error) => this.#reportRestart(wait, error) },
      ),
    );
  }

  /** One run of the command. Errors if it cannot be started or fails, after all its lines. */
  #run(): Observable<ReadLines> {
    const { command, cwd, env, stderr } = this.#ctx.config;
    const values = Object.entries(env).map(([name, value]) => [name, value.read()] as const);
    return new Observable((subscriber) => {
      const child = new ChildProcess({ command, cwd, env: Object.fromEntries(values) });
      this.#child = child;
      const inputs = [this.#inputOf(child, 'stdout')];
      let errorLines = 0;
      if (stderr === 'collect') inputs.push(this.#inputOf(child, 'stderr'));
      else child.stderr.on('data', (chunk: Buffer) => (errorLines += countLines(chunk)));
      subscriber.add(() => {
        child.stdout.destroy();
        child.stderr.destroy();
        child.stop().subscribe();
      });
      const [stdout, other] = inputs as [LineInput, LineInput?];
      const read$ = merge(this.#read(stdout, 'stdout'), other ? this.#read(other, 'stderr') : EMPTY);
      const ended$ = child.end$.pipe(
        tap((end) => this.#ended(end, errorLines)),
        ignoreElements(),
      );
      subscriber.add(concat(read$, ended$).subscribe(subscriber));
    });
  }

  #inputOf(child: ChildProcess, stream: Stream): LineInput {
    const { config } = this.#ctx;
    const { max_line_bytes: maxLineBytes, encoding } = config;
    const name = `the ${stream === 'stdout' ? 'output' : 'standard error'} of \`${this.#program}\``;
    const fields = fieldsOf(config, stream);
    return new LineInput(child[stream], { source: this.#program, fields, name, maxLineBytes, encoding });
  }

  #read(input: LineInput, stream: Stream): Observable<ReadLines> {
    const { config, logger, stats } = this.#ctx;
    return input.read({
      demand: this.#demand,
      skipEmptyLines: config.skip_empty_lines,
      onBacklog: (bytes) => {
        this.#backlogs[stream] = bytes;
        stats.backlog(this.#backlogs.stdout + this.#backlogs.stderr);
      },
      onHole: (bytes) =>
        logger.warn(`${this.#who} starts with ${counted(bytes, 'NUL byte')}, which were skipped`, { bytes }),
      onInvalidByte: (offset) =>
        logger.warn(
          `${this.#who} writes what is not UTF-8: the byte at offset ${offset} and others like it become U+FFFD. If it ` +
            'has another encoding, set `encoding`, for example `encoding: windows-1252`',
          { offset },
        ),
    });
  }

  get #who(): string {
    const { pipeline, config } = this.#ctx;
    return `${pipeline}: collector ${config.name}: \`${this.#program}\``;
  }

  /** Throws if the command has failed. */
  #ended(end: ProcessEnd, errorLines: number): void {
    const { code, signal } = end;
    this.#ends.inc(1, { end: signal ?? String(code) });
    const wrote =
      errorLines === 0
        ? ''
        : `; it wrote ${counted(errorLines, 'line')} to its standard error, which \`stderr: collect\` makes events`;
    const text = `\`${this.#program}\` ended with ${endText(end)}${wrote}`;
    if (code !== 0) {
      // Another run with `once` would only give the same lines again.
      const error = new PluginError(text, { permanent: this.#ctx.once });
      throw Object.assign(error, { fatal: this.#ctx.once });
    }
    if (this.#ctx.config.interval === undefined || errorLines > 0)
      this.#ctx.logger.info(`${this.#ctx.pipeline}: collector ${this.#ctx.config.name}: ${text}`, { ...end });
  }

  #reportFailure(error: unknown): Observable<never> {
    if (isFatal(error)) throw error;
    const { logger, pipeline, config } = this.#ctx;
    logger.warn(
      `${pipeline}: collector ${config.name}: ${safeReason(error)}; it runs again at the next interval`,
    );
    return EMPTY;
  }

  #reportRestart(wait: number, error: { readonly cause: unknown } | undefined): void {
    const { logger, pipeline, config } = this.#ctx;
    const next = `starting \`${this.#program}\` again in ${(wait / 1000).toFixed(1)} s`;
    const who = `${pipeline}: collector ${config.name}`;
    if (error === undefined) logger.info(`${who}: ${next}`);
    else logger.warn(`${who}: ${safeReason(error.cause)}; ${next}`);
  }
}
