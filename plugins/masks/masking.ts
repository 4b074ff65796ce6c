import { MaskError, type Masked } from '../../operators/index.ts';
import { MAX_LINE_BYTES } from '../../operators/internal.ts';
import { type Masks, maskOfTexts, type RowMask, RowsMasker } from '../../operators/internal-masks.ts';
import {
  type CollectedEvent,
  type LineEnvelope,
  LineEvents,
  type LineMapping,
  oncePerContext,
  ParsedEvents,
  type ParsedFields,
  type PipelineRunContext,
  PluginError,
  type RowMapping,
  type Rows,
} from '../../src/sdk/index.ts';

type OnMask = (rule: string, count: number) => void;

interface MaskingOptions<C> {
  /** Compiles the configuration, once for each context that it runs in. */
  readonly compile: (config: C, onMask: OnMask) => Masks;
}

/** The mask of one context. */
class ContextMask<C> {
  readonly #masks: Masks;
  #mapping: LineMapping | undefined;
  #rows: RowMasking | undefined;
  /** While it is undefined, what is masked counts. */
  #noticed: boolean | undefined;
  /** The last source that was left as it is. */
  #spared: string | undefined;

  constructor(ctx: PipelineRunContext<C>, { compile }: MaskingOptions<C>) {
    this.#masks = compile(ctx.config, (rule, count) => {
      if (this.#noticed === undefined) ctx.stats.masked(rule, count);
      else this.#noticed = true;
    });
  }

  process(event: CollectedEvent): readonly CollectedEvent[] {
    return [this.#mask(event)];
  }

  mappingFor(envelope: LineEnvelope): LineMapping | undefined {
    if (!this.#spares(envelope)) return undefined;
    this.#mapping ??= { map: (line) => this.#mask(line), many: this.#masks.many() };
    return this.#mapping;
  }

  rowMappingOf(rows: ParsedEvents): RowMapping | undefined {
    if (!this.#spares(rows.envelope)) return undefined;
    this.#rows ??= this.#rowMasking();
    return this.#rows?.mappingOf(rows);
  }

  /** Undefined if lines cannot be masked together. */
  #rowMasking(): RowMasking | undefined {
    const lines = this.#masks.many();
    if (lines === undefined) return undefined;
    const mask = maskOfTexts(lines, (text) => text === this.#spared);
    return new RowMasking(mask, (event) => this.#mask(event) as CollectedEvent);
  }

  #mask<T extends string | object>(value: T): Masked<T> {
    try {
      return this.#masks.mask(value);
    } catch (error) {
      throw maskFailure(error);
    }
  }

  /** Whether it leaves everything but the line of an event as it is. */
  #spares(envelope: LineEnvelope): boolean {
    const { source } = envelope;
    // Each text is masked for itself: what was left as it is, is so again.
    const isKnown = source === this.#spared;
    const [event] = LineEvents.of([''], isKnown ? { ...envelope, source: '' } : envelope).events;
    this.#noticed = false;
    try {
      const masked = this.#masks.mask(event as CollectedEvent);
      const isSpared = !this.#noticed && JSON.stringify(masked) === JSON.stringify(event);
      if (isSpared) this.#spared = source;
      return isSpared;
    } catch {
      return false;
    } finally {
      this.#noticed = undefined;
    }
  }
}

const TOO_LONG =
  `a value is too long for the expression of a rule; expected at most ${MAX_LINE_BYTES / 1024 ** 2} MiB, which is the ` +
  'default of `max_line_bytes`: with it, a collector cuts longer lines before they are masked';

/** What cannot be masked, as an error that may be logged: its message holds no content. */
export function maskFailure(error: unknown): unknown {
  if (error instanceof MaskError) return new PluginError(error.message);
  // V8 throws it for a match that is too long for its stack.
  return error instanceof RangeError ? new PluginError(TOO_LONG) : error;
}

/** The entry functions of a mask. */
export function masking<C>(options: MaskingOptions<C>) {
  return maskEntries((ctx: PipelineRunContext<C>) => new ContextMask(ctx, options));
}

/** Masks many events together, or one by one where that is needed. */
export class RowMasking {
  readonly #masker: RowsMasker;
  readonly #maskEvent: (event: CollectedEvent) => CollectedEvent;

  constructor(mask: RowMask, maskEvent: (event: CollectedEvent) => CollectedEvent) {
    this.#masker = new RowsMasker(mask);
    this.#maskEvent = maskEvent;
  }

  mappingOf(rows: ParsedEvents): RowMapping {
    const all = rows.takeFields();
    return (start, end, { failed }) => {
      const fields = all.slice(start, end);
      const hasFailed = new Set<number>();
      this.#masker.maskRows(fields, (place) => {
        try {
          fields[place] = this.#maskEvent(rows.eventAt(start + place)).data as ParsedFields;
        } catch (error) {
          hasFailed.add(place);
          failed(start + place, error);
        }
      });
      const masked = new ParsedEvents(fields, rows.envelope, rows.timestamps?.slice(start, end));
      return hasFailed.size === 0 ? masked : masked.select((place) => !hasFailed.has(place));
    };
  }
}

/** What masks the events of a run. */
interface RunMask {
  process(event: CollectedEvent): readonly CollectedEvent[];
  mappingFor(envelope: LineEnvelope): LineMapping | undefined;
  rowMappingOf(rows: ParsedEvents): RowMapping | undefined;
}

/** The entry functions of a processor that has a mask for each run. */
export function maskEntries<C>(create: (ctx: PipelineRunContext<C>) => RunMask) {
  const maskOf = oncePerContext(create);
  return {
    process: ({ ctx, event }: { ctx: PipelineRunContext<C>; event: CollectedEvent }) =>
      maskOf(ctx).process(event),
    mapLines: ({ ctx, envelope }: { ctx: PipelineRunContext<C>; envelope: LineEnvelope }) =>
      maskOf(ctx).mappingFor(envelope),
    mapRows: ({ ctx, rows }: { ctx: PipelineRunContext<C>; rows: Rows }) =>
      rows instanceof ParsedEvents ? maskOf(ctx).rowMappingOf(rows) : undefined,
  };
}
