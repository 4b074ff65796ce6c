/*
 * Where names, addresses, dates and numbers of persons end that stand without quotes. They have several words, so each of these
 * expressions says which words go on: none that starts the next key does.
 */

import { DATE_SOURCE } from '../checks/person.ts';

const u = (source: string) => new RegExp(source, 'uy');

/** Small words in names and addresses. */
const PARTICLE =
  "(?:von|van|vom|zu|zur|zum|der|den|dem|de|del|della|dei|degli|di|da|do|dos|das|du|des|la|le|les|los|las|el|al|bin|ibn|ben|y|af|av|ter|ten|und|'t|l'|d')";
/** Not the next key: `Nachname: `, `Last name=`. */
const NO_KEY =
  '(?!["\']?\\p{L}[\\p{L}\\p{N}_.-]{0,40}(?: (?:[nN]ames?|NAME|of|OF|birth|Birth|BIRTH|[nN]umber|[cC]ode|[aA]ddress|[lL]ine|[nN]o|[nN]r|ID|id|de|du|der|des|family|famille|postal|di|da|do|del|della|nacimiento|nascita|nascimento|naissance|nac|urodzenia|narození|rođenja|identidad|documento|identité|sécurité|sociale|fiscal|cuenta|teléfono|telefono|telefone|téléphone|contacto|contatto)){0,3}["\'\\]]?\\s?(?:[=:]|→|->))';
const SPACE = '(?: |\\+|%20)';
/** What may stand after a value. A type such as `Option<String>` has no such end. */
const END = '(?=$|[\\s,;&|)\\]}"\'>!?*#…]|[.:](?:\\s|$)|\\\\+[nrt"\'u]|<(?!\\p{Lu})|-->| ?[-–→])';

const LETTERS = "\\p{L}[\\p{L}\\p{M}]{0,40}(?:['’‘-][\\p{L}\\p{M}]{1,40}){0,4}";
const CAPITALIZED = `(?:[\\p{Lu}\\p{Lt}\\p{Lo}][\\p{L}]{0,2}\\.(?=[ +])|(?=[\\p{Lu}\\p{Lt}\\p{Lo}])${LETTERS})`;

/** Words of a name: `Anna`, `Jean-Luc de la Tour`, `Weber/Anna`, `Weber, Anna` at the end of a line. */
export const PERSON = /* @__PURE__ */ u(
  `(?:[\\p{Lu}][\\p{L}]{0,2}\\.(?=[ +])|${LETTERS})` +
    `(?:${SPACE}${NO_KEY}(?:${PARTICLE}${SPACE}){0,3}${NO_KEY}${CAPITALIZED}){0,4}` +
    `(?:/${CAPITALIZED}(?:${SPACE}(?!M(?:R|S|RS|STR)\\b)${NO_KEY}${CAPITALIZED}){0,2}|,[ ]?${CAPITALIZED}(?=\\s*$|\\s{2}|[\\n"'|;\\t]))?${END}`,
);

const OF_STREET =
  '(?:rue|avenue|av|ave|bd|boulevard|place|allée|chemin|impasse|quai|cours|route|calle|avenida|plaza|paseo|via|viale|piazza|corso|largo|rua|travessa|praça|ulica|ul|al|aleja|pl|os|straat|laan|weg|plein|gracht|street|road|lane|drive|st|rd|blvd|court|way|floor|apt|suite|unit|bis|str|straße|strasse|gasse|of|the|am|an|im|in|auf|bei)';
const POSTAL_WORD = `(?:[\\p{Lu}\\p{Lt}\\p{Lo}][\\p{L}\\p{M}\\p{N}]{0,40}(?:['’/-][\\p{L}\\p{M}\\p{N}]{1,40}){0,4}(?:\\.(?=[ ,+]))?|\\d{1,6}(?:[-/]\\d{1,4})?[A-Za-z]{0,2}(?![\\p{L}\\p{N}])|#\\d{1,5}|(?:${OF_STREET}|${PARTICLE})\\.?(?![\\p{L}\\p{N}]))`;

/** Words and numbers of an address, also with commas: `12 rue des Tilleuls, 75001 Paris`. */
export const POSTAL = /* @__PURE__ */ u(
  `${POSTAL_WORD}(?:(?:${SPACE}|, ?| ?/ ?|,\\+|%2C\\+?| - )${NO_KEY}${POSTAL_WORD}){0,16}${END}`,
);

/** A date, in figures or with the name of its month. */
export const DATE = /* @__PURE__ */ u(`(?:${DATE_SOURCE})(?![\\p{L}\\p{N}_]|[-/.]\\d)`);
/** What languages write in front of a date. */
export const BEFORE_DATE = /* @__PURE__ */ u(
  "(?:~D\\[|#?<?(?:datetime\\.)?[dD]ate(?:time)?[:(] ?[\"']?|ISODate\\([\"']|DATE ?'|\\[|Some\\(|new Date\\([\"']?)",
);

/** A number, also with letters, and in groups if the first one is short. */
export const NUMBER = /* @__PURE__ */ u(
  '(?:[\\p{Lu}\\d]{1,5}(?:[ ](?:\\d{1,6}|\\p{Lu}{1,3}\\d{0,4}|\\d{1,4}\\p{Lu}{1,2})(?![\\p{L}\\p{N}:=_/.-])){1,7}|[\\p{L}\\d]{1,24}(?:[./-][\\p{L}\\d]{1,12}){0,6})(?![\\p{L}\\p{N}_@=([{/]|[.:-][\\p{L}\\p{N}])',
);

/** A phone number, with its extension. */
export const PHONE = /* @__PURE__ */ u(
  '(?:\\+|\\(\\+?)?\\d(?:[ \\u00a0\\u202f./–-]{0,3}\\(?\\d{1,15}\\)?){0,14}(?: ?(?:x|ext\\.?|Ext\\.?|Durchwahl) ?\\d{1,6})?(?![\\p{L}\\p{N}_@=:]|[./-]\\d)',
);
