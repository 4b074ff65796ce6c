import { SECTIONS } from './sections.ts';

const NAMES = [...SECTIONS.keys()].join('|');
/** A section that begins a line. Its value is a mapping, so it stands below, or begins with a brace, an anchor or a tag. */
const SECTION_LINE = new RegExp(`^["']?(?:${NAMES})["']?[ \\t]*:[ \\t]*(?:$|[{&*!#])`, 'm');
/** The first key of a file in flow style, such as JSON. */
const FIRST_KEY = new RegExp(`^\\s*\\{\\s*["']?(?:${NAMES})["']?\\s*:`);

/**
 * Whether a section is among the top-level keys. A file that has none may be any other file that was named by mistake,
 * such as `/etc/shadow`: neither its lines nor its keys may be shown.
 */
export function hasSection(keys: readonly string[]): boolean {
  return keys.some((key) => SECTIONS.has(key));
}

/** The same for a text that cannot be read as YAML. */
export function mentionsSection(text: string): boolean {
  return SECTION_LINE.test(text) || FIRST_KEY.test(text);
}
