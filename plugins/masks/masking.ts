import { isDeepStrictEqual } from 'node:util';
import { MaskError } from '../../operators/mask-error.ts';
import type { Masker } from '../../operators/mask-event.ts';
import { isVerbatim } from '../../operators/verbatim.ts';
import { PluginError } from '../../src/errors.ts';
import type {
  CollectedEvent,
  LineEnvelope,
  LineMapping,
  PipelineRunContext,
} from '../../src/models/index.ts';

type OnMask = (rule: string, count: number) => void;

export interface MaskingOptions<C> {
  /** Compiles the configuration, once for each context that it runs in. */
  readonly compile: (config: C, onMask: OnMask) => Masker;
  /** All that the mask may put in place of text. */
  readonly replacements: (config: C) => readonly string[];
}

/** The mask of one context. */
class ContextMask<C> {
  readonly mask: Masker;
  readonly addsVerbatim: boolean;
  /** While it is undefined, what is masked counts. */
  #noticed: boolean | undefined;

  constructor(ctx: PipelineRunContext<C>, { compile, replacements }: MaskingOptions<C>) {
    this.mask = compile(ctx.config, (rule, count) => {
      if (this.#noticed === undefined) ctx.stats.masked(rule, count);
      else this.#noticed = true;
    });
    this.addsVerbatim = replacements(ctx.config).every(isVerbatim);
  }

  /** Whether it leaves everything but the line of an event as it is. */
  spares({ isTruncated, source, ...fields }: LineEnvelope): boolean {
    const event = { ...fields, data: { line: '', source } };
    this.#noticed = false;
    try {
      return isDeepStrictEqual(this.mask(event), event) && !this.#noticed;
    } catch {
      return false;
    } finally {
      this.#noticed = undefined;
    }
  }
}

/** The entry functions of a mask. A refusal becomes an error that may be logged: its message holds no content. */
export function masking<C>(options: MaskingOptions<C>) {
  const masks = new WeakMap<PipelineRunContext<C>, ContextMask<C>>();

  const maskOf = (ctx: PipelineRunContext<C>): ContextMask<C> => {
    let mask = masks.get(ctx);
    if (mask === undefined) {
      mask = new ContextMask(ctx, options);
      masks.set(ctx, mask);
    }
    return mask;
  };

  const explained = <T extends string | object>(mask: Masker, value: T): T => {
    try {
      return mask(value);
    } catch (error) {
      if (error instanceof MaskError) throw new PluginError(error.message);
      throw error;
    }
  };

  return {
    process: ({
      ctx,
      event,
    }: {
      ctx: PipelineRunContext<C>;
      event: CollectedEvent;
    }): readonly CollectedEvent[] => [explained(maskOf(ctx).mask, event)],
    mapLines: ({
      ctx,
      envelope,
    }: {
      ctx: PipelineRunContext<C>;
      envelope: LineEnvelope;
    }): LineMapping | undefined => {
      const mask = maskOf(ctx);
      if (!mask.spares(envelope)) return undefined;
      return { map: (line) => explained(mask.mask, line), addsVerbatim: mask.addsVerbatim };
    },
  };
}
