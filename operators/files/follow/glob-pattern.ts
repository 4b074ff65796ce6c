/** Characters that mean something to picomatch, in a pattern of ours or not. */
const SPECIAL = new Set('\\*?[]{}()!+@|^$"\'');

/** How picomatch takes a pattern of {@link toPicomatch}. */
export const GLOB_OPTIONS = { posix: true, noextglob: true, nonegate: true, windows: false } as const;

/** Whether a pattern is more than the path of one file: it has wildcards, braces or escapes. */
export function isGlob(pattern: string): boolean {
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern[at] as string;
    if (character === '*' || character === '?') return true;
    if (character === '\\' && SPECIAL.has(pattern[at + 1] ?? '')) return true;
    if (character === '[' && bracketEnd(pattern, at) !== -1) return true;
    if (character === '{' && braceEnd(pattern, at) !== -1) return true;
  }
  return false;
}

/**
 * A pattern as a shell takes it, for picomatch, which knows more: `*`, `**`, `?`, `[a-z]`, `[!a]`, `{a,b}`, `{1..3}`, and a
 * backslash that takes the meaning of the character after it; all else is literal. Without `dot`, only a dot in the
 * pattern matches the dot of a hidden file.
 *
 * @example
 * toPicomatch('[!a]*.log', { dot: true }); // '[^a]*.log'
 */
export function toPicomatch(pattern: string, { dot }: { dot: boolean }): string {
  let result = '';
  /** Whether what comes next is at the start of a name. */
  let isStart = true;
  /** Of each open brace, whether it was at the start of a name. */
  const braces: boolean[] = [];
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern[at] as string;
    const end = character === '[' ? bracketEnd(pattern, at) : -1;
    const wasStart: boolean = isStart;
    isStart = false;
    if (character === '\\' && at + 1 < pattern.length) result += literal(pattern[++at] as string);
    else if (character === '/') {
      result += character;
      isStart = true;
    } else if (character === '*' || character === '?') result += character;
    else if (end !== -1) {
      result += `${wasStart && !dot ? '(?!\\.)' : ''}${bracket(pattern.slice(at + 1, end))}`;
      at = end;
    } else if (character === '{' && braceEnd(pattern, at) !== -1) {
      braces.push(wasStart);
      result += character;
      isStart = wasStart;
    } else if (character === '}' && braces.length > 0) {
      braces.pop();
      result += character;
    } else if (character === ',' && braces.length > 0) {
      result += character;
      isStart = braces.at(-1) === true;
    } else result += literal(character);
  }
  return result;
}

function literal(character: string): string {
  return SPECIAL.has(character) ? `\\${character}` : character;
}

/** The body of a bracket expression, with what picomatch would take for something else escaped. */
function bracket(body: string): string {
  const isNegated = /^[!^]/.test(body);
  const content = isNegated ? body.slice(1) : body;
  const escaped = content.replace(/\[:[a-z]+:\]|\\[\s\S]|[[\]\\^]/g, (part) =>
    part.length > 1 ? part : `\\${part}`,
  );
  return `[${isNegated ? '^' : ''}${escaped}]`;
}

/** Where a bracket expression ends that starts at `start`; -1 if it is none, because it has no end or a slash. */
function bracketEnd(pattern: string, start: number): number {
  const match = /^\[[!^]?(?:\[:[a-z]+:\]|\\[\s\S]|[^\\/])(?:\[:[a-z]+:\]|\\[\s\S]|[^\]\\/])*\]/.exec(
    pattern.slice(start),
  );
  return match === null ? -1 : start + match[0].length - 1;
}

/** Where a brace ends that starts at `start`; -1 if it has no end, or neither alternatives nor a range. */
function braceEnd(pattern: string, start: number): number {
  let depth = 0;
  let isExpanded = false;
  for (let at = start; at < pattern.length; at++) {
    const character = pattern[at];
    const end = character === '[' ? bracketEnd(pattern, at) : -1;
    if (character === '\\') at++;
    else if (end !== -1) at = end;
    else if (character === '{') depth++;
    else if (character === '}' && --depth === 0) return isExpanded ? at : -1;
    else if (depth === 1 && (character === ',' || (character === '.' && pattern[at + 1] === '.')))
      isExpanded = true;
  }
  return -1;
}
