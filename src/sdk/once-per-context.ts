import type { PipelineRunContext } from './context.ts';

/**
 * Makes something of the configuration once for each context that a plugin runs in, when it is first needed.
 *
 * @example
 * const fieldsOf = oncePerContext((ctx) => Object.keys(ctx.config));
 * fieldsOf({ config: { format: 'json' } }); // ['format']
 */
export function oncePerContext<C, T extends object>(
  make: (ctx: PipelineRunContext<C>) => T,
): (ctx: PipelineRunContext<C>) => T {
  const made = new WeakMap<PipelineRunContext<C>, T>();
  return (ctx) => {
    let result = made.get(ctx);
    if (result === undefined) {
      result = make(ctx);
      made.set(ctx, result);
    }
    return result;
  };
}
