const MONTH =
  '(?:[jJ]an|[fF][eé]b|[fF]év|[mM][aä]r|[aA]pr|[aA]vr|[mM]a[yi]|[jJ]u[nli]|[aA]ug|[aA]o[uû]|[sS]e[pt]|[oO][ckt]t|[nN]ov|[dD][eé][cz]|[gG]en|[mM]ag|[gG]iu|[lL]ug|[aA]go|[dD]ic|[eE]ne|[aA]br|[jJ]AN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC)[\\p{L}]{0,9}\\.?';
const TIME = '(?:[T ]\\d{2}:\\d{2}(?::\\d{2}(?:[.,]\\d{1,9})?)?(?: ?(?:Z|UTC|[+-]\\d{2}:?\\d{2}))?)?';
/** The source of an expression for a date, in figures or with the name of its month. It needs the flag `u`. */
export const DATE_SOURCE =
  `\\d{4}-\\d{1,2}-\\d{1,2}${TIME}|\\d{1,2}[./-]\\d{1,2}[./-](?:\\d{4}|\\d{2})${TIME}|\\d{4}[./]\\d{1,2}[./]\\d{1,2}` +
  `|\\d{1,2}(?:\\.|st|nd|rd|th)?[ -](?:de |of )?${MONTH}(?:,? (?:de )?|-)\\d{4}|${MONTH} \\d{1,2}(?:st|nd|rd|th)?,? \\d{4}` +
  '|\\d{4}, ?\\d{1,2}, ?\\d{1,2}|\\d{4}年\\d{1,2}月\\d{1,2}日|(?:19|20)\\d{6}';

const WHOLE_DATE = /* @__PURE__ */ new RegExp(`^(?:${DATE_SOURCE})$`, 'u');

/** Whether a value is a date and nothing else. */
export const isDate = (value: string): boolean => WHOLE_DATE.test(value);
