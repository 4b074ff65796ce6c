import { DEFAULT_ALPHABET } from '../operators/masks/entropy-index.ts';

const IP = /\b[0-9]{1,3}(?:\.[0-9]{1,3}){3}\b/g;
const SECRET_HERE = /KEY::[0-9]{10}/y;
const EMAIL_HERE = /[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}/y;
const IS_LOCAL_PART = new Uint8Array(128);
for (let unit = 0; unit < 128; unit++) {
  if (/[A-Za-z0-9._%+-]/.test(String.fromCharCode(unit))) IS_LOCAL_PART[unit] = 1;
}

/**
 * The three rules of the main job by hand: what an engineer would write who needs these and nothing else. It looks
 * for what a match must contain first, and tries an address once for each `@`, from where its run begins.
 */
export function threeRulesByHand(text: string): string {
  return emailsByHand(secretsByHand(text).replace(IP, '<:IP:>'));
}

function secretsByHand(text: string): string {
  let masked = '';
  let copied = 0;
  for (let at = text.indexOf('KEY::'); at !== -1; at = text.indexOf('KEY::', at + 1)) {
    SECRET_HERE.lastIndex = at;
    if (!SECRET_HERE.test(text)) continue;
    masked += `${text.slice(copied, at)}<:SECRET:>`;
    copied = SECRET_HERE.lastIndex;
  }
  return copied === 0 ? text : masked + text.slice(copied);
}

function emailsByHand(text: string): string {
  let masked = '';
  let copied = 0;
  for (let at = text.indexOf('@'); at !== -1; at = text.indexOf('@', at + 1)) {
    let start = at;
    while (start > copied && IS_LOCAL_PART[text.charCodeAt(start - 1)] === 1) start--;
    EMAIL_HERE.lastIndex = start;
    if (start === at || !EMAIL_HERE.test(text)) continue;
    masked += `${text.slice(copied, start)}<:EMAIL:>`;
    copied = EMAIL_HERE.lastIndex;
  }
  return copied === 0 ? text : masked + text.slice(copied);
}

const SLOT = new Uint8Array(128);
for (let i = 0; i < DEFAULT_ALPHABET.length; i++) SLOT[DEFAULT_ALPHABET.charCodeAt(i)] = i + 1;
const C_LN_C = Float64Array.from({ length: 4096 }, (_, c) => (c === 0 ? 0 : c * Math.log(c)));
/** What c·ln c grows by with the next occurrence. */
const STEP = C_LN_C.map((value, c) => (C_LN_C[c + 1] ?? 0) - value);
const counts = new Uint16Array(DEFAULT_ALPHABET.length + 1);

/**
 * `entropy_mask` with its defaults, by hand, for ASCII: what an engineer would write who needs this and nothing
 * else. Tokens of up to 65 characters, as long as the alphabet, are all that it measures.
 */
export function entropyByHand(text: string): string {
  let masked = '';
  let copied = 0;
  for (let start = 0; start <= text.length; ) {
    let end = text.indexOf(' ', start);
    if (end === -1) end = text.length;
    if (end - start >= 16 && indexByHand(text, start, end) >= 0.9) {
      masked += `${text.slice(copied, start)}<:HIGH-ENTROPY:>`;
      copied = end;
    }
    start = end + 1;
  }
  return copied === 0 ? text : masked + text.slice(copied);
}

function indexByHand(text: string, start: number, end: number): number {
  let sum = 0;
  for (let i = start; i < end; i++) {
    const slot = SLOT[text.charCodeAt(i)] as number;
    const count = counts[slot] as number;
    sum += STEP[count] as number;
    counts[slot] = count + 1;
  }
  const outside = counts[0] as number;
  counts.fill(0);
  const length = end - start;
  const best = C_LN_C[length] as number;
  return (((length - outside) / length) * best - sum + (C_LN_C[outside] as number)) / best;
}
