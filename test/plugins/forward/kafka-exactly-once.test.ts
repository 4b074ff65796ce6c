import { describe, expect, it } from '@jest/globals';
import { from, lastValueFrom } from 'rxjs';
import { kafkaForwarder } from '../../../plugins/forward/kafka.ts';
import { KafkaError } from '../../../plugins/kafka/client.ts';
import type { PipelineRunContext } from '../../../src/sdk/context.ts';
import type { PluginError } from '../../../src/sdk/errors.ts';
import { type CollectedEvent, collectedEvent } from '../../../src/sdk/events.ts';
import type { PartlyFailedCall } from '../../../src/sdk/forward-call.ts';
import { memoryState } from '../../../src/state/state-store.ts';
import { testContext } from '../../support/context.ts';
import { eventually } from '../../support/eventually.ts';
import { FakeKafka } from '../../support/fake-kafka.ts';

const AT = '2026-01-01T00:00:00.000Z';
const numbered = (from: number, to: number, more: (n: number) => object = () => ({})) =>
  Array.from({ length: to - from }, (_, i) => collectedEvent({ n: from + i, ...more(from + i) }, AT));
const numbers = ({ stored }: FakeKafka) => stored.map(({ text }) => Number(/"n":(\d+)/.exec(text)?.[1]));

/** The forwarder `out` of a pipeline with `exactly_once`, for one life of a process after the other. */
function trial(fields: object = {}) {
  const kafka = new FakeKafka();
  kafka.partitions = 1;
  const state = memoryState('main', 'out');
  const warnings: string[] = [];
  const forwarder = (entry = 'out', own = state) => {
    const plugin = kafkaForwarder(kafka.open, kafka.openTransactional);
    const config = plugin
      .get_config_schema()
      .safeParse({ plugin: 'kafka', brokers: 'b', topic: 'logs', ...fields });
    const run = new AbortController();
    const ctx = testContext(
      { ...(config as { data: { plugin: string } }).data, name: entry },
      {
        ended: run.signal,
        state: own,
        pipeline: 'main',
        logger: {
          ...testContext({ plugin: 'kafka' }).logger,
          warn: (message) => void warnings.push(message),
        },
        pipeline_config: { pipelines: { main: { exactly_once: true, forward: ['out'] } } } as never,
      },
    ) as PipelineRunContext<never>;
    const send = (events: readonly CollectedEvent[], id: string, restOf?: PartlyFailedCall): Promise<void> =>
      lastValueFrom(from(plugin.forwardBatch?.({ ctx, events, id, restOf }) as never), {
        defaultValue: undefined,
      });
    const failure = (...args: Parameters<typeof send>) =>
      send(...args).then(
        () => Promise.reject(new Error('it did not fail')),
        (error: PluginError) => error,
      );
    return { plugin, ctx, send, failure, end: () => run.abort() };
  };
  return { kafka, state, warnings, forwarder };
}

const noAnswer = () => new KafkaError('no answer in time');

describe('a call of a pipeline with `exactly_once`', () => {
  it('is a transaction, under an id that a state folder keeps', async () => {
    const { kafka, state, forwarder } = trial();
    await forwarder().send(numbered(0, 3), 'a');
    await forwarder().send(numbered(3, 5), 'b');
    expect(numbers(kafka)).toEqual([0, 1, 2, 3, 4]);
    const [id = ''] = kafka.transactions.keys();
    expect(kafka.transactions.size).toBe(1);
    expect(id).toMatch(/^millrace-main-out-[\da-f-]{36}$/);
    expect(state.get('transactional_id')).toBe(id);
    await forwarder('out', memoryState('main', 'out')).send([], 'c');
    expect(kafka.transactions.size).toBe(2);
  });

  it('is stored once if the answer to its commit is lost', async () => {
    const { kafka, forwarder } = trial();
    const { send, failure } = forwarder();
    kafka.onCommit = (commit) => {
      commit();
      throw noAnswer();
    };
    await failure(numbered(0, 3), 'a');
    kafka.onCommit = (commit) => commit();
    await send(numbered(0, 3), 'a');
    await send(numbered(3, 4), 'b');
    expect(numbers(kafka)).toEqual([0, 1, 2, 3]);
  });

  it.each(['write', 'commit'])('is stored once if it fails at its %s', async (step) => {
    const { kafka, forwarder } = trial();
    const { send, failure } = forwarder();
    if (step === 'write') {
      kafka.onWrite = (_batch, store) => {
        store();
        throw noAnswer();
      };
    } else {
      kafka.onCommit = () => {
        throw noAnswer();
      };
    }
    for (let n = 0; n < 3; n++) await failure(numbered(0, 3), 'a');
    expect(kafka.closedProducers).toBe(3);
    kafka.onWrite = (_batch, store) => store();
    kafka.onCommit = (commit) => commit();
    await send(numbered(0, 3), 'a');
    expect(numbers(kafka)).toEqual([0, 1, 2]);
  });

  it('is not stored again by the next process, whatever it was before its crash', async () => {
    const { kafka, forwarder } = trial();
    await forwarder().send(numbered(0, 3), 'a');
    await forwarder().send(numbered(3, 6), 'b');
    await forwarder().send(numbered(3, 6), 'b');
    await forwarder().send(numbered(6, 9), 'c');
    expect(numbers(kafka)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
  });

  it('that failed in part says so again to the next process, which stores what is left', async () => {
    const { kafka, forwarder } = trial({ topic: { cel: 'data.app' } });
    const events = numbered(0, 6, (n) => ({ app: n === 1 ? 'not a topic' : n === 4 ? 'later' : 'web' }));
    kafka.topics = ['web'];
    const failed = [
      expect.objectContaining({ index: 1, permanent: true }),
      expect.objectContaining({ index: 4 }),
    ];
    expect((await forwarder().failure(events, 'a')).failedEvents).toEqual(failed);
    expect((await forwarder().failure(events, 'a')).failedEvents).toEqual(failed);
    kafka.topics = ['web', 'later'];
    // The engine sends the rest of the call.
    const rest = { id: 'a', events, left: [4] };
    await forwarder().send(events.slice(4, 5), 'a-rest', rest);
    expect(numbers(kafka)).toEqual([0, 2, 3, 5, 4]);
    // The process was killed before it could note that.
    expect((await forwarder().failure(events, 'a')).failedEvents).toEqual(failed.slice(0, 1));
    expect(numbers(kafka)).toEqual([0, 2, 3, 5, 4]);
  });

  it('may come again without its first events, which are acknowledged', async () => {
    const { kafka, forwarder } = trial({ topic: { cel: 'data.app' } });
    kafka.topics = ['web'];
    const events = numbered(0, 6, (n) => ({ app: n === 4 ? 'later' : 'web' }));
    await forwarder().failure(events, 'a');
    kafka.topics = ['web', 'later'];
    await forwarder().send(events.slice(2), 'a');
    expect(numbers(kafka)).toEqual([0, 1, 2, 3, 5, 4]);
  });

  it('gives up only the record that the broker refuses, and is a transaction still', async () => {
    const { kafka, forwarder } = trial();
    kafka.maxBytes = 300;
    const events = numbered(0, 8, (n) => (n === 3 ? { text: 'x'.repeat(400) } : {}));
    const { failedEvents, permanent } = await forwarder().failure(events, 'a');
    expect([permanent, failedEvents]).toEqual([
      true,
      [expect.objectContaining({ index: 3, permanent: true })],
    ]);
    await forwarder().failure(events, 'a');
    expect(numbers(kafka)).toEqual([0, 1, 2, 4, 5, 6, 7]);
  });

  it('waits for the one before, also if the engine does not', async () => {
    const { kafka, forwarder } = trial();
    const { send } = forwarder();
    await Promise.all([send(numbered(0, 2), 'a'), send(numbered(0, 2), 'a'), send(numbered(2, 4), 'b')]);
    expect(numbers(kafka)).toEqual([0, 1, 2, 3]);
    expect(kafka.producers).toBe(1);
  });

  /** A broker that is silent until `answer` is called. */
  function silent(kafka: FakeKafka) {
    let answer: () => void = () => {};
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    kafka.onCommit = async (commit) => {
      await answered;
      commit();
    };
    return answer;
  }

  it('is tried once at a time, and not at all if the engine has given it up before its turn', async () => {
    const { kafka, forwarder } = trial();
    const { plugin, ctx, send } = forwarder();
    const answer = silent(kafka);
    const attempt = (events: readonly CollectedEvent[], id: string) =>
      from(plugin.forwardBatch?.({ ctx, events, id }) as never).subscribe({ error: () => {} });
    const first = attempt(numbered(0, 2), 'a');
    await eventually(() => kafka.sent.length === 1);
    first.unsubscribe();
    for (let n = 0; n < 5; n++) attempt(numbered(0, 2), 'a').unsubscribe();
    for (let n = 0; n < 5; n++) attempt(numbered(2, 4), 'b').unsubscribe();
    const last = send(numbered(4, 6), 'c');
    answer();
    await last;
    expect(numbers(kafka)).toEqual([0, 1, 4, 5]);
    // It was in a pause only.
    await send(numbered(2, 4), 'b');
    await send(numbered(0, 2), 'a');
    expect(numbers(kafka)).toEqual([0, 1, 4, 5, 2, 3]);
    expect(kafka.sent).toHaveLength(3);
  });

  it('that the engine did not wait for is known as long as it may come again after a crash', async () => {
    const { kafka, forwarder } = trial();
    const { plugin, ctx, send } = forwarder();
    const answer = silent(kafka);
    const first = from(plugin.forwardBatch?.({ ctx, events: numbered(0, 2), id: 'a' }) as never).subscribe();
    await eventually(() => kafka.sent.length === 1);
    first.unsubscribe();
    answer();
    for (const id of ['b', 'c', 'd']) await send(numbered(2, 3), id);
    await forwarder().send(numbered(0, 2), 'a');
    expect(numbers(kafka)).toEqual([0, 1, 2, 2, 2]);
  });

  it('has the bytes that it had when it was made, however long it waits', async () => {
    const { kafka, forwarder } = trial();
    const { plugin, ctx, send } = forwarder();
    const first = send(numbered(0, 1), 'a');
    const write = plugin.forwardJsonLines?.({ ctx });
    const lines = Buffer.from(`{"timestamp":"${AT}","data":{"n":1}}\n`);
    const second = lastValueFrom(from(write?.(lines, 'b') as never), { defaultValue: undefined });
    lines.fill(0x78);
    await Promise.all([first, second]);
    expect(numbers(kafka)).toEqual([0, 1]);
  });
});

describe('another process with a copy of the state folder', () => {
  it('ends the one that goes on after it has stored events', async () => {
    const { kafka, forwarder } = trial();
    const [one, other] = [forwarder(), forwarder()];
    await one.send(numbered(0, 2), 'a');
    await other.send(numbered(2, 4), 'b');
    const errors = [await one.failure(numbered(4, 6), 'c'), await one.failure(numbered(4, 6), 'c')];
    expect(errors[0]).toMatchObject({ id: 'INVALID_PRODUCER_EPOCH', permanent: false });
    expect(errors[1]).toMatchObject({
      ...{ fatal: true, permanent: true },
      message: expect.stringMatching(/^another process stores events by the transactions of this pipeline/),
    });
    // The broker has taken that one for the new owner of the transactions for a moment.
    await other.failure(numbered(4, 6), 'd');
    await other.send(numbered(4, 6), 'd');
    expect(numbers(kafka)).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it('is warned of if its copy is old', async () => {
    const { kafka, state, warnings, forwarder } = trial();
    await forwarder().send(numbered(0, 2), 'a');
    const copy = memoryState('main', 'out');
    for (const [key, value] of state.entries()) copy.set(key, value);
    for (const id of ['b', 'c', 'd']) await forwarder().send(numbered(2, 3), id);
    expect(warnings).toEqual([]);
    await forwarder('out', copy).send(numbered(3, 4), 'e');
    expect(warnings).toEqual([
      expect.stringMatching(/^main: forwarder out: the state folder is older than what is stored/),
    ]);
    expect(kafka.transactions.size).toBe(1);
  });
});

it('stores dead letters of such a pipeline without transactions', async () => {
  const { kafka, forwarder } = trial();
  await forwarder('letters').send(numbered(0, 2), 'a');
  expect(numbers(kafka)).toEqual([0, 1]);
  expect(kafka.transactions.size).toBe(0);
});

it('goes on when the broker has forgotten its offsets, and the next process too', async () => {
  const { kafka, warnings, forwarder } = trial();
  for (const id of ['a', 'b', 'c']) await forwarder().send(numbered(0, 1), id);
  kafka.transactions.clear();
  await forwarder().send(numbered(1, 2), 'd');
  await forwarder().send(numbered(1, 2), 'd');
  expect(numbers(kafka)).toEqual([0, 0, 0, 1]);
  expect(warnings).toEqual([]);
});

it('refuses batches of which the broker could not note what is stored', () => {
  const { plugin } = trial().forwarder();
  const problems = (events: number, exactly_once: boolean) =>
    plugin.checkPipeline?.({ config: { batch: { events } }, pipeline: { exactly_once } } as never);
  expect(problems(20_001, true)).toEqual([
    { message: expect.stringMatching(/`batch.events` of at most 20000/) },
  ]);
  expect([problems(20_000, true), problems(20_001, false)]).toEqual([[], []]);
});
