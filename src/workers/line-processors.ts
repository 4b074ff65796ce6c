import { BlockLease, BlockMemory, LineBlock } from '../../operators/internal-files.ts';
import { filtering } from '../../plugins/expressions/filtering.ts';
import { entropyMasking } from '../../plugins/masks/entropy-masking.ts';
import { regexMasking } from '../../plugins/masks/regex-masking.ts';
import { expectLineMapping, processLines } from '../rows/process-lines.ts';
import type { PipelineRunContext, PluginStats } from '../sdk/context.ts';
import { safeReason } from '../sdk/errors.ts';
import { isEvent } from '../sdk/event-batch.ts';
import { importModule } from '../sdk/import-module.ts';
import { type LineEnvelope, LineEvents } from '../sdk/line-events.ts';
import { silentStats } from '../sdk/metrics.ts';
import type { ProcessPlugin } from '../sdk/plugin.ts';
import { EventRows, type Rows } from '../sdk/rows.ts';
import {
  type LineResult,
  type LineTask,
  MAIN_THREAD_ONLY,
  type RefusedTask,
  type WorkerProcessor,
} from '../worker-pool/protocol.ts';

type Processing = Pick<ProcessPlugin, 'process' | 'mapLines'>;

/** What became of the events of a task, by processor. */
interface Outcome {
  readonly failures: LineResult['failures'][number][];
  readonly received: number[];
  readonly filtered: number[];
}

/** Why the current task cannot be done here. */
interface Refusal {
  reason: NotInWorker | undefined;
}

interface Processor {
  readonly index: number;
  readonly plugin: Processing;
  readonly ctx: never;
  /** Counts of its rules in the current task. */
  readonly counts: Map<string, number>;
}

type MainThreadOnly = (typeof MAIN_THREAD_ONLY)[number];
/** What a worker has. The type checker accepts it only if `MAIN_THREAD_ONLY` has all the rest. */
type WorkerContext = Pick<PipelineRunContext<never>, Exclude<keyof PipelineRunContext, MainThreadOnly>>;

/** A processor used a member of `ctx` that a worker does not have. */
class NotInWorker extends Error {
  readonly processor: number;
  readonly member: MainThreadOnly;

  constructor(processor: number, member: MainThreadOnly) {
    super(`ctx.${member} is not available in a worker thread`);
    this.processor = processor;
    this.member = member;
  }
}

/** Built-in plugins without their schemas, so that a worker starts sooner. The packs of `redact` are half of all code. */
const BUILT_IN: Readonly<Record<string, () => unknown>> = {
  entropy_mask: () => entropyMasking,
  filter: async () => filtering(await import('@marcbachmann/cel-js')),
  redact: async () => (await import('../../plugins/masks/redact-masking.ts')).redacting(),
  regex_mask: () => regexMasking,
};

/** Does in a worker what the processors of a pipeline and `serialise` do in the main thread. */
export class LineProcessors {
  readonly #processors: readonly Processor[];
  readonly #refusal: Refusal;
  readonly #memory = new BlockMemory();

  private constructor(processors: readonly Processor[], refusal: Refusal) {
    this.#processors = processors;
    this.#refusal = refusal;
  }

  static async load(processors: readonly WorkerProcessor[]): Promise<LineProcessors> {
    const refusal: Refusal = { reason: undefined };
    const loaded = processors.map((processor, index) => load(processor, index, refusal));
    return new LineProcessors(await Promise.all(loaded), refusal);
  }

  /**
   * Refuses the task if a processor uses a member of `ctx` that workers do not have, even if it catches the error.
   *
   * @throws if a processor returns something that is not an event at once: the main thread then does the task again,
   * and reports it
   */
  run(task: LineTask): LineResult | RefusedTask {
    this.#refusal.reason = undefined;
    try {
      const result = this.#run(task);
      if (this.#refusal.reason === undefined) return result;
    } catch (error) {
      if (this.#refusal.reason === undefined) throw error;
    }
    this.#takeCounts();
    const { processor, member } = this.#refusal.reason;
    return { id: task.id, processor, member };
  }

  #run({ id, bytes, size, envelope }: LineTask): LineResult {
    const none = () => this.#processors.map(() => 0);
    const outcome: Outcome = { failures: [], received: none(), filtered: none() };
    let left = 0;
    const lease = new BlockLease(this.#memory);
    // A message carries a plain Uint8Array, in which a search for a byte takes several times as long as in a Buffer.
    const block = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    try {
      let documents = Buffer.allocUnsafeSlow(roomForDocuments(block.length, size, envelope));
      let end = 0;
      for (const part of new LineBlock(block, size, { lease }).parts) {
        const rows = this.#processAll(new LineEvents(part, envelope), outcome);
        left += rows.size;
        const written = rows.toJsonLines(documents.subarray(end));
        if (written.buffer !== documents.buffer) {
          documents = withRoom(documents, end, written.length);
          documents.set(written, end);
        }
        end += written.length;
      }
      documents = documents.subarray(0, end);
      return { id, documents, size: left, masked: this.#takeCounts(), ...outcome };
    } finally {
      lease.giveBack();
    }
  }

  #processAll(lines: LineEvents, outcome: Outcome): Rows {
    return this.#processors.reduce<Rows>((rows, processor) => process(processor, rows, outcome), lines);
  }

  #takeCounts(): LineResult['masked'] {
    return this.#processors.flatMap(({ counts }, processor) => {
      const taken = Array.from(counts, ([rule, count]) => [processor, rule, count] as const);
      counts.clear();
      return taken;
    });
  }
}

/** Bytes that are enough for lines as JSON, unless many characters have to be escaped or masks add a lot. */
function roomForDocuments(bytes: number, lines: number, envelope: LineEnvelope): number {
  const around = JSON.stringify(envelope).length + 32;
  return bytes + (bytes >> 3) + lines * around;
}

/** `documents`, or a larger copy of its first `end` bytes. */
function withRoom(documents: Buffer<ArrayBuffer>, end: number, more: number): Buffer<ArrayBuffer> {
  if (end + more <= documents.length) return documents;
  const larger = Buffer.allocUnsafeSlow(2 * (end + more));
  larger.set(documents.subarray(0, end));
  return larger;
}

async function load(
  { plugin, config }: WorkerProcessor,
  index: number,
  refusal: Refusal,
): Promise<Processor> {
  const counts = new Map<string, number>();
  const masked = (rule: string, count: number) => void counts.set(rule, (counts.get(rule) ?? 0) + count);
  const stats: PluginStats = { ...silentStats, masked };
  const ctx: WorkerContext = { config: config as never, stats };
  for (const member of MAIN_THREAD_ONLY) {
    const get = () => {
      refusal.reason ??= new NotInWorker(index, member);
      throw refusal.reason;
    };
    Object.defineProperty(ctx, member, { get, enumerable: true });
  }
  return { index, plugin: await findProcessing(plugin), ctx: ctx as never, counts };
}

async function findProcessing(plugin: string): Promise<Processing> {
  const builtIn = BUILT_IN[plugin];
  if (builtIn !== undefined) return (await builtIn()) as Processing;
  const module = await importModule(plugin);
  const isProcessing = (value: unknown) => typeof (value as Processing | undefined)?.process === 'function';
  return [module, module.default].find(isProcessing) as Processing;
}

function process({ index, plugin, ctx }: Processor, rows: Rows, outcome: Outcome): Rows {
  const failed = (error: unknown) => {
    // No failure of the event: the main thread does the whole task.
    if (error instanceof NotInWorker) throw error;
    outcome.failures.push({ processor: index, reason: safeReason(error) });
  };
  const filtered = (count: number) => {
    outcome.filtered[index] = (outcome.filtered[index] ?? 0) + count;
  };
  outcome.received[index] = (outcome.received[index] ?? 0) + rows.size;
  const { lines } = rows;
  const mapping =
    lines && expectLineMapping(plugin.mapLines?.({ ctx, envelope: lines.envelope }), 'a processor');
  if (lines !== undefined && mapping !== undefined) {
    return processLines(lines, mapping, { failed: (_, error) => failed(error), dropped: filtered });
  }
  const processed = rows.events.flatMap((event) => {
    let results: unknown;
    try {
      results = plugin.process({ ctx, event });
    } catch (error) {
      failed(error);
      return [];
    }
    const events = Array.isArray(results) ? results : [results ?? []].flat();
    if (!events.every(isEvent)) throw new TypeError('a processor did not return events at once');
    if (events.length === 0) filtered(1);
    return events;
  });
  return new EventRows(processed);
}
