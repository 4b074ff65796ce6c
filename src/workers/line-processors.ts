import { BlockLease, BlockMemory } from '../../operators/file-lines/block-memory.ts';
import { LineBlock } from '../../operators/file-lines/line-block.ts';
import { entropyMasking } from '../../plugins/masks/entropy_mask.ts';
import { regexMasking } from '../../plugins/masks/regex_mask.ts';
import { documentsIn } from '../delivery/documents-in.ts';
import { processLines } from '../delivery/process-lines.ts';
import { safeReason } from '../errors.ts';
import type { CollectedEvent } from '../models/events.ts';
import { isEvent } from '../models/is-event.ts';
import { LineEvents } from '../models/line-events.ts';
import type { ProcessPlugin } from '../models/plugin.ts';
import { toJsonLine } from '../models/serialise.ts';
import { importModule } from '../modules/import-module.ts';
import type { LineResult, LineTask, WorkerProcessor } from './protocol.ts';

type Processing = Pick<ProcessPlugin, 'process' | 'mapLines'>;
type Content = LineEvents | readonly CollectedEvent[];

/** What became of the events of a task that do not come out. */
interface Outcome {
  readonly failures: LineResult['failures'][number][];
  filtered: number;
}

interface Processor {
  readonly index: number;
  readonly plugin: Processing;
  readonly ctx: never;
  /** Counts of its rules in the current task. */
  readonly counts: Map<string, number>;
}

const NOTHING = Buffer.alloc(0);

/** Built-in plugins without their schemas, so that a worker starts sooner. */
const BUILT_IN: Readonly<Record<string, unknown>> = {
  entropy_mask: entropyMasking,
  regex_mask: regexMasking,
};

/** Does in a worker what the processors of a pipeline and `serialise` do in the main thread. */
export class LineProcessors {
  readonly #processors: readonly Processor[];
  readonly #memory = new BlockMemory();

  private constructor(processors: readonly Processor[]) {
    this.#processors = processors;
  }

  static async load(processors: readonly WorkerProcessor[]): Promise<LineProcessors> {
    return new LineProcessors(await Promise.all(processors.map(load)));
  }

  /**
   * @param into where the documents go if they have room in it.
   * @throws if a processor returns something that is not an event at once: the main thread then does the task again,
   * and reports it
   */
  run({ id, bytes, size, envelope }: LineTask & { bytes: Uint8Array }, into: Buffer = NOTHING): LineResult {
    const outcome: Outcome = { failures: [], filtered: 0 };
    let left = 0;
    const lease = new BlockLease(this.#memory);
    const writers = new LineBlock(bytes, size, { lease }).parts.map((part) => (room: Buffer) => {
      const content = this.#processAll(new LineEvents(part, envelope), outcome);
      const isLines = content instanceof LineEvents;
      left += isLines ? content.size : content.length;
      return isLines
        ? content.toJsonLines(room)
        : Buffer.from(content.map((event) => toJsonLine(event)).join(''));
    });
    const documents = documentsIn(into, writers);
    lease.giveBack();
    return { id, documents, size: left, masked: this.#takeCounts(), ...outcome };
  }

  #processAll(lines: LineEvents, outcome: Outcome): Content {
    return this.#processors.reduce<Content>(
      (content, processor) => process(processor, content, outcome),
      lines,
    );
  }

  #takeCounts(): LineResult['masked'] {
    return this.#processors.flatMap(({ counts }, processor) => {
      const taken = Array.from(counts, ([rule, count]) => [processor, rule, count] as const);
      counts.clear();
      return taken;
    });
  }
}

async function load({ plugin, config }: WorkerProcessor, index: number): Promise<Processor> {
  const counts = new Map<string, number>();
  const masked = (rule: string, count: number) => void counts.set(rule, (counts.get(rule) ?? 0) + count);
  const stats = { masked, backlog: () => {}, lost: () => {} };
  return { index, plugin: await findProcessing(plugin), ctx: { config, stats } as never, counts };
}

async function findProcessing(plugin: string): Promise<Processing> {
  const builtIn = BUILT_IN[plugin];
  if (builtIn !== undefined) return builtIn as Processing;
  const module = await importModule(plugin);
  const isProcessing = (value: unknown) => typeof (value as Processing | undefined)?.process === 'function';
  return [module, module.default].find(isProcessing) as Processing;
}

function process({ index, plugin, ctx }: Processor, content: Content, outcome: Outcome): Content {
  const failed = (error: unknown) =>
    void outcome.failures.push({ processor: index, reason: safeReason(error) });
  const filtered = (count: number) => {
    outcome.filtered += count;
  };
  if (content instanceof LineEvents) {
    const mapping = plugin.mapLines?.({ ctx, envelope: content.envelope });
    if (mapping !== undefined) {
      return processLines(content, mapping, {
        failed: (_, error) => failed(error),
        dropped: ({ length }) => filtered(length),
      });
    }
  }
  const events = content instanceof LineEvents ? content.events : content;
  return events.flatMap((event) => {
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
}
