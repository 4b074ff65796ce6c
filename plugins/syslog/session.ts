import type { Outcome } from '../../src/sdk/index.ts';
import { type FramingReports, MessageFramer, messageText } from './framing.ts';
import { RELP_OFFERS, RelpFrames, relpFrame } from './relp-frames.ts';

/** Messages that were read together. */
export interface ReadMessages {
  readonly messages: readonly string[];
  /** To be called when the pipeline is done with all of them. */
  readonly acknowledge?: ((outcome: Outcome) => void) | undefined;
}

/** The receiving end of a protocol on one connection. */
export interface Session {
  /** Why nothing more can be read. It quotes nothing of what was sent. */
  readonly malformed: string | undefined;
  /** Bytes in memory. */
  readonly memory: number;
  /** Bytes that came and were not taken as messages. */
  readonly unread: number;
  /** Whether a message has started and is not complete. */
  readonly isInsideMessage: boolean;
  push(chunk: Buffer): void;
  /** The next messages, `most` at most. If there are fewer, all that is complete was read. */
  take(most: number): ReadMessages;
  /**
   * The last message, once the other side has sent its last byte and all others were taken. `close` is called when nothing
   * is left to answer.
   */
  end(close: () => void): ReadMessages;
}

/** Messages without acknowledgement: RFC 6587 and RFC 5425. */
export class PlainSession implements Session {
  readonly #framer: MessageFramer;

  constructor(maxBytes: number, reports: FramingReports) {
    this.#framer = new MessageFramer(maxBytes, reports);
  }

  get malformed(): string | undefined {
    return this.#framer.malformed;
  }

  get memory(): number {
    return this.#framer.memory;
  }

  get unread(): number {
    return this.#framer.unread;
  }

  get isInsideMessage(): boolean {
    return this.#framer.isInsideMessage;
  }

  push(chunk: Buffer): void {
    this.#framer.push(chunk);
  }

  take(most: number): ReadMessages {
    return { messages: this.#framer.take(most) };
  }

  end(close: () => void): ReadMessages {
    const last = this.#framer.end();
    close();
    return { messages: last === undefined || last === '' ? [] : [last] };
  }
}

/** RELP: each message is acknowledged by its number, and the other side keeps it until then. */
export class RelpSession implements Session {
  readonly #frames: RelpFrames;
  readonly #reports: FramingReports;
  readonly #send: (frames: string) => void;
  readonly #close: () => void;
  #isOpen = false;
  #malformed: string | undefined;
  /** Messages that are neither acknowledged nor failed. */
  #unanswered = 0;
  /** What to do when all are answered. */
  #whenAnswered: (() => void) | undefined;

  /** `send` sends answers, and `close` closes the connection when they are sent. */
  constructor(maxBytes: number, reports: FramingReports, send: (frames: string) => void, close: () => void) {
    this.#frames = new RelpFrames(maxBytes);
    this.#reports = reports;
    this.#send = send;
    this.#close = close;
  }

  get malformed(): string | undefined {
    return this.#malformed ?? this.#frames.malformed;
  }

  get memory(): number {
    return this.#frames.memory;
  }

  /** The other side has what it sent, until that is acknowledged. */
  get unread(): number {
    return 0;
  }

  get isInsideMessage(): boolean {
    return this.#frames.isInsideFrame;
  }

  push(chunk: Buffer): void {
    this.#frames.push(chunk);
  }

  /** Answers commands other than `syslog` on the way, also if there is room for no message. */
  take(most: number): ReadMessages {
    const numbers: number[] = [];
    const messages: string[] = [];
    // The other side sends nothing after `close`.
    const hasRoom = (command: string) =>
      this.#whenAnswered === undefined && (command !== 'syslog' || messages.length < most);
    while (this.#malformed === undefined) {
      const frame = this.#frames.next(hasRoom);
      if (frame === undefined) break;
      const { number, command, data } = frame;
      if (command !== 'syslog') this.#answer(number, command);
      else if (!this.#isOpen) this.#malformed = 'expected the command `open` before the first message';
      else if (data === undefined) {
        // Sent again, it would not be shorter.
        this.#reports.tooLong();
        this.#send(relpFrame(number, 'rsp', '200 OK'));
      } else {
        numbers.push(number);
        messages.push(messageText(data));
        this.#unanswered++;
      }
    }
    // librelp, the client of rsyslog, forgets a message that is answered with an error. Without an answer, it sends all
    // messages again over its next connection.
    const acknowledge = (outcome: Outcome) => {
      if (outcome === 'failed') {
        this.#close();
        return;
      }
      this.#send(numbers.map((number) => relpFrame(number, 'rsp', '200 OK')).join(''));
      this.#unanswered -= numbers.length;
      if (this.#unanswered === 0) this.#whenAnswered?.();
    };
    return { messages, acknowledge };
  }

  /** What is incomplete is sent again. */
  end(close: () => void): ReadMessages {
    this.#afterAnswers(close);
    return { messages: [] };
  }

  /** An answer to `close` before that of a message would tell the other side that the message is not acknowledged. */
  #afterAnswers(then: () => void): void {
    if (this.#whenAnswered !== undefined) return;
    this.#whenAnswered = then;
    if (this.#unanswered === 0) then();
  }

  #answer(number: number, command: string): void {
    if (command === 'open') {
      this.#isOpen = true;
      this.#send(relpFrame(number, 'rsp', `200 OK\n${RELP_OFFERS}`));
    } else if (command === 'close') {
      this.#afterAnswers(() => {
        this.#send(relpFrame(number, 'rsp') + relpFrame(0, 'serverclose'));
        this.#close();
      });
    } else this.#send(relpFrame(number, 'rsp', '500 unknown command'));
  }
}
