import { allowedV8Flags } from '../operators/internal.ts';
import { type LinearEngine, type Pattern, parseExpression } from '../operators/internal-masks.ts';

/*
 * V8 has a second engine for expressions, which never goes back. With one flag, it takes over where the first engine has
 * gone back 50,000 times; with the other, the constructor says which expressions it can run. V8 looks at the flags when
 * it compiles an expression, and only the command line on Node.js 20 lets them be set for that moment. Elsewhere, the engine
 * can run nothing.
 */
const TAKES_OVER = 'enable-experimental-regexp-engine-on-excessive-backtracks';
const ANSWERS = 'enable-experimental-regexp-engine';

/**
 * Whether V8's second engine can run an expression: one without look-around, back-references, the flags `i` and
 * `u`, and repetitions of more than 16, on Node 20. Never where no flag of V8 may be set.
 *
 * @example
 * // In a program that embeds millrace:
 * takesOverInLinearTime(/^(a+)+$/g); // false
 */
export function takesOverInLinearTime({ source, flags }: RegExp): boolean {
  const answer = () => {
    try {
      new RegExp(source, `${flags}l`);
      return true;
    } catch {
      return false;
    }
  };
  return allowedV8Flags()?.withFlag(ANSWERS, answer) ?? false;
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
  compile: (source, flags) => {
    const compiled = () => {
      // In other brackets: V8 shares what it has compiled between expressions that are written alike.
      const expression = new RegExp(`(?:(?:${source}))`, flags);
      // V8 compiles for texts of bytes and for others, and from the second text on once more.
      for (const text of ['a', 'a', 'a', '\u4e00', '\u4e00', '\u4e00']) {
        expression.lastIndex = 0;
        expression.test(text);
      }
      expression.lastIndex = 0;
      return expression;
    };
    return allowedV8Flags()?.withFlag(TAKES_OVER, compiled) ?? compiled();
  },
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
