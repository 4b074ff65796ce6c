import { MaskError } from '../operators/mask-error.ts';
import type { Masker } from '../operators/mask-event.ts';
import { PluginError } from '../src/errors.ts';
import type { CollectedEvent, PipelineRunContext } from '../src/models/index.ts';

/**
 * The entry function of a mask: it compiles the configuration once for each context that it runs in, and turns a
 * refusal into an error that may be logged, since its message holds no content.
 */
export function maskingProcess<C>(compile: (config: C, ctx: PipelineRunContext<C>) => Masker) {
  const maskers = new WeakMap<PipelineRunContext<C>, Masker>();

  return ({
    ctx,
    event,
  }: {
    ctx: PipelineRunContext<C>;
    event: CollectedEvent;
  }): readonly CollectedEvent[] => {
    let mask = maskers.get(ctx);
    if (mask === undefined) {
      mask = compile(ctx.config, ctx);
      maskers.set(ctx, mask);
    }
    try {
      return [mask(event)];
    } catch (error) {
      if (error instanceof MaskError) throw new PluginError(error.message);
      throw error;
    }
  };
}
