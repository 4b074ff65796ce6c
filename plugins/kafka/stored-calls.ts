import { createHash } from 'node:crypto';

/** A call that is stored, at least in part. */
interface StoredCall {
  /** How many events it has. */
  readonly events: number;
  /** The positions of those that are not stored. */
  readonly missing: ReadonlySet<number>;
}

/** A call that is about to be made. After a crash, it may lack the first of its events, which are acknowledged. */
export interface NamedCall {
  readonly id: string;
  readonly events: number;
}

/** What a broker keeps beside an offset at most has 4,096 bytes by default (offset.metadata.max.bytes). */
const MOST_BYTES = 4000;
/** After a crash, one call may be stored or not, and others only if some of their events were refused. */
const MOST_CALLS = 64;

/**
 * Which calls are stored, in a few bytes. With each transaction the broker keeps these notes, as the metadata of an offset.
 */
export class StoredCalls {
  readonly #calls: ReadonlyMap<string, StoredCall>;

  private constructor(calls: ReadonlyMap<string, StoredCall>) {
    this.#calls = calls;
  }

  static parse(text: string): StoredCalls {
    const calls = text
      .split(' ')
      .filter((note) => note !== '')
      .map((note): [string, StoredCall] => {
        const [name = '', events, missing = ''] = note.split(':');
        return [name, { events: Number(events), missing: positionsIn(missing) }];
      });
    return new StoredCalls(new Map(calls));
  }

  /** Returns what tells whether the event at a position of a call is stored. */
  storedIn(call: NamedCall): (position: number) => boolean {
    const known = this.#calls.get(nameOf(call));
    return (position) => known !== undefined && !known.missing.has(position + known.events - call.events);
  }

  /** Whether all events of a call are stored. */
  isComplete(call: NamedCall): boolean {
    return this.#calls.get(nameOf(call))?.missing.size === 0;
  }

  /** Without a call that cannot come again. */
  without(call: NamedCall): StoredCalls {
    const name = nameOf(call);
    return new StoredCalls(new Map([...this.#calls].filter(([other]) => other !== name)));
  }

  /** With the events at these positions of a call, which are stored now. */
  with(call: NamedCall, positions: readonly number[]): StoredCalls {
    const name = nameOf(call);
    const known = this.#calls.get(name);
    const events = known?.events ?? call.events;
    const missing = new Set(known?.missing ?? Array.from({ length: events }, (_, position) => position));
    for (const position of positions) missing.delete(position + events - call.events);
    const others = [...this.without(call).#calls].slice(1 - MOST_CALLS);
    return new StoredCalls(new Map([...others, [name, { events, missing }]]));
  }

  /** The last calls, as many as there is room for. */
  toString(): string {
    let text = '';
    for (const [name, { events, missing }] of [...this.#calls].reverse()) {
      const note = `${name}:${events}${missing.size === 0 ? '' : `:${bitmap(missing)}`}`;
      if (text !== '' && text.length + 1 + note.length > MOST_BYTES) break;
      text = text === '' ? note : `${note} ${text}`;
    }
    return text;
  }
}

const nameOf = ({ id }: NamedCall) => createHash('sha256').update(id).digest('base64url').slice(0, 16);

function bitmap(positions: ReadonlySet<number>): string {
  const bytes = Buffer.alloc((Math.max(...positions) >> 3) + 1);
  for (const position of positions)
    bytes.writeUInt8(bytes.readUInt8(position >> 3) | (1 << (position & 7)), position >> 3);
  return bytes.toString('base64url');
}

function positionsIn(text: string): ReadonlySet<number> {
  const bytes = Buffer.from(text, 'base64url');
  const positions = Array.from({ length: bytes.length * 8 }, (_, position) => position);
  return new Set(positions.filter((position) => (bytes.readUInt8(position >> 3) >> (position & 7)) & 1));
}
