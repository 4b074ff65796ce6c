import type { BoundedKeyword } from '../search/keyword.ts';
import type { KeyName } from './vocabulary.ts';

/** What stands between two words of a command, in a shell and in lists. */
const BETWEEN_WORDS = [' ', '  ', '\t', '","', '", "', "', '", "','", '\\",\\"'];

/** What follows a name: space, and the quote of a name in a list or in a record of audit. */
const SPACE = [' ', '\t', '\0', '\\'];
const QUOTES = ['"', "'", '`'].flatMap((quote) => [' ', '\t', ','].map((next) => quote + next));
/** What the name of a program may end with. */
const ENDINGS = ['.exe', '.cmd', '.bat', '.sh', '.py', '.pl', '.rb'];
const ENDED = ENDINGS.flatMap((ending) => [...SPACE, '"', "'"].map((after) => ending + after));
const AFTER_COMMAND = [...SPACE, ...QUOTES, ...ENDED];

const LONG_ENOUGH = 4;

/** Of which each text with a command has one. @param next the words of which one follows its name; any, if there are none */
export function literalsOfCommand(
  { name, kind }: KeyName,
  next: readonly string[],
): readonly BoundedKeyword[] {
  const lower = name.toLowerCase();
  if (next.length > 0)
    return next.flatMap((word) => BETWEEN_WORDS.map((between) => ({ text: lower + between + word })));
  const followedBy = kind === 'command' ? AFTER_COMMAND : SPACE;
  if (lower.length >= LONG_ENOUGH) return [{ text: lower, followedBy }];
  // What is so short is found by what follows it.
  return followedBy.map((text) => ({ text: lower + text }));
}
