import { isPlain } from '../operators/internal-redact.ts';
import type { Pseudonyms, RestoredStream } from './pseudonyms.ts';
import { restoreValue } from './restore-value.ts';

/** A string of an event that goes on in other events. */
interface Delta {
  /** The text that it is a part of, within its choice or content block: `0/content`. */
  readonly block: string;
  readonly isJson: boolean;
  readonly holder: Record<string, unknown>;
  readonly key: string;
}

/** An event that waits for its turn. */
interface Waiting {
  readonly lines: readonly string[];
  readonly data: unknown;
  isChanged: boolean;
  /** Texts of which a delta in it ends with something that may become a pseudonym. */
  readonly open: Set<OpenBlock>;
}

interface OpenBlock {
  readonly stream: RestoredStream;
  last: { readonly event: Waiting; readonly delta: Delta } | undefined;
}

const LINE_END = /\r\n|\n|\r(?!$)/;
/** So many events wait for one whose last word may become a pseudonym. After that, it is none. */
const MOST_WAITING = 1000;

/**
 * Turns back pseudonyms in server-sent events of models: `chat/completions`, `responses` and `messages`. The deltas of a text are one text,
 * so a pseudonym may be in several of them.
 *
 * No event is added or left out. A delta that ends with what may become a pseudonym waits for the next event of its text, which gets the pseudonym
 * as a whole; what follows waits too. Events without anything that may become one stay as they are, to the byte.
 */
export class EventRestorer {
  readonly #pseudonyms: Pseudonyms;
  readonly #blocks = new Map<string, OpenBlock>();
  readonly #waiting: Waiting[] = [];
  #rest = '';
  #endsWithCr = false;
  #lines: string[] = [];

  constructor(pseudonyms: Pseudonyms) {
    this.#pseudonyms = pseudonyms;
  }

  /** The next piece of the stream. Returns what leaves now. */
  write(piece: string): string {
    // What is left is not read again with each piece.
    const mayEnd = this.#endsWithCr || /[\r\n]/.test(piece);
    this.#rest += piece;
    if (piece !== '') this.#endsWithCr = piece.endsWith('\r');
    if (!mayEnd) return '';
    for (let end = LINE_END.exec(this.#rest); end !== null; end = LINE_END.exec(this.#rest)) {
      this.#takeLine(this.#rest.slice(0, end.index), end[0]);
      this.#rest = this.#rest.slice(end.index + end[0].length);
    }
    return this.#leaving();
  }

  /** Returns the rest. */
  end(): string {
    if (this.#rest.endsWith('\r')) this.#takeLine(this.#rest.slice(0, -1), '\r');
    else if (this.#rest !== '') this.#lines.push(this.#rest);
    this.#rest = '';
    if (this.#lines.length > 0) this.#takeEvent();
    this.#endBlocks('');
    return this.#leaving();
  }

  #takeLine(line: string, end: string): void {
    this.#lines.push(line + end);
    if (line === '') this.#takeEvent();
  }

  #takeEvent(): void {
    const lines = this.#lines;
    this.#lines = [];
    const text = lines.flatMap((line) => dataOf(line) ?? []).join('\n');
    const event: Waiting = { lines, data: parsed(text), isChanged: false, open: new Set() };
    this.#waiting.push(event);
    if (!isPlain(event.data)) {
      this.#takeText(event, text);
      return;
    }
    try {
      this.#takeData(event, event.data);
    } catch {
      // It nests too deeply, or has an object for an index: it stays as it is.
    }
  }

  #takeData(event: Waiting, data: Record<string, unknown>): void {
    const deltas = deltasOf(data);
    for (const delta of deltas) this.#takeDelta(event, delta);
    if (deltas.length === 0) this.#restoreWhole(event, data);
    for (const prefix of endedBy(data, deltas)) this.#endBlocks(prefix);
  }

  /** Data that is no JSON, such as `[DONE]`, and comments. */
  #takeText(event: Waiting, text: string): void {
    if (text === '') return;
    this.#endBlocks('');
    const restored =
      event.data === undefined ? this.#pseudonyms.restore(text) : this.#pseudonyms.restoreJson(text);
    if (restored === text) return;
    Object.assign(event, { data: restored, isChanged: true });
  }

  #restoreWhole(event: Waiting, data: Record<string, unknown>): void {
    const restored = restoreValue(data, this.#pseudonyms);
    if (restored === data) return;
    Object.assign(event, { data: restored, isChanged: true });
  }

  #takeDelta(event: Waiting, delta: Delta): void {
    const { block, isJson, holder, key } = delta;
    let open = this.#blocks.get(block);
    if (open === undefined) {
      open = { stream: this.#pseudonyms.stream({ json: isJson }), last: undefined };
      this.#blocks.set(block, open);
    }
    const text = holder[key] as string;
    const restored = open.stream.write(text);
    // What the event before this one held back is in this one now.
    if (open.last !== undefined) open.last.event.open.delete(open);
    open.last = undefined;
    if (open.stream.held > 0) {
      open.last = { event, delta };
      event.open.add(open);
    }
    if (restored === text) return;
    holder[key] = restored;
    event.isChanged = true;
  }

  #endBlocks(prefix: string): void {
    for (const [block, open] of this.#blocks) {
      if (!block.startsWith(prefix)) continue;
      this.#blocks.delete(block);
      settle(open);
    }
  }

  #leaving(): string {
    let text = '';
    for (let [first] = this.#waiting; first !== undefined; [first] = this.#waiting) {
      if (first.open.size > 0) {
        if (this.#waiting.length <= MOST_WAITING) break;
        for (const open of first.open) settle(open);
      }
      text += written(first);
      this.#waiting.shift();
    }
    return text;
  }
}

/** Gives what was held back to the event that it came with. */
function settle(open: OpenBlock): void {
  const rest = open.stream.end();
  if (open.last === undefined) return;
  const { event, delta } = open.last;
  delta.holder[delta.key] = `${delta.holder[delta.key]}${rest}`;
  event.open.delete(open);
  open.last = undefined;
}

/** The data of a line of an event; undefined if it has none. */
function dataOf(line: string): string | undefined {
  return /^data(?:: ?([^\r\n]*))?[\r\n]*$/
    .exec(line)
    ?.slice(1)
    .map((data) => data ?? '')[0];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** An event as it leaves: with new data in place of its old data, or as it came. */
function written({ lines, data, isChanged }: Waiting): string {
  if (!isChanged) return lines.join('');
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  const first = lines.findIndex((line) => dataOf(line) !== undefined);
  const [end = ''] = /[\r\n]*$/.exec(lines[first] ?? '') ?? [];
  return lines
    .flatMap((line, i) => {
      if (dataOf(line) === undefined) return line;
      return i === first ? text.split(/\r\n|\r|\n/).map((part) => `data: ${part}${end || '\n'}`) : [];
    })
    .join('');
}

function deltasOf(event: Record<string, unknown>): Delta[] {
  const { type, index, delta } = event;
  if (Array.isArray(event.choices)) return event.choices.filter(isPlain).flatMap(deltasOfChoice);
  if (type === 'content_block_delta' && isPlain(delta)) {
    return stringsOf(delta, ['text', 'thinking', 'partial_json'], `${index}/`);
  }
  if (typeof type !== 'string' || !type.endsWith('.delta') || typeof delta !== 'string') return [];
  const { output_index, item_id, content_index, summary_index } = event;
  const block = `${output_index}/${item_id} ${content_index} ${summary_index} ${type}`;
  return [{ block, isJson: type.includes('arguments'), holder: event, key: 'delta' }];
}

function deltasOfChoice(choice: Record<string, unknown>): Delta[] {
  const { index, delta } = choice;
  const texts = stringsOf(choice, ['text'], `${index}/`);
  if (!isPlain(delta)) return texts;
  const { tool_calls, function_call } = delta;
  const names = Object.keys(delta).filter((name) => name !== 'role');
  const calls = (Array.isArray(tool_calls) ? tool_calls : []).filter(isPlain).flatMap((call, i) => {
    const prefix = `${index}/call ${call.index ?? i} `;
    return [
      ...(isPlain(call.function) ? stringsOf(call.function, ['arguments'], prefix) : []),
      ...(isPlain(call.custom) ? stringsOf(call.custom, ['input'], prefix) : []),
    ];
  });
  return [
    ...texts,
    ...stringsOf(delta, names, `${index}/`),
    ...calls,
    ...(isPlain(function_call) ? stringsOf(function_call, ['arguments'], `${index}/`) : []),
  ];
}

function stringsOf(holder: Record<string, unknown>, names: readonly string[], prefix: string): Delta[] {
  return names
    .filter((key) => typeof holder[key] === 'string')
    .map((key) => ({
      block: prefix + key,
      isJson: key === 'arguments' || key === 'partial_json',
      holder,
      key,
    }));
}

/** The starts of the names of blocks that end with an event. */
function endedBy(event: Record<string, unknown>, deltas: readonly Delta[]): string[] {
  if (Array.isArray(event.choices)) {
    return event.choices
      .filter((choice) => isPlain(choice) && (choice.finish_reason ?? null) !== null)
      .map(({ index }) => `${index}/`);
  }
  if (deltas.length > 0 || event.type === 'ping') return [];
  const index = event.index ?? event.output_index;
  return [typeof index === 'number' ? `${index}/` : ''];
}
