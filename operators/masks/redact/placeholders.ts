/** Values that stand for a secret, are empty, or are masked already, as a whole. */
const WHOLE: readonly RegExp[] = [
  // What programs write where there is nothing, or where something was.
  /^(?:true|false|yes|no|on|off|null|nil|none|undefined|nan|n\/?a|empty|blank|unset|not[ _-]?set|default|unknown|tbd|todo|fixme|changed|removed)$/i,
  /^[[({<*_-]*(?:redacted|filtered|masked|hidden|removed|sensitive|sensitive value|protected|secret|omitted|censored|scrubbed|encrypted|obfuscated|known after apply)\b[^A-Za-z0-9]*$/i,
  // One character throughout, and rows of fillers: ****, xxxx, ....
  /^([^0-9])\1{2,}$|^0{3,}$|^[*xX•.#_-]{3,}.{0,4}$|^[?!.,:;-]+$/,
  // <password>, {{ token }}, ${NAME}, $NAME, $(command), $1, %NAME%, %s, #{name}, {name}, &anchor
  /^<[^<>]*>?$|^\{\{.*|^\$\{.*|^\$\(.*|^\$(?:[A-Z_][A-Z0-9_]*|[a-z_]+)$|^\$[0-9]$|^%[A-Za-z_]+%$|^%\(?[a-z_]*\)?[sdvqr]$|^#\{.*|^\{[A-Za-z0-9_.]*\}?$|^&[a-z_]+$/,
  // The name of a variable: DB_PASSWORD.
  /^[A-Z]+(?:_[A-Z]+)+$/,
  /^(?:your|my|the|some|an?|insert|enter|replace|put)[ _-].*(?:password|passwd|secret|token|key|here|me|this|value).*$/i,
  /^(?:example|sample|dummy|fake|test|mock|placeholder|default|demo)[ _-]?(?:password|passwd|secret|token|api[ _-]?key|key|value)?$/i,
  /^(?:password|passwd|passphrase|secret|token|api[ _-]?key|key|pass|pwd|credentials?|foo|bar|baz|foobar)$/i,
];

/** What makes a longer value a placeholder: `sk_live_example`, `your-api-key-here`, `AKIAXXXXXXXXXXXXXXXX`. */
const PARTS =
  /change[ _-]?(?:me|it|this)|replace[ _-]?(?:me|with|this)|placeholder|example(?![a-z])|(?:^|[^a-z])your[ _-](?:[a-z]+[ _-])*(?:secret|password|token|key)|0123456789|123456789abc|abcdefghij|x{6}|0{12}|1{12}|\*{3}|\.{3}$/i;

/** Our own masks, with what actions add to them: `<:card:1111:>`. */
const OWN_MASKS = /<:[^<>\s]{1,100}:>/g;
const SCHEME_ALONE = /^\W*(?:(?:basic|bearer|token|digest|apikey)\W*)?$/i;
const QUOTED = /^(["'`])(.*)\1$/s;

/** Characters. Real passwords are short, and longer placeholders are templates with names in them. */
const LONGEST = 200;

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
  const bare = QUOTED.exec(value)?.[2] ?? value;
  if (bare.length <= LONGEST && WHOLE.some((expression) => expression.test(bare))) return true;
  return isSecret && PARTS.test(bare);
}
