/** More characters are no pseudonym: one with a key has up to 1,664 after its label. */
const LONGEST = 2000;

/** A pseudonym as models write it: in Markdown, the underscore may be escaped. */
const IN_TEXT = /<:([A-Z](?:\w|\\_){0,1999}):>/g;
/** In strings of JSON, the brackets can be escaped too. What is in front of an escape is no backslash that is escaped itself. */
const IN_JSON =
  /(?:<|\\u003[cC](?<=(?<!\\)(?:\\\\)*\\u003[cC])):([A-Z](?:\w|\\\\_){0,1999}):(?:>|\\u003[eE])/g;

/** The start of a pseudonym at the end of a text. */
const START_IN_TEXT = /<(?::(?:([A-Z][\w\\]*):?)?)?$/;
const START_IN_JSON =
  /(?<!\\)(?:\\*(?:<|\\u003[cC])(?::(?:([A-Z][\w\\]*)(?::(?:\\(?:u(?:0(?:03?)?)?)?)?)?)?)?|\\+(?:u(?:0(?:03?)?)?)?)$/;

/** Turns back pseudonyms in a text that arrives in pieces. It holds back only what may still become one. */
export class RestoringStream {
  readonly #isJson: boolean;
  readonly #valueFor: (content: string) => string | undefined;
  readonly #mayBecome: (start: string) => boolean;
  #held = '';

  /**
   * @param valueFor the value of what is between the brackets of a pseudonym; undefined if it is none
   * @param mayBecome whether there is a pseudonym that starts so
   */
  constructor(
    isJson: boolean,
    valueFor: (content: string) => string | undefined,
    mayBecome: (start: string) => boolean,
  ) {
    this.#isJson = isJson;
    this.#valueFor = valueFor;
    this.#mayBecome = mayBecome;
  }

  get held(): number {
    return this.#held.length;
  }

  write(piece: string): string {
    const text = this.#held + piece;
    const end = this.#endOfKnown(text);
    this.#held = text.slice(end);
    return this.#replaced(text.slice(0, end));
  }

  end(): string {
    const rest = this.#replaced(this.#held);
    this.#held = '';
    return rest;
  }

  #replaced(text: string): string {
    return text.replace(this.#isJson ? IN_JSON : IN_TEXT, (written, content: string) => {
      const value = this.#valueFor(content.replaceAll('\\', ''));
      if (value === undefined) return written;
      return this.#isJson ? JSON.stringify(value).slice(1, -1) : value;
    });
  }

  /** Where the start of a pseudonym begins with which the text ends. */
  #endOfKnown(text: string): number {
    const { length } = text;
    const from = Math.max(0, length - LONGEST);
    const start = (this.#isJson ? START_IN_JSON : START_IN_TEXT).exec(from === 0 ? text : text.slice(from));
    if (start === null || !this.#mayBecome((start[1] ?? '').replaceAll('\\', ''))) return length;
    return from + start.index;
  }
}
