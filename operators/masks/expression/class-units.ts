import type { AST } from '@eslint-community/regexpp';
import { UnitSet } from './unit-set.ts';

/** A part of an expression that takes exactly one character. */
export type OneCharacter = AST.Character | AST.CharacterSet | AST.CharacterClass;

/** What one character may be. */
interface CharacterUnits {
  readonly units: UnitSet;
  /** With the `u` flag: the character may be one beyond U+FFFF, which takes two units. */
  readonly mayBeTwo: boolean;
}

const known = new Map<string, CharacterUnits>();
/** Each set of the same classes is asked for again and again; this bounds what is kept. */
const MOST_KNOWN = 1000;

/**
 * The code units that a part of an expression matches. They are asked of the engine itself: it alone knows what `\w`
 * or `[^é]` take under its flags, and it is the one that will be asked to match.
 */
export function unitsOf(node: OneCharacter, flags: string): CharacterUnits {
  const key = `${flags}/${node.raw}`;
  const found = known.get(key);
  if (found !== undefined) return found;
  const units = ask(node, flags);
  if (known.size >= MOST_KNOWN) known.clear();
  known.set(key, units);
  return units;
}

function ask(node: OneCharacter, flags: string): CharacterUnits {
  const ascii = new Uint8Array(128);
  for (const found of ASCII.match(new RegExp(node.raw, `g${flags}`)) ?? []) ascii[found.charCodeAt(0)] = 1;
  const unicode = flags.includes('u');
  // Without the `u` flag, ASCII and other characters are never the same in another case.
  const folds = unicode && flags.includes('i');
  if (!folds && takesAsciiOnly(node)) return { units: new UnitSet(ascii, []), mayBeTwo: false };
  const high = !folds && takesAllElse(node) ? [0x80, 0xffff] : rangesOf(node.raw, flags, unicode);
  const units = new UnitSet(ascii, high);
  // What may be half of a pair is not worth to be known exactly.
  // In another case, ASCII can be one of few letters, none of which is a pair.
  const mayBeTwo = unicode && !takesAsciiOnly(node);
  return { units: mayBeTwo ? units.union(SURROGATES) : units, mayBeTwo };
}

const ASCII = everyUnit(0, 0x7f);
const SURROGATES = new UnitSet(new Uint8Array(128), [0xd800, 0xdfff]);

function takesAsciiOnly(node: OneCharacter): boolean {
  if (node.type === 'CharacterClass') return !node.negate && node.elements.every(isAscii);
  return isAscii(node);
}

function takesAllElse(node: OneCharacter): boolean {
  return node.type === 'CharacterClass' && node.negate && node.elements.every(isAscii);
}

function isAscii(element: OneCharacter | AST.CharacterClass['elements'][number]): boolean {
  switch (element.type) {
    case 'Character':
      return element.value < 128;
    case 'CharacterClassRange':
      return element.max.value < 128;
    case 'CharacterSet':
      return (element.kind === 'digit' || element.kind === 'word') && !element.negate;
    default:
      return false;
  }
}

/** All units from U+0080 on, in order; with the `u` flag without those that only stand in pairs. */
let everyHigh: { readonly all: string; readonly whole: string } | undefined;

function rangesOf(raw: string, flags: string, unicode: boolean): number[] {
  everyHigh ??= { all: everyUnit(0x80, 0xffff), whole: everyUnit(0x80, 0xd7ff) + everyUnit(0xe000, 0xffff) };
  const ranges: number[] = [];
  const text = unicode ? everyHigh.whole : everyHigh.all;
  for (const match of text.matchAll(new RegExp(`(?:${raw})+`, `g${flags}`))) {
    const [run] = match;
    ranges.push(run.charCodeAt(0), run.charCodeAt(run.length - 1));
  }
  return ranges;
}

function everyUnit(first: number, last: number): string {
  let text = '';
  for (let unit = first; unit <= last; unit++) text += String.fromCharCode(unit);
  return text;
}
