/**
 * The words of a key, in a form that is the same for `traceId`, `trace_id`, `Trace-Id` and `TRACE ID`. Dots stay: they separate
 * the keys of a path.
 *
 * @example
 * wordsOf('user.eMail-HTTPHost'); // 'user.e_mail_http_host'
 */
export function wordsOf(key: string): string {
  return key
    .replace(/([\p{Ll}\p{N}])(?=\p{Lu})|(\p{Lu})(?=\p{Lu}\p{Ll})/gu, '$1$2_')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}.*]+/gu, '_')
    .replace(/_*\._*/g, '.')
    .replace(/^_+(?=[^_])|(?<=[^_])_+$/g, '');
}

/**
 * An expression for the {@link wordsOf} keys that a pattern names, in any style of writing. `*` stands for any characters, and
 * `*.` at the start also for none. Words beside a `*` are whole ones only where the pattern says so: `*_id` is `trace_id` and
 * `traceId`, and no `paid`.
 */
export function keyPattern(pattern: string): RegExp {
  const [, anywhere = '', rest = ''] = /^(\*\.)?(.*)$/s.exec(pattern) ?? [];
  const parts = rest.split('.').map((part) => {
    // `traceid` is `trace_id` too.
    if (!part.includes('*')) return [...wordsOf(part).replaceAll('_', '')].map(quoted).join('_?');
    return part.split('*').map(literal).join('.*');
  });
  return new RegExp(`^${anywhere === '' ? '' : '(?:.*\\.)?'}${parts.join('\\.')}$`, 'su');
}

/** A part of a pattern beside a `*`: `_id` keeps what starts its word. */
function literal(part: string): string {
  const start = /^[^\p{L}\p{N}]/u.test(part) ? '_' : '';
  const end = /[^\p{L}\p{N}]$/u.test(part) ? '_' : '';
  const words = wordsOf(part);
  return /^_*$/.test(words) ? start : [...`${start}${words}${end}`].map(quoted).join('');
}

const quoted = (character: string) => character.replace(/[\\^$.|?+()[\]{}*/-]/, '\\$&');

/** Whether one of these names or patterns is that of a key, in any style of writing. */
export function keyMatcher(keys: readonly string[]): (key: string) => boolean {
  const exact = new Set(keys.filter((key) => !key.includes('*')).map(plainKey));
  const patterns = keys.filter((key) => key.includes('*')).map(keyPattern);
  if (patterns.length === 0) return exact.size === 0 ? () => false : (key) => exact.has(plainKey(key));
  return (key) => {
    if (exact.has(plainKey(key))) return true;
    const words = wordsOf(key);
    return patterns.some((pattern) => pattern.test(words));
  };
}

/** The key in a form that is the same for every style of writing: `traceId`, `trace_id`, `Trace-Id`. */
export function plainKey(key: string): string {
  return key.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
}
