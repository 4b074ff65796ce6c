/** Values that stand for a secret, are empty, or are masked already, as a whole. */
const WHOLE: readonly RegExp[] = [
  // What programs write where there is nothing, or where something was.
  /^(?:true|false|yes|no|on|off|null|nil|none|undefined|nan|n\/?a|empty|blank|unset|not[ _-]?set|default|unknown|tbd|todo|fixme|changed|removed)$/i,
  /^[[({<*_-]*(?:redacted|filtered|masked|hidden|removed|sensitive|sensitive value|protected|secret|omitted|censored|scrubbed|encrypted|obfuscated|known after apply)(?![A-Za-z0-9])[^A-Za-z0-9]*$/i,
  // One character throughout, and rows of fillers: ****, xxxx, ....
  /^([^0-9])\1{2,}$|^0{3,}$|^[*xX•.#_-]{3,}$|^(?:\*{3,}|x{4,}|X{4,}|•{3,})\w{0,4}$|^[?!.,:;-]+$/,
  // {{ token }}, ${NAME}, $NAME, $(command), $1, %NAME%, %s, #{name}, {name}, &anchor
  /^\{\{.*\}\}$|^\$\{.*\}$|^\$\(.*\)$|^\$(?:[A-Z_][A-Z0-9_]*|[a-z_]+|[a-z]+(?:[A-Z][a-z]+){2,5})$|^\$[0-9]$|^%[A-Za-z_]+%$|^%\(?[a-z_]*\)?[sdvqr]$|^#\{.*\}$|^\{[A-Za-z0-9_.]*\}$|^&[a-z_]+$/,
  // Cut at a space: $(cat, {{, ${
  /^\$\([A-Za-z./-]*$|^\{\{$|^[$#]\{$/,
  // The name of a variable: DB_PASSWORD.
  /^[A-Z]+\d{0,2}(?:_[A-Z]+\d{0,2})+$/,
  /^(?:your|my|the|some|an?|insert|enter|replace|put)[ _-]+(?:[a-z0-9]+[ _-]+)*[a-z]*(?:password|passwd|secret|token|key|here|me|this|value)[^A-Za-z0-9]*$/i,
  /^(?:example|sample|dummy|fake|test|mock|placeholder|default|demo)[ _-]?(?:password|passwd|secret|token|api[ _-]?key|key|value)?$/i,
  /^(?:password|passwd|passphrase|secret|token|api[ _-]?key|key|pass|pwd|credentials?|foo|bar|baz|foobar)$/i,
];

/** Placeholders of secrets only: a rule for something else may look for `db.example.com`. */
const OF_SECRETS: readonly RegExp[] = [
  // Words that make a longer value a placeholder: your-api-key-here, AKIAXXXXXXXXXXXXXXXX
  /(?:^|[^a-z0-9])(?:change[ _-]?(?:me|it|this)|replace[ _-]?(?:me|with|this)|placeholder)(?![a-z0-9])|(?:^|[^a-z])your[ _-](?:[a-z]+[ _-])*(?:secret|password|token|key)|0{12}|1{12}|\*{3}[^A-Za-z0-9]*\w{0,4}$|\.{3}$/i,
  // The alphabet and the digits in their order: ghp_0123456789abcdefghij, AKIA0123456789ABCDEF
  /^(?=.{10})(?:[a-z]{1,10}[_-]){0,4}(?:[a-z]{0,4}|example)(?:0?1234567890?|abcdef(?:ghij[k-z]*)?)+$/i,
  // Words alone: sk_live_example. Others with `example` in them may be passwords.
  /^(?:[a-z]{1,20}[ ._/-])*examples?(?:[ ._/-][a-z]{1,20})*$/i,
  // Keys of documentation: AKIAIOSFODNN7EXAMPLE
  /^[A-Za-z0-9/+]{12,}EXAMPLE(?:KEY)?$/,
];

/** What is left of a value around rows of x, as long as those: a prefix such as `sk_live_` or `AKIA`. */
const ROWS_OF_X = /x{4,}/gi;
const PREFIX = /^(?:[a-z]*\d{0,2}(?:[^a-z0-9]|$))*$/i;

function isFilledWithX(value: string): boolean {
  if (!/x{6}/i.test(value)) return false;
  const rest = value.replace(ROWS_OF_X, ' ');
  return rest.length <= value.length / 2 + 1 && PREFIX.test(rest);
}

/** Something between `<` and `>`. */
const IN_BRACKETS = /^<([^<>]{0,200})>$/;
/** What has the form of our own masks. */
const MASKS = /<:([^<>\s]{1,200}):>/g;

/** What a template writes: `<%= ENV['TOKEN'] %>`, `<?php echo $token ?>`. */
const TEMPLATE = /^(?:%[=-]?|\?(?:php|=)?)\s[\w\s.:;,@$()[\]{}'"|/?-]*\s-?[%?]$/;
/** What programs print for an object or a function. */
const OBJECT = /\bat 0x[0-9a-f]{1,16}$/i;
/** Says that there was a secret. Words and numbers may follow, and a few digits of a hash. */
const FILLER =
  /^(?:redacted|filtered|masked|hidden|removed|secret|sensitive|omitted|censored|scrubbed|encrypted|obfuscated)(?![\p{L}\p{N}])/iu;
const WORD = /^(?:\p{Lu}*\p{Ll}*|\p{Lu}?\p{Ll}+(?:\p{Lu}\p{Ll}+){1,4}|\d{1,4})$/u;
/** Words with a number that are a name rather than a value. */
const NUMBERED_NAME =
  /^(?:sha|md|base|u?int|float|utf|rsa|aes|x|key|token|value|val|pass(?:word|wd)?|pwd|secret|user|name|string|str|arg|param|part|host|item|line|field|id|v)\d{1,4}$/i;
/** A number after a word, without a space: `Winter.2026` is a password that someone chose. */
const WORD_AND_NUMBER = /\p{L}[^\s\p{L}\p{N}]+\d{2}/u;

/**
 * Whether brackets around this make a placeholder: `your-password`, `32 characters`. Letters and digits that are mixed
 * are a value, because some programs print values in brackets: `user=<bob> password=<hunter2>`.
 */
function isName(content: string): boolean {
  if (TEMPLATE.test(content) || OBJECT.test(content)) return true;
  if (!/^[\p{L}\p{N}\s_./:;,|()'"*%…-]*$/u.test(content)) return false;
  const words = content.match(/[\p{L}\p{N}]+/gu) ?? [];
  const isFiller = FILLER.test(content);
  if (!isFiller && WORD_AND_NUMBER.test(content)) return false;
  return words.every(
    (word) =>
      WORD.test(word) || NUMBERED_NAME.test(word) || (isFiller && /^(?:\d+|[0-9a-f]{1,4})$/i.test(word)),
  );
}

/** Whether `<:…:>` around this is a mask of another program, with a few characters that an action keeps: `card:1111`. */
const isNameOfMask = (content: string) => isName(content.replace(/:[^:]{1,4}$/, ''));

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
  if (value.includes('<:')) {
    const rest = value.replace(MASKS, (mask, content: string) => (isNameOfMask(content) ? '' : mask));
    if (SCHEME_ALONE.test(rest)) return true;
  }
  const bare = QUOTED.exec(value)?.[2] ?? value;
  const inBrackets = IN_BRACKETS.exec(bare)?.[1];
  if (inBrackets !== undefined) return isName(inBrackets);
  if (bare.length <= LONGEST && WHOLE.some((expression) => expression.test(bare))) return true;
  return isSecret && (isFilledWithX(bare) || OF_SECRETS.some((expression) => expression.test(bare)));
}

/**
 * {@link isPlaceholder} for a value in a text, which may have the brackets around it: `${TOKEN` of `${TOKEN}`, `password` of
 * `<password>`, `token` of `<:token:>`.
 *
 * @param isKeyed whether a key in front of the value makes it a secret, rather than its own form.
 */
export function isPlaceholderAt(
  value: string,
  isSecret: boolean,
  text: string,
  start: number,
  isKeyed = false,
): boolean {
  if (isPlaceholder(value, isSecret)) return true;
  const end = start + value.length;
  // A rule that knows the form of its values finds a secret, whatever stands around it.
  const [opening] = (isKeyed && /<:?$/.exec(text.slice(Math.max(0, start - 2), start))) || [];
  if (opening !== undefined) {
    // Only brackets that are closed say something: `<<<` and a tag also end in `<`.
    const closing = text.slice(end, end + LONGEST).search(/[<>]/);
    if (closing !== -1 && text[end + closing] === '>') {
      return isPlaceholder(text.slice(start - opening.length, end + closing + 1), isSecret);
    }
  }
  if (!/^[$#{<]/.test(value)) return false;
  const [closing] = /^[)}>]{1,2}/.exec(text.slice(end, end + 2)) ?? [];
  return closing !== undefined && isPlaceholder(value + closing, isSecret);
}

const LONGEST_MASK = 200;
const MASK = /^<:([^<>\s]{1,200}):>/;

/** Whether an action adds this to the name of a rule: `1111` of `<:card:1111:>`. */
export type IsAddition = (text: string) => boolean;

/**
 * Returns whether a value is a part of one of our own masks, or one of them: no rule finds `1111` in `<:card:1111:>`. Brackets around
 * anything else make no mask, so that `<:hunter2:>` is not taken for one.
 *
 * @param names of rules that are in use
 * @param isMask whether something else in the brackets makes a mask, such as a pseudonym
 */
export function ownMasks(
  names: ReadonlySet<string>,
  isAddition: IsAddition,
  isMask: (mask: string) => boolean = () => false,
): (value: string, text: string, start: number) => boolean {
  const isOwn = (content: string) => {
    if (names.has(content) || isMask(`<:${content}:>`)) return true;
    for (let at = content.indexOf(':'); at !== -1; at = content.indexOf(':', at + 1)) {
      if (names.has(content.slice(0, at)) && isAddition(content.slice(at + 1))) return true;
    }
    return false;
  };
  return (value, text, start) => {
    if (value.includes('<:')) {
      const rest = value.replace(MASKS, (mask, content: string) => (isOwn(content) ? '' : mask));
      if (rest !== value && SCHEME_ALONE.test(rest)) return true;
    }
    const from = Math.max(0, start - LONGEST_MASK);
    const opening = text.slice(from, start).lastIndexOf('<:');
    if (opening === -1) return false;
    const mask = MASK.exec(text.slice(from + opening, start + LONGEST_MASK));
    return mask !== null && start < from + opening + mask[0].length && isOwn(mask[1] as string);
  };
}
