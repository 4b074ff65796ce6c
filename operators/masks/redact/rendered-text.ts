import type { Finding } from './find-values.ts';

/*
 * What a reader sees of a text: without the colours of a terminal, which stand between keys and values and in both, without
 * escaped NULs, and with letters for their escapes in JSON, `pass\u0077ord`. Rules search this as well, and what they find is
 * replaced in the text.
 */

const ESCAPE = '\x1b';
/** A control sequence (ECMA-48), as it is or as JSON and programs write it: colours, and what clears a line. */
const SEQUENCE = `(?:${ESCAPE}|\\\\{1,4}(?:u001[bB]|x1[bB]|033|e))(?:\\[[0-?]{0,30}[ -/]{0,2}[@-~]|\\([A-Z0-9])`;
/** A NUL as JSON and programs write it. */
const NUL = '\\\\{1,4}(?:u0000|u\\{0{1,6}\\}|x00|000)';
/** The escape of a character of keys: a letter, a digit, `-`, `.` or `_`. */
const LETTER = '\\\\{1,4}u00(2[dDeE]|3[0-9]|4[1-9a-fA-F]|5[0-9aAfF]|6[1-9a-fA-F]|7[0-9aA])';

const BACKSLASH = 0x5c;
const decoder = /* @__PURE__ */ new TextDecoder();

const letterOf = (hex: string | undefined) =>
  hex === undefined ? '' : String.fromCharCode(Number.parseInt(hex, 16));

export class Renderer {
  readonly #hidden: RegExp;
  readonly #allHidden: RegExp;

  /** @param seesLetters whether escapes of letters are seen as letters. */
  constructor(seesLetters: boolean) {
    this.#hidden = new RegExp(seesLetters ? `${SEQUENCE}|${NUL}|${LETTER}` : `${SEQUENCE}|${NUL}`);
    this.#allHidden = new RegExp(this.#hidden, 'g');
  }

  /** Whether a reader sees something else than what is written. */
  needs(text: string): boolean {
    return (text.includes(ESCAPE) || text.includes('\\')) && this.#hidden.test(text);
  }

  /** {@link needs} for bytes of ASCII. Most make no string of them. */
  bytesNeed(bytes: Uint8Array): boolean {
    const mayNeed = bytes.includes(ESCAPE.charCodeAt(0)) || bytes.includes(BACKSLASH);
    return mayNeed && this.needs(decoder.decode(bytes));
  }

  /** What a reader sees. */
  render(text: string): string {
    return text.replace(this.#allHidden, (_, hex: unknown) =>
      letterOf(typeof hex === 'string' ? hex : undefined),
    );
  }

  /**
   * Replaces values in a text by their places in what a reader sees of it. Colours around a value stay, and those in it go.
   * Values that overlap are replaced together, by the first rule.
   *
   * @param replaceValue gets a value as a reader sees it, with its place in `text`
   */
  replace(
    text: string,
    findings: readonly Finding[],
    replaceValue: (value: string, finding: Finding) => string,
  ): string {
    const shown = this.render(text);
    const places = new Places(
      [...text.matchAll(this.#allHidden)].map(({ index, 0: { length }, 1: hex }) => ({
        index,
        length,
        shown: letterOf(hex).length,
      })),
    );
    let masked = '';
    let end = 0;
    for (const { rule, start: from, end: to } of together(findings)) {
      const start = places.inText(from, true);
      const stop = places.inText(to, false);
      masked += text.slice(end, start) + replaceValue(shown.slice(from, to), { rule, start, end: stop });
      end = stop;
    }
    return masked + text.slice(end);
  }
}

/** What is written for `shown` characters, 0 or 1. */
interface Hidden {
  readonly index: number;
  readonly length: number;
  readonly shown: number;
}

/** Where positions in what a reader sees are in the text. They are asked for from the left to the right. */
class Places {
  readonly #hidden: readonly Hidden[];
  #next = 0;
  /** How much of the text is hidden before the last position. */
  #shift = 0;

  constructor(hidden: readonly Hidden[]) {
    this.#hidden = hidden;
  }

  /** @param isStart whether the position is behind the colours at it, or in front of them */
  inText(position: number, isStart: boolean): number {
    for (; this.#next < this.#hidden.length; this.#next++) {
      const { index, length, shown } = this.#hidden[this.#next] as Hidden;
      const at = position + this.#shift;
      const isBehind = shown === 0 && isStart ? index > at : index >= at;
      if (isBehind) break;
      this.#shift += length - shown;
    }
    return position + this.#shift;
  }
}

function together(findings: readonly Finding[]): Finding[] {
  const spans: Finding[] = [];
  for (const finding of findings.toSorted((a, b) => a.start - b.start)) {
    const last = spans.at(-1);
    if (last === undefined || finding.start >= last.end) spans.push(finding);
    else if (finding.end > last.end) spans[spans.length - 1] = { ...last, end: finding.end };
  }
  return spans;
}
