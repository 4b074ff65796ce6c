import { UnitSet } from './unit-set.ts';

/** What `\w` and `\b` take for a word, without the flags `i` and `u` together. */
export const WORD = UnitSet.of('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_');
