import { allowedV8Flags } from '../../operators/internal.ts';
import { type LinearEngine, type Pattern, parseExpression } from '../../operators/internal-masks.ts';

/*
 * V8 has a second engine for expressions, which never goes back. An expression with the flag `l` runs on it, whatever the
 * text and the thread. V8 knows that flag only after a flag of its own is set, which has no effect on other expressions.
 * Only the command line on Node.js 20 lets it be set. Elsewhere, the engine can run nothing.
 */
const KNOWS_LINEAR = 'enable-experimental-regexp-engine';
const LINEAR = 'l';

/**
 * Whether V8's second engine can run an expression: one without look-around, back-references, the flags `i` and
 * `u`, and repetitions of more than 16, on Node 20. Never where no flag of V8 may be set.
 *
 * @example
 * // In a program that embeds millrace:
 * takesOverInLinearTime(/^(a+)+$/g); // false
 */
export function takesOverInLinearTime({ source, flags }: RegExp): boolean {
  if (allowedV8Flags() === undefined) return false;
  try {
    linear(source, flags);
    return true;
  } catch {
    return false;
  }
}

function linear(source: string, flags: string): RegExp {
  allowedV8Flags()?.setFlag(KNOWS_LINEAR);
  return new RegExp(source, flags.replace(LINEAR, '') + LINEAR);
}

/** What the engine allocates at most, at each character, for a thread that it can start. It frees this only at the end. */
const BYTES_PER_THREAD = 64;
/** What a search may allocate. */
const MOST_BYTES = 32 * 1024 * 1024;

/** V8's second engine, for texts for which it takes up to 32 MiB and about 50 ms. */
export const linearEngine: LinearEngine = {
  maxLength: (expression) => {
    const parsed = parseExpression(expression);
    if (parsed === undefined || !takesOverInLinearTime(expression)) return 0;
    return Math.floor(MOST_BYTES / (BYTES_PER_THREAD * threadsOf(parsed.pattern)));
  },
  compile: linear,
};

/** How many threads the engine can start at a character: for each range of a class, and for each choice. */
function threadsOf(pattern: Pattern): number {
  switch (pattern.kind) {
    case 'character':
      return Math.max(1, pattern.units.ranges);
    case 'sequence':
      return pattern.items.reduce((sum, item) => sum + threadsOf(item), 1);
    case 'choice':
      return pattern.branches.reduce((sum, branch) => sum + 1 + threadsOf(branch), 1);
    case 'repetition': {
      const copies = Number.isFinite(pattern.max) ? pattern.max : pattern.min + 1;
      return Math.max(1, copies) * (1 + threadsOf(pattern.item));
    }
    default:
      return 1;
  }
}
