import { MaskError, type Masked } from '../../operators/index.ts';
import { MAX_LINE_BYTES } from '../../operators/internal.ts';
import {
  type LinesMasker,
  type Masks,
  maskOfTexts,
  type RowMask,
  RowsMasker,
} from '../../operators/internal-masks.ts';
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
import { TimeLimit, TimeOut } from '../time-limits/bounded-time.ts';

type OnMask = (rule: string, count: number) => void;

interface MaskingOptions<C> {
  /** Compiles the configuration, once for each context that it runs in, into masks whose time `limit` bounds. */
  readonly compile: (config: C, onMask: OnMask, limit: TimeLimit) => Masks;
}

/** The mask of one context. */
class ContextMask<C> {
  readonly #masks: Masks;
  readonly #limit = new TimeLimit();
  #mapping: LineMapping | undefined;
  #rows: RowMasking | undefined;
  /** While it is undefined, what is masked counts. */
  #noticed: boolean | undefined;
  /** The last source that was left as it is. */
  #spared: string | undefined;

  constructor(ctx: PipelineRunContext<C>, { compile }: MaskingOptions<C>) {
    const onMask = (rule: string, count: number) => {
      if (this.#noticed === undefined) ctx.stats.masked(rule, count);
      else this.#noticed = true;
    };
    this.#masks = compile(ctx.config, onMask, this.#limit);
  }

  process(event: CollectedEvent): readonly CollectedEvent[] {
    return [this.#mask(event)];
  }

  mappingFor(envelope: LineEnvelope): LineMapping | undefined {
    if (!this.#spares(envelope)) return undefined;
    this.#mapping ??= { map: (line) => this.#mask(line), many: inOneLimit(this.#limit, this.#masks.many()) };
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
    return new RowMasking(mask, this.#limit, (event) => this.#mask(event) as CollectedEvent);
  }

  #mask<T extends string | object>(value: T): Masked<T> {
    try {
      return this.#limit.share(() => this.#masks.mask(value));
    } catch (error) {
      throw maskFailure(error);
    }
  }

  /** Whether it leaves everything but the line of an event as it is. */
  #spares(envelope: ParsedEvents['envelope']): boolean {
    const { source } = envelope;
    // Each text is masked for itself: what was left as it is, is so again.
    const isKnown = source === this.#spared;
    const [event] = LineEvents.of([''], {
      backfill: false,
      ...envelope,
      source: isKnown ? '' : source,
    }).events;
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
  `a value is too long for the expression of a rule; expected at most ${MAX_LINE_BYTES / 1024 ** 2} MiB, so ` +
  'let its sender split or shorten it; collectors that read lines, such as `file`, cut longer ones at `max_line_bytes`, which is that by default';

/** A value could not be masked in the time that was left. */
class TookTooLong extends PluginError {}

/** What cannot be masked, as an error that may be logged: its message holds no content. */
export function maskFailure(error: unknown): unknown {
  if (error instanceof TimeOut) return new TookTooLong(error.message);
  if (error instanceof MaskError) return new PluginError(error.message);
  // V8 throws it for a match that is too long for its stack.
  return error instanceof RangeError ? new PluginError(TOO_LONG) : error;
}

/** The entry functions of a mask. */
export function masking<C>(options: MaskingOptions<C>) {
  return maskEntries((ctx: PipelineRunContext<C>) => new ContextMask(ctx, options));
}

/** What is done to a block of lines shares one limit. */
export function inOneLimit(limit: TimeLimit, many: LinesMasker | undefined): LinesMasker | undefined {
  if (many === undefined) return undefined;
  const mapBytes = (lines: Uint8Array, into: Uint8Array) =>
    limit.share(() => many.mapBytes?.(lines, into) ?? -1);
  return {
    map: (lines) => limit.share(() => many.map(lines)),
    get mapBytes() {
      return many.mapBytes === undefined ? undefined : mapBytes;
    },
    maxLength: many.maxLength,
    maxLineLength: many.maxLineLength,
  };
}

/** Masks many events together, or one by one where that is needed. */
export class RowMasking {
  readonly #masker: RowsMasker;
  readonly #limit: TimeLimit;
  readonly #maskEvent: (event: CollectedEvent) => CollectedEvent;

  constructor(mask: RowMask, limit: TimeLimit, maskEvent: (event: CollectedEvent) => CollectedEvent) {
    this.#masker = new RowsMasker(mask);
    this.#limit = limit;
    this.#maskEvent = maskEvent;
  }

  mappingOf(rows: ParsedEvents): RowMapping {
    const all = rows.takeFields();
    return (start, end, { failed, postponed }) => {
      const fields = all.slice(start, end);
      const hasFailed = new Set<number>();
      const maskAlone = (place: number): boolean => {
        try {
          fields[place] = this.#maskEvent(rows.eventAt(start + place)).data as ParsedFields;
        } catch (error) {
          // With others, it had only what they have left of the time.
          if (fields.length > 1 && error instanceof TookTooLong) return false;
          hasFailed.add(place);
          failed(start + place, error);
        }
        return true;
      };
      const left = this.#limit.share(() => this.#masker.maskRows(fields, maskAlone));
      if (left !== undefined) postponed(start + left.start, start + left.end);
      const done = left?.start ?? fields.length;
      const masked = new ParsedEvents(
        fields.slice(0, done),
        rows.envelope,
        rows.timestamps?.slice(start, start + done),
      );
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
