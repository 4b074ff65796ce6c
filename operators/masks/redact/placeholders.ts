/** Values that stand for a secret and are none, as a whole. Quotes around them do not count. */
const WHOLE = new RegExp(
  `^["'\`]?(?:${[
    // Variables and templates.
    '<[^<>]*>|\\$\\{[^{}]*\\}|\\$\\([^()]*\\)|\\$[A-Za-z_]\\w*|\\{\\{.*\\}\\}|\\{[A-Za-z_][\\w.-]*\\}|%[A-Za-z_]\\w*%|#\\{[^{}]*\\}',
    '\\[(?:redacted|masked|filtered|hidden|secret|password|token|removed|protected)\\]',
    // Fillers, of one character or of a row of them.
    '([^0-9])\\1{2,}|0{3,}|[xX*#.•-]{2,}',
    'null|nil|none|undefined|true|false|n/?a|todo|tbd|fixme|unset|empty|default|unknown|not[-_ ]?set',
    '(?:the|a|my|your|some)?[-_ ]?(?:super)?[-_ ]?(?:secret|password|passwd|passphrase|token|api[-_ ]?key|key|credentials?)[-_ ]?(?:here|value)?',
    'change[-_ ]?(?:me|it|this)|replace[-_ ]?(?:me|this)|insert[-_ ]?(?:me|here)|enter[-_ ]?here|foo(?:bar)?|bar|baz',
  ].join('|')})["'\`]?$`,
  'i',
);

/** Words that make a longer value a placeholder: `sk_live_example`, `your-api-key-here`, `AKIAXXXXXXXXXXXXXXXX`. */
const PARTS =
  /example|placeholder|change_?me|redacted|dummy|(?:^|[^a-z])(?:your|insert|replace)[-_ ]?(?:[a-z]+[-_ ])*(?:secret|password|token|key|here|this)|x{6}|\*{3}|\.{3}$|1234567890abcdef|abcdefghijklmnop/i;

/** Our own masks, with what actions add to them: `<:card:1111:>`. */
const OWN_MASKS = /<:[^<>\s]{1,100}:>/g;
const SCHEME_ALONE = /^\W*(?:(?:basic|bearer|token|digest|apikey)\W*)?$/i;

/**
 * Whether a value stands for a secret without being one: a variable, a filler, a word such as `changeme`, or a mask.
 *
 * @param isSecret also looks for words inside the value. They say nothing about people: `ada@example.com` may be someone.
 *
 * @example
 * isPlaceholder('${DB_PASSWORD}', true); // true
 * isPlaceholder('<:github-token:>', true); // true
 * isPlaceholder('hunter2', true); // false
 */
export function isPlaceholder(value: string, isSecret: boolean): boolean {
  if (value.includes('<:') && SCHEME_ALONE.test(value.replace(OWN_MASKS, ''))) return true;
  // Real passwords are short; the longest of these are templates.
  if (value.length <= 200 && WHOLE.test(value)) return true;
  return isSecret && PARTS.test(value);
}
