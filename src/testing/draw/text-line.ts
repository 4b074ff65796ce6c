import { createColors } from 'picocolors';
import { characterWidth } from './printable.ts';

/** What a piece of text is; decides its colour. */
export type Paint = 'plain' | 'title' | 'faint' | 'event' | 'changed' | 'trouble' | 'wait' | 'dead';

type Painter = (text: string) => string;

/** How a terminal shows each paint; without colours it is the text alone. */
export function painters(hasColours: boolean): Readonly<Record<Paint, Painter>> {
  const { bold, dim, cyan, yellow, red, magenta, blue } = createColors(hasColours);
  return {
    plain: (text) => text,
    title: bold,
    faint: dim,
    event: cyan,
    changed: (text) => bold(yellow(text)),
    trouble: (text) => bold(red(text)),
    wait: magenta,
    dead: blue,
  };
}

/** A line of a terminal, on which text is put at any column, the later over the earlier. */
export class TextLine {
  readonly #cells: { text: string; paint: Paint }[] = [];

  put(x: number, text: string, paint: Paint = 'plain'): this {
    let at = x;
    while (this.#cells.length < x) this.#cells.push({ text: ' ', paint: 'plain' });
    for (const character of text) {
      const width = characterWidth(character);
      const before = this.#cells[at - 1];
      if (width === 0 && before !== undefined) before.text += character;
      else this.#cells[at++] = { text: character, paint };
      // The second half of a wide character.
      if (width === 2) this.#cells[at++] = { text: '', paint };
    }
    return this;
  }

  /** Puts the text after what is there. */
  add(text: string, paint: Paint = 'plain'): this {
    return this.put(this.#cells.length, text, paint);
  }

  /** The line without spaces at its end. */
  render(paints: Readonly<Record<Paint, Painter>>): string {
    const end = this.#cells.findLastIndex(({ text }) => text !== ' ' && text !== '') + 1;
    let line = '';
    for (let start = 0; start < end; ) {
      const paint = this.#cells[start]?.paint as Paint;
      let text = '';
      for (; start < end && this.#cells[start]?.paint === paint; start++) text += this.#cells[start]?.text;
      line += paints[paint](text);
    }
    return line;
  }
}
