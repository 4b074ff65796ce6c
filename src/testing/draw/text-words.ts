import { cellWidth } from './printable.ts';

/** A space at which no line is broken. */
export const UNBROKEN = '\u00a0';

/** Breaks text at spaces so that no line is wider than `width`, a single long word excepted: that one is cut. */
export function wrapWords(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ').flatMap((word) => cut(word, width))) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line !== '' && cellWidth(longer) > width) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line].map((wrapped) => wrapped.replaceAll(UNBROKEN, ' '));
}

function cut(word: string, width: number): string[] {
  const parts: string[] = [''];
  for (const character of word) {
    if (cellWidth(parts.at(-1) + character) > width) parts.push(character);
    else parts[parts.length - 1] += character;
  }
  return parts;
}
