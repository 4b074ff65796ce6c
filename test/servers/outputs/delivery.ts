import fs from 'node:fs';
import { byForm } from '../../faults/support/form.ts';
import type { Verdict } from '../../faults/support/oracle.ts';
import { MASK, Trial } from '../../faults/support/trial.ts';
import type { Restartable } from '../support/restartable.ts';
import { type Connector, RIGHT_TOKEN, type Target } from './connector.ts';

/** Lines of a scenario. */
export const LINES = byForm({ short: 5000, long: 50_000 });
/** Events in a request. */
export const BATCH = 250;
export const IN_FLIGHT = 1000;

export interface DeliveryOptions {
  /** Where the forwarder connects to. */
  readonly at: string;
  /** More fields of the forwarder, as in `timeout: 2`. */
  readonly fields?: string;
  /** More settings of the pipeline. */
  readonly pipeline?: string;
  /** Default: {@link LINES}. */
  readonly lines?: number;
}

/** Lines that are on their way from a file by way of the built command line to a server, and the oracle over them. */
export class Delivery {
  readonly trial: Trial;
  readonly #target: Target;
  readonly #title: string;

  private constructor(trial: Trial, target: Target, title: string) {
    this.trial = trial;
    this.#target = target;
    this.#title = title;
  }

  static async prepare<S extends Restartable>(
    connector: Connector<S>,
    server: S,
    title: string,
    { at, fields = 'timeout: 30', pipeline = '', lines = LINES }: DeliveryOptions,
  ): Promise<Delivery> {
    const target = await connector.target(server, `test${next++}`);
    const trial = new Trial(`
collectors:
  log: { plugin: file, paths: ['in/*.log'], backfill: true }
processors:
  ${MASK}
forwarders:
  out: { ${target.forwarder(at)}, batch: { events: ${BATCH}, seconds: 0 }, ${fields} }
  dead: { plugin: disk, path: dead, filename: dead.jsonl }
pipelines:
  main: { collect: log, process: mask, forward: out, max_in_flight: ${IN_FLIGHT}, delivery: { dead_letter: dead }, ${pipeline} }
host_config: {}
`);
    trial.write('token', connector.token ?? RIGHT_TOKEN);
    trial.appendLines('in/a.log', lines);
    return new Delivery(trial, target, `${connector.name}: ${title}`);
  }

  /** The numbers of the lines in the dead letter, in their order. */
  get dead(): readonly number[] {
    return [...this.trial.oracle.found([this.trial.path('dead')]).keys()].sort((a, b) => a - b);
  }

  /** Appends a line with a text in its middle, and returns its number. */
  appendWith(text: string): number {
    const { oracle } = this.trial;
    const id = oracle.written;
    this.trial.append('in/a.log', `${oracle.line(text)}\n`);
    return id;
  }

  /** Appends a line of a length, and returns its number. */
  appendLong(length: number): number {
    return this.appendWith('x'.repeat(length));
  }

  /** The oracle's, over what the server has and what is in the dead letter. */
  async verdict(): Promise<Omit<Verdict, 'seed'>> {
    const documents = await this.#target.documents();
    fs.mkdirSync(this.trial.path('out'), { recursive: true });
    this.trial.write('out/out.jsonl', documents.map((document) => `${document}\n`).join(''));
    const outputs = [this.trial.path('out'), this.trial.path('dead')];
    const { seed, ...verdict } = this.trial.verdict({ outputs });
    const { lost, doubled, leaks } = verdict;
    process.stderr.write(
      `${this.#title}: ${this.trial.oracle.written} lines, ${lost} lost, ${doubled} repeated, ${leaks.length} leaked\n`,
    );
    return verdict;
  }
}

let next = 0;
