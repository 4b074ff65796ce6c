import { maskEvent } from '../../operators/index.ts';
import { isNoteworthy } from '../../operators/internal.ts';
import { withoutUnsureTail } from '../../operators/internal-files.ts';
import type { Logger } from '../sdk/context.ts';
import type { CollectedEvent } from '../sdk/events.ts';
import { type Batch, batchOf } from './batches.ts';
import { type Delivery, originOf } from './delivery.ts';

/**
 * Takes the end that masks could not judge off all that comes of a truncated line, whatever processors made of it: a
 * new event need not have `truncated`, its delivery is known all the same.
 */
export class TruncatedLines {
  readonly #pipeline: string;
  readonly #logger: Logger;
  /** The source of the line, by the delivery that it came in by. */
  readonly #sources = new WeakMap<Delivery, unknown>();
  #count = 0;

  constructor(pipeline: string, logger: Logger) {
    this.#pipeline = pipeline;
    this.#logger = logger;
  }

  /** Notes a batch of truncated lines, and says so; to be called as it is collected. */
  note(batch: Batch): void {
    const { rows, delivery } = batch;
    const { size } = rows;
    if (rows.truncated !== 'all') return;
    this.#sources.set(delivery.root, rows.events[0]?.data.source);
    this.#count += size;
    if (!isNoteworthy(this.#count, size)) return;
    const often = this.#count > 3 ? ` (${this.#count} of this run)` : '';
    this.#logger.warn(
      `${this.#pipeline}: a line${originOf(delivery)} was cut${often}: it is longer than \`max_line_bytes\`, ` +
        'unfinished lines took more than `--read-memory`, or its file was truncated below it; the rest is lost, and its event says `truncated: true`',
    );
  }

  /**
   * What may be shown of an event, once it has passed all masks.
   *
   * @throws MaskError for a truncated event that JSON cannot show
   */
  cut(event: CollectedEvent, { root }: Delivery): CollectedEvent {
    if (!this.#sources.has(root)) return withoutUnsureTail(event as CollectedEvent & { truncated?: unknown });
    const cut: CollectedEvent & { readonly truncated: true } = {
      ...maskEvent(event, cutText),
      truncated: true,
    };
    // Nothing of the line is in it, unless a processor has put it there.
    const { source } = event.data;
    if (source === undefined || source !== this.#sources.get(root)) return cut;
    return { ...cut, data: { ...cut.data, source } };
  }

  /** Cuts the events of a batch. Events that cannot be cut are removed and passed to `onFailure`. */
  cutBatch(
    batch: Batch,
    onFailure: (event: CollectedEvent, delivery: Delivery, error: unknown) => void,
  ): Batch {
    const { rows, delivery } = batch;
    // Nearly all batches have whole lines only, and stay as they are.
    if (!this.#sources.has(delivery.root) && rows.truncated === 'none') return batch;
    const events: CollectedEvent[] = [];
    for (const event of rows.events) {
      try {
        events.push(this.cut(event, delivery));
      } catch (error) {
        onFailure(event, delivery, error);
      }
    }
    return batchOf(events, delivery);
  }
}

function cutText(text: string): string {
  return withoutUnsureTail({ truncated: true, data: { text } }).data.text;
}
