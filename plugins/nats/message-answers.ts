import type { Outcome, PluginError } from '../../src/sdk/index.ts';
import type { CollectorConfig, CollectorContext } from './collector-settings.ts';
import type { NatsMessage } from './link.ts';

/** Milliseconds. */
const LONGEST_NAK = 300_000;

/** Milliseconds before a message that failed comes again. They double with each delivery. */
export function nakDelay({ nak_delay }: Pick<CollectorConfig, 'nak_delay'>, deliveries: number): number {
  return Math.min(nak_delay * 1000 * 2 ** (deliveries - 1), LONGEST_NAK);
}

const isPowerOfTen = (count: number) => /^10*$/.test(String(count));

/** Answers messages whose events are acknowledged, and reports those that failed. */
export class MessageAnswers {
  readonly #ctx: CollectorContext;
  /** Deliveries of messages that could not be read, and that no dead letter took. */
  #unread = 0;

  constructor(ctx: CollectorContext) {
    this.#ctx = ctx;
  }

  /** `refusal` is why the message could not be read. Returns whether it was acknowledged. */
  answer(message: NatsMessage, refusal: PluginError | undefined, outcome: Outcome): boolean {
    const { config } = this.#ctx;
    const wait = nakDelay(config, message.deliveries);
    if (refusal !== undefined) {
      this.#answerRefused(message, refusal, outcome, wait);
    } else if (outcome !== 'failed') {
      message.ack();
      return true;
    } else if (message.deliveries >= config.max_deliver) {
      this.#reportTerm(message);
      message.term();
    } else {
      message.nak(wait);
    }
    return false;
  }

  /**
   * A message that cannot be read may be a sign of a wrong `format`, and a mistake in a configuration must not cost the
   * messages of a stream: without a dead letter that has taken it, it stays.
   */
  #answerRefused(message: NatsMessage, refusal: PluginError, outcome: Outcome, wait: number): void {
    if (outcome === 'dead_lettered') {
      message.term();
      return;
    }
    this.#reportUnread(message, refusal, wait);
    message.nak(wait);
  }

  /** At first, and then ever more rarely: with a wrong `format`, it is every message. */
  #reportUnread({ sequence }: NatsMessage, refusal: PluginError, wait: number): void {
    this.#unread++;
    if (this.#unread > 3 && !isPowerOfTen(this.#unread)) return;
    const { logger, pipeline, config } = this.#ctx;
    logger.error(
      `${pipeline}: collector ${config.name}: message ${sequence} of the stream ${config.stream} cannot be read: ` +
        `${refusal.message}; it stays in the stream and is delivered again in ${wait / 1000} s. Check \`format\` ` +
        `(${config.format}), or configure a dead letter (unreadable deliveries so far: ${this.#unread})`,
    );
  }

  #reportTerm({ sequence, deliveries }: NatsMessage): void {
    const { logger, pipeline, config } = this.#ctx;
    logger.error(
      `${pipeline}: collector ${config.name}: events of message ${sequence} of the stream ${config.stream} failed in ` +
        `${deliveries} deliveries; it is not delivered again`,
    );
  }
}
