import { automatonOf, type Program } from './automaton.ts';
import { CODE } from './byte-masks-code.ts';
import { type Anchor, byteRule } from './byte-rule.ts';

/** What of a rule is needed to search for it in bytes. */
export interface ByteSearch {
  readonly anchor: Anchor;
  readonly program: Program;
}

export interface ByteMask extends ByteSearch {
  readonly name: string;
  /** Of ASCII. */
  readonly replacement: string;
}

/** Masks a text; `undefined` if that has to be done in another way. */
export type MaskInBytes = (
  text: string,
  onMask: ((rule: string, count: number) => void) | undefined,
) => string | undefined;

interface Masker {
  readonly memory: Uint8Array;
  /** How many matches `mask` has masked. */
  readonly count: { readonly value: number };
  readonly mask: (rule: number, from: number, end: number, to: number, limit: number) => number;
}

/** Of the memory: the rules; a text; what becomes of it. */
const RULES = 16;
const TEXT = 128 * 1024;
const OTHER = 320 * 1024;
/** What may be read and written beyond a text. */
const BEYOND = 32;
const MOST_TEXT = OTHER - TEXT - BEYOND;
/** Twice the number of a kind is a byte. */
const MOST_KINDS = 127;

const encoder = new TextEncoder();
const decoder = new TextDecoder();
/** One for all: each has an address space of gigabytes, most of it never used. */
let masker: Masker | 'none' | undefined;
/** Whose rules its memory has. */
let loaded: object | undefined;

/**
 * Masks texts of ASCII by WebAssembly, with all rules, one after the other: for three rules over a log in half of the
 * time that it takes to call the engine for each match and to join the pieces. `undefined` if one of the rules cannot be had so, or where
 * there is no WebAssembly with vectors.
 */
export function byteMasks(rules: readonly ByteMask[]): MaskInBytes | undefined {
  masker ??= newMasker();
  const image = masker === 'none' ? undefined : imageOf(rules);
  if (masker === 'none' || image === undefined) return undefined;
  const { memory, count, mask } = masker;
  const { bytes, addresses } = image;
  const text = memory.subarray(TEXT, TEXT + MOST_TEXT);
  return (lines, onMask) => {
    if (loaded !== image) {
      memory.set(bytes, RULES);
      loaded = image;
    }
    const { read, written } = encoder.encodeInto(lines, text);
    // Otherwise some characters are not of ASCII, or there are too many of them.
    if (read !== lines.length || written !== read) return undefined;
    let from = TEXT;
    let to = OTHER;
    let end = TEXT + written;
    const counts: [rule: string, count: number][] = [];
    for (let i = 0; i < addresses.length; i++) {
      const masked = mask(addresses[i] as number, from, end, to, to + MOST_TEXT);
      if (masked === 0) return undefined;
      if (count.value === 0) continue;
      counts.push([(rules[i] as ByteMask).name, count.value]);
      end = masked;
      [from, to] = [to, from];
    }
    // Ahead of the calls: they may mask another text, in the same memory.
    const masked = counts.length > 0 ? decoder.decode(memory.subarray(from, end)) : lines;
    for (const [rule, times] of counts) onMask?.(rule, times);
    return masked;
  };
}

/** All rules as bytes; `undefined` if they cannot be had, or are too many. */
function imageOf(
  rules: readonly ByteMask[],
): { readonly bytes: Uint8Array; readonly addresses: readonly number[] } | undefined {
  const parts: Uint8Array[] = [];
  const addresses: number[] = [];
  let address = RULES;
  for (const { anchor, program, replacement } of rules) {
    const automaton = automatonOf(program);
    if (automaton === undefined || automaton.width > MOST_KINDS) return undefined;
    const part = byteRule(anchor, automaton, replacement, address);
    parts.push(part);
    addresses.push(address);
    address += part.length;
    if (address > TEXT) return undefined;
  }
  const bytes = new Uint8Array(address - RULES);
  parts.forEach((part, i) => {
    bytes.set(part, (addresses[i] as number) - RULES);
  });
  return { bytes, addresses };
}

function newMasker(): Masker | 'none' {
  try {
    const code = Uint8Array.from(atob(CODE), (character) => character.charCodeAt(0));
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(code));
    return {
      memory: new Uint8Array((exports.memory as { readonly buffer: ArrayBuffer }).buffer),
      count: exports.count as Masker['count'],
      mask: exports.mask as Masker['mask'],
    };
  } catch {
    return 'none';
  }
}
