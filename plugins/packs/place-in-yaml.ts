import { COLLECTION_STYLE, EVENT_ID, type Event, getScalarValue, parseEvents, SCALAR_STYLE } from 'js-yaml';

/** The keys and indexes that lead to a value. */
export type Path = readonly PropertyKey[];

/** Where something stands in a text, both from 1. */
export interface YamlPlace {
  readonly line: number;
  readonly column: number;
}

/** The place of an offset in a text. */
export function placeOf(text: string, offset: number): YamlPlace {
  const before = text.slice(0, offset).split(/\r\n|\r|\n/);
  return { line: before.length, column: (before.at(-1) as string).length + 1 };
}

/** Places in a YAML text, which is parsed once. */
export class YamlPlaces {
  readonly #text: string;
  readonly #events: readonly Event[];

  constructor(text: string) {
    this.#text = text;
    this.#events = parseEvents(text, {});
  }

  /**
   * Where the value at a path stands, or the nearest one around it. Of a list or mapping over several lines it is the key.
   *
   * @example
   * new YamlPlaces('rules:\n  ticket: {}\n').of(['rules', 'ticket', 'match']); // { line: 2, column: 11 }
   */
  of(path: Path): YamlPlace {
    return placeOf(this.#text, this.#offsetOf(path));
  }

  #offsetOf(path: Path): number {
    // The first event is that of the document.
    let node = 1;
    let offset = 0;
    for (const step of path) {
      const found = this.#child(node, step);
      if (found === undefined) break;
      node = found.node;
      offset = this.#startOf(node) ?? this.#startOf(found.key) ?? offset;
    }
    return offset;
  }

  #child(node: number, step: PropertyKey): { node: number; key: number } | undefined {
    const type = this.#events[node]?.type;
    const isMapping = type === EVENT_ID.MAPPING;
    if (!isMapping && type !== EVENT_ID.SEQUENCE) return undefined;
    let index = 0;
    for (let at = node + 1; this.#isNode(at); index++) {
      const key = at;
      if (isMapping) at = this.#after(at);
      const event = this.#events[key] as Event;
      const name = event.type === EVENT_ID.SCALAR ? getScalarValue(this.#text, event) : undefined;
      if (isMapping ? name === step : index === step) return { node: at, key };
      at = this.#after(at);
    }
    return undefined;
  }

  #isNode(index: number): boolean {
    const type = this.#events[index]?.type;
    return type !== undefined && type !== EVENT_ID.POP;
  }

  /** The index after a value. */
  #after(index: number): number {
    let depth = 0;
    for (let at = index; at < this.#events.length; at++) {
      const type = this.#events[at]?.type;
      if (type === EVENT_ID.MAPPING || type === EVENT_ID.SEQUENCE) depth++;
      else if (type === EVENT_ID.POP) depth--;
      if (depth === 0) return at + 1;
    }
    return this.#events.length;
  }

  #startOf(index: number): number | undefined {
    const event = this.#events[index];
    if (event?.type === EVENT_ID.MAPPING || event?.type === EVENT_ID.SEQUENCE)
      return event.style === COLLECTION_STYLE.FLOW ? event.start : undefined;
    if (event?.type !== EVENT_ID.SCALAR || event.valueStart === -1) return undefined;
    const isQuoted = event.style === SCALAR_STYLE.SINGLE_QUOTED || event.style === SCALAR_STYLE.DOUBLE_QUOTED;
    return isQuoted ? event.valueStart - 1 : event.valueStart;
  }
}
