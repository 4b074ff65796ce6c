import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Random } from '../../plugins/pack-tests/random.ts';
import { generate, type Sample } from '../../plugins/pack-tests/templates.ts';
import { CHOSEN_VALUES } from './chosen-values.ts';

/*
 * The corpus of realistic/: lines as real programs write them, by hand, with made-up values. realistic/README.md
 * explains the form. Rules are tuned on the entries outside of unseen/. Those of unseen/ are only counted: what the rules
 * find in entries that nobody looks at while changing them is closer to what they find elsewhere.
 */

const FOLDER = 'test/redaction/realistic';
/** The entries that are held back. */
const UNSEEN = `${FOLDER}/unseen`;

export type Half = 'tuning' | 'held back';

/** An entry of the corpus: the template of one or several lines. */
export interface Entry {
  /** Depends on the file and the template only. */
  readonly id: string;
  readonly file: string;
  /** The number of its first line in the file. */
  readonly line: number;
  /** The notation of a secret, or the program that writes an ordinary line. */
  readonly notation: string;
  readonly kind: string;
  readonly half: Half;
  readonly template: string;
}

/** A sample with places that a mask may replace or keep, such as the brackets around a value. */
export interface RealisticSample extends Sample {
  readonly free: readonly (readonly [start: number, end: number])[];
}

/** The entries of the corpus, with those of `unseen/` last: lines with secrets by default, else those of `ordinary`. */
export function entriesOf(folder: '' | 'ordinary' = ''): Entry[] {
  return [FOLDER, UNSEEN].flatMap((corpus) => {
    const path = join(corpus, folder);
    const files = readdirSync(path).filter((file) => file.endsWith('.txt'));
    return files
      .sort()
      .flatMap((file) => parseEntries(`${path}/${file}`, readFileSync(`${path}/${file}`, 'utf8')));
  });
}

const HEADING = /^\[(.+) \| (.+)\]$/;

/** @throws Error for a line that is neither a heading, nor a comment, nor part of an entry */
export function parseEntries(file: string, content: string): Entry[] {
  const entries: { line: number; notation: string; kind: string; lines: string[] }[] = [];
  let heading: RegExpExecArray | null = null;
  for (const [index, line] of content.split('\n').entries()) {
    const place = `${file}:${index + 1}`;
    const last = entries.at(-1);
    if (line.startsWith('- ')) {
      if (heading === null) throw new Error(`${place}: an entry needs a heading before it`);
      const [, notation = '', kind = ''] = heading;
      entries.push({ line: index + 1, notation, kind, lines: [line.slice(2)] });
    } else if (line === '' || line.startsWith('  ')) last?.lines.push(line.slice(2));
    else if (line.startsWith('[')) {
      heading = HEADING.exec(line);
      if (heading === null) throw new Error(`${place}: a heading is [notation | kind]`);
    } else if (!line.startsWith('#')) throw new Error(`${place}: an entry starts with "- "`);
  }
  const name = file.slice(file.lastIndexOf('/') + 1, -'.txt'.length);
  const half: Half = file.startsWith(`${UNSEEN}/`) ? 'held back' : 'tuning';
  return entries.map(({ line, notation, kind, lines }) => {
    // Empty lines before the next entry or heading belong to none.
    const template = lines.join('\n').replace(/\n+$/, '');
    const id = `${name}-${hashOf(`${name}\n${template}`).toString(16).padStart(8, '0')}`;
    return { id, file, line, notation, kind, half, template };
  });
}

/** FNV-1a, with its bits mixed once more. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0x2c1b3c6d);
  return (hash ^ (hash >>> 12)) >>> 0;
}

const PLACEHOLDER =
  /[⟦⟧⟪⟫]|\{=([^{}]*)\}|(?<!\$)\{(\w+)(?::(~?)(\d+)(?:-(\d+))?)?\}|(?<!\$)\{([^{}"\s,=]*(?:\|[^{}"\s,=]*)+)\}/g;

/** The sample of an entry with this number. It is the same in each run. */
export function sampleOf(entry: Entry, number: number): RealisticSample {
  const r = new Random(hashOf(`${entry.id} ${number}`));
  const place = `${entry.file}:${entry.line}`;
  let text = '';
  let end = 0;
  let open: { mark: string; start: number } | undefined;
  const spans: [number, number][] = [];
  const free: [number, number][] = [];
  for (const match of entry.template.matchAll(PLACEHOLDER)) {
    text += entry.template.slice(end, match.index);
    end = match.index + match[0].length;
    const [whole, literal, ...rest] = match;
    if (whole === '⟦' || whole === '⟪') {
      if (open !== undefined) throw new Error(`${place}: a mark within a mark`);
      open = { mark: whole, start: text.length };
    } else if (whole === '⟧' || whole === '⟫') {
      if (open === undefined || (open.mark === '⟦') !== (whole === '⟧'))
        throw new Error(`${place}: a mark ends that does not start`);
      if (text.slice(open.start).includes('\n')) throw new Error(`${place}: a mark ends in another line`);
      (whole === '⟧' ? spans : free).push([open.start, text.length]);
      open = undefined;
    } else if (literal !== undefined) text += `{${literal}}`;
    else {
      const [name = ''] = rest;
      const chosen = Object.hasOwn(CHOSEN_VALUES, name) ? CHOSEN_VALUES[name]?.(r) : undefined;
      text += chosen ?? generate([whole, ...rest], text, r) ?? whole;
    }
  }
  if (open !== undefined) throw new Error(`${place}: a mark does not end`);
  return { text: text + entry.template.slice(end), spans, free };
}
