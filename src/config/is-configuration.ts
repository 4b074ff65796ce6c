import { nearest } from '../models/nearest.ts';
import { SECTIONS } from './sections.ts';

/** A key at the begin of a line, be the line valid YAML or not. */
const KEY = /^[ \t{,]*["']?(\w+)["']?[ \t]*:/gm;
const NAMES = [...SECTIONS.keys()];
/** Short names are near to everything. */
const LONG_NAMES = NAMES.filter((name) => name.length > 'tests'.length);

/**
 * Whether top-level keys are those of a configuration, if one is misspelt. A file without any may be another one, such as
 * a log, that was named by mistake: nothing of it is to be shown.
 */
export function areSections(keys: readonly string[]): boolean {
  return keys.some(
    (key) => key.startsWith('_') || NAMES.includes(key) || nearest(key, LONG_NAMES) !== undefined,
  );
}

/** The same for a text that cannot be read as YAML. */
export function mentionsSections(text: string): boolean {
  return [...text.matchAll(KEY)].some(([, key]) => NAMES.includes(key as string));
}
