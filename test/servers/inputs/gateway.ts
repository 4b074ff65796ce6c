import { expect } from '@jest/globals';
import { FLAWLESS, kill, MASK, Trial } from '../../faults/support/trial.ts';
import type { CliProcess } from '../../support/cli.ts';
import { type HttpSink, httpSink, status } from '../../support/http-sink.ts';

/** `max_in_flight` of the pipeline. */
export const IN_FLIGHT = 1000;

/** What may happen to lines. Default: each arrives once. */
export interface Allowed {
  /** Lines that may come again. */
  readonly repeats?: number;
  readonly lost?: number;
}

/** A pipeline from a collector by a mask and a buffer on disk to a sink, which keeps what it gets where the oracle looks. */
export class Gateway {
  readonly trial: Trial;
  readonly #sink: HttpSink;
  readonly #name: string;
  readonly #ready: RegExp;

  private constructor(name: string, trial: Trial, sink: HttpSink, ready: RegExp) {
    this.#name = name;
    this.trial = trial;
    this.#sink = sink;
    this.#ready = ready;
    this.take();
  }

  /** @param collector its entry in `collectors`, without braces. @param ready what the log says when it receives. */
  static async prepare(name: string, collector: string, ready: RegExp): Promise<Gateway> {
    const sink = await httpSink();
    const trial = new Trial(`
collectors:
  in: { ${collector} }
processors:
  ${MASK}
forwarders:
  out: { plugin: http, url: '${sink.url}' }
  dead: { plugin: disk, path: dead, filename: dead.jsonl }
pipelines:
  main:
    collect: in
    process: mask
    forward: out
    max_in_flight: ${IN_FLIGHT}
    buffer: { type: disk, path: buffer, max_bytes: 1GiB }
    delivery: { dead_letter: dead }
host_config: {}
`);
    return new Gateway(name, trial, sink, ready);
  }

  async run(): Promise<CliProcess> {
    const child = await this.trial.start('run', 'p.yaml', '--state-dir', 'state');
    await child.shows('stderr', this.#ready);
    return child;
  }

  /** The sink takes everything, as it does at first. */
  take(): void {
    this.#sink.answer = ({ body }, response) => {
      this.trial.append('out/out.jsonl', body);
      response.end();
    };
  }

  /** The sink takes nothing, so that everything depends on the buffer. */
  refuse(): void {
    this.#sink.answer = status(503);
  }

  /** Waits until every line has arrived that may not be lost, ends the process, and expects what is allowed. */
  async expectAll(title: string, child: CliProcess, allowed: Allowed = {}): Promise<void> {
    const { trial } = this;
    await trial.allDelivered(allowed.lost);
    expect(await kill(child, 'SIGTERM')).toMatchObject({ code: 0 });
    const { seed, doubled, lost, ...verdict } = trial.verdict({
      others: [trial.path('buffer'), trial.path('state'), trial.path('dead')],
    });
    process.stderr.write(
      `${this.#name}, ${title}: ${trial.oracle.written} lines, ${lost} lost, ${doubled} repeated, ${verdict.leaks.length} leaked\n`,
    );
    expect({ ...verdict, lost: 0, doubled: 0 }).toEqual(FLAWLESS);
    expect(lost).toBeLessThanOrEqual(allowed.lost ?? 0);
    expect(doubled).toBeLessThanOrEqual(allowed.repeats ?? 0);
  }

  close(): Promise<void> {
    return this.#sink.close();
  }
}
