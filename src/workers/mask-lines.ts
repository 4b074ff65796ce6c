import { LineBlock } from '../../operators/file-lines/line-block.ts';
import { entropyMasking } from '../../plugins/masks/entropy_mask.ts';
import { regexMasking } from '../../plugins/masks/regex_mask.ts';
import { documentsIn } from '../delivery/documents-in.ts';
import { processLines } from '../delivery/process-lines.ts';
import { safeReason } from '../errors.ts';
import type { CollectedEvent } from '../models/events.ts';
import { LineEvents } from '../models/line-events.ts';
import type { ProcessPlugin } from '../models/plugin.ts';
import { toJsonLine } from '../models/serialise.ts';
import type { LineResult, LineTask, WorkerMask } from './protocol.ts';

type Masking = Required<Pick<ProcessPlugin, 'process' | 'mapLines'>>;
type Content = LineEvents | readonly CollectedEvent[];
type Failure = LineResult['failures'][number];

const NOTHING = Buffer.alloc(0);

const MASKS: Readonly<Record<string, Masking>> = {
  entropy_mask: entropyMasking as unknown as Masking,
  regex_mask: regexMasking as unknown as Masking,
};

/** Does in a worker what the processors of a pipeline and `serialise` do in the main thread. */
export class LineMasker {
  readonly #processors: readonly { readonly mask: Masking; readonly ctx: never }[];
  /** By processor: the counts of its rules in the task that is being done. */
  readonly #counts: readonly Map<string, { count: number }>[];

  constructor(masks: readonly WorkerMask[]) {
    this.#counts = masks.map(() => new Map());
    this.#processors = masks.map(({ plugin, config }, processor) => {
      const counts = this.#counts[processor] as Map<string, { count: number }>;
      const masked = (rule: string, count: number) => {
        const known = counts.get(rule);
        if (known === undefined) counts.set(rule, { count });
        else known.count += count;
      };
      // All of a context that masks use.
      return { mask: MASKS[plugin] as Masking, ctx: { config, stats: { masked } } as never };
    });
  }

  /** @param into where the documents go if they have room in it. */
  run({ id, bytes, size, envelope }: LineTask & { bytes: Uint8Array }, into: Buffer = NOTHING): LineResult {
    const failures: Failure[] = [];
    let left = 0;
    const writers = new LineBlock(bytes, size).parts.map((part) => (room: Buffer) => {
      const content = this.#maskAll(new LineEvents(part, envelope), failures);
      const isLines = content instanceof LineEvents;
      left += isLines ? content.size : content.length;
      return isLines
        ? content.toJsonLines(room)
        : Buffer.from(content.map((event) => toJsonLine(event)).join(''));
    });
    const documents = documentsIn(into, writers);
    return { id, documents, size: left, masked: this.#takeCounts(), failures };
  }

  #maskAll(lines: LineEvents, failures: Failure[]): Content {
    let content: Content = lines;
    for (let i = 0; i < this.#processors.length; i++) {
      content = this.#mask(i, content, (error) => failures.push({ processor: i, reason: safeReason(error) }));
    }
    return content;
  }

  #mask(index: number, content: Content, onFailure: (error: unknown) => void): Content {
    const { mask, ctx } = this.#processors[index] as { mask: Masking; ctx: never };
    if (content instanceof LineEvents) {
      const mapping = mask.mapLines({ ctx, envelope: content.envelope });
      if (mapping !== undefined) return processLines(content, mapping, (_, error) => onFailure(error));
    }
    const events = content instanceof LineEvents ? content.events : content;
    return events.flatMap((event) => {
      try {
        return mask.process({ ctx, event }) as readonly CollectedEvent[];
      } catch (error) {
        onFailure(error);
        return [];
      }
    });
  }

  #takeCounts(): LineResult['masked'] {
    return this.#counts.flatMap((counts, processor) => {
      const taken = Array.from(counts, ([rule, { count }]) => [processor, rule, count] as const);
      counts.clear();
      return taken;
    });
  }
}
