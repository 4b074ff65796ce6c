import { type OrdinaryTemplates, ordinaryTemplates } from './ordinary-templates.ts';
import { fill, Random } from './templates.ts';

/** A line without secrets, the system that it is of, and what it was made of. */
export interface OrdinaryLine {
  readonly text: string;
  readonly kind: string;
  readonly template: string;
}

let templates: OrdinaryTemplates | undefined;

/** `count` ordinary lines of all systems, in turn, with what they were made of. Those of the same seed are the same. */
export function ordinarySamples(
  count: number,
  seed: number,
  groups: readonly (keyof OrdinaryTemplates)[] = ['tuned', 'held_out'],
): OrdinaryLine[] {
  templates ??= ordinaryTemplates();
  const all = templates;
  const r = new Random(seed);
  const known = groups.flatMap((group) =>
    Object.entries(all[group]).flatMap(([kind, ofKind]) => ofKind.map((template) => ({ kind, template }))),
  );
  return Array.from({ length: count }, (_, i) => {
    const { kind, template } = known[i % known.length] as (typeof known)[number];
    return { text: fill(template, r).text, kind, template };
  });
}

/** The lines of {@link ordinarySamples}. */
export function ordinaryLines(...args: Parameters<typeof ordinarySamples>): string[] {
  return ordinarySamples(...args).map(({ text }) => text);
}
