import { describe, expect, it } from '@jest/globals';
import { asyncScheduler, EMPTY, type Observable } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { Acknowledgement } from '../../src/engine/acknowledgement.ts';
import { Batches } from '../../src/engine/batches.ts';
import type { CallPlan } from '../../src/engine/call-plan.ts';
import { PipelineCounters } from '../../src/engine/counters.ts';
import { deliverGroup } from '../../src/engine/deliver-group.ts';
import { Delivery } from '../../src/engine/delivery.ts';
import { ForwarderCalls, type ForwarderFunctions } from '../../src/engine/forwarder-calls.ts';
import { Observers } from '../../src/engine/observer.ts';
import { PluginError } from '../../src/sdk/errors.ts';
import { LineEvents } from '../../src/sdk/line-events.ts';

const ENVELOPE = { timestamp: '2026-01-01T00:00:00.000Z', source: 'a', backfill: true, isTruncated: false };

/** Answers to the calls, one after the other; later calls succeed. */
type Answers = readonly (Error | 'ok')[];

/** Delivers five lines in virtual time, and returns what happened when. Waits are 1 s: the random part is at its most. */
function run(answers: Answers, form: 'events' | 'JSON' = 'events', attempts?: number, isPlanned = false) {
  const log: string[] = [];
  const ids: string[] = [];
  const note = (what: string) => void log.push(`${asyncScheduler.now()}: ${what}`);
  const left = [...answers];
  const answer = (lines: string, id: string) => {
    note(`call ${lines}`);
    ids.push(id);
    const next = left.shift();
    if (next instanceof Error) throw next;
  };
  const functions: ForwarderFunctions = {
    forward: ({ data }, id, restOf) =>
      answer(`event ${data.line}${restOf === undefined ? '' : ` of ${restOf.left}`}`, id),
    forwardBatch: (events, id) => answer(events.map(({ data }) => data.line).join(''), id),
    forwardJsonLines:
      form === 'events'
        ? undefined
        : (documents, id) =>
            answer(
              documents
                .toString()
                .match(/(?<="line":")\d/g)
                ?.join('') ?? '',
              id,
            ),
  };
  const place = { kind: 'forward', name: 'out' } as const;
  const counters = new PipelineCounters();
  const observer = new Observers([counters]);
  const plan = { commit: () => {}, ended: (id: string) => note(`ended ${id}`) } as unknown as CallPlan;
  let id = 0;
  new TestScheduler(() => {}).run(({ flush }) => {
    const delivery = new Delivery(5, (outcome) => note(`acknowledged: ${outcome}`));
    const batches = new Batches([{ rows: LineEvents.of([...'01234'], ENVELOPE), delivery }]);
    const delivered = deliverGroup(batches, {
      calls: new ForwarderCalls(functions, place, observer, counters.clock),
      acknowledgement: new Acknowledgement({
        place,
        observer,
        outcome: 'forwarded',
        onFailure: ({ data }, part) => {
          note(`gave up ${data.line}`);
          part.acknowledge(1, 'failed');
        },
      }),
      policy: {
        name: 'forwarder out',
        attempts,
        timeout: undefined,
        giveUpAfter: undefined,
        random: () => 1,
        onRetry: () => {},
        onFailing: () => {},
      },
      ordered: true,
      failsInPart: true,
      plan: isPlanned ? plan : undefined,
      nextId: () => `id ${id++}`,
    });
    (Array.isArray(delivered) ? EMPTY : (delivered as Observable<never>)).subscribe();
    flush();
  });
  return { log, ids };
}

const failing = (failedEvents: PluginError['failedEvents']) => new PluginError('no', { failedEvents });

describe('A group of events', () => {
  it('is acknowledged when its call succeeds', () => {
    expect(run([]).log).toEqual(['0: call 01234', '0: acknowledged: forwarded']);
  });

  it('is sent again under the same id until a call succeeds', () => {
    const { log, ids } = run([new PluginError('no'), new PluginError('no')]);
    expect(log.map((entry) => entry.replace(/^\d+: /, ''))).toEqual([
      'call 01234',
      'call 01234',
      'call 01234',
      'acknowledged: forwarded',
    ]);
    expect(new Set(ids).size).toBe(1);
  });

  it.each(['events', 'JSON'] as const)(
    'of %s that failed in part is sent in part, under another id',
    (form) => {
      const { log, ids } = run(
        [failing([1, 3, { index: 4, reason: 'never', permanent: true }]), failing([1])],
        form,
      );
      expect(log.map((entry) => entry.replace(/^\d+: /, ''))).toEqual([
        'call 01234',
        'gave up 4',
        'call 13',
        form === 'JSON' ? 'call 3' : 'call event 3 of 3',
        'acknowledged: failed',
      ]);
      expect(new Set(ids).size).toBe(3);
    },
  );

  it('is halved at its last attempt, which finds the event that makes it fail', () => {
    const no = new PluginError('no');
    // 01234, 012, 01, 2, 34, 3, 4: all of them fail but those without event 3.
    const { log } = run([no, 'ok', no, no], 'events', 2);
    expect(log.filter((entry) => !entry.includes('acknowledged'))).toEqual([
      '0: call 01234',
      '0: call 012',
      '0: call 34',
      '0: call event 3',
      '0: gave up 3',
      '0: call event 4',
    ]);
  });

  it.each([1, 2, 3])(
    'that is planned is never halved, because no plan knows its halves: %d attempts',
    (attempts) => {
      const no = new PluginError('no');
      const { log, ids } = run(Array(9).fill(no), 'events', attempts, true);
      expect(log.map((entry) => entry.replace(/^\d+: /, ''))).toEqual([
        // Not ended: a run after a crash makes it again.
        ...Array(attempts).fill('call 01234'),
        ...[...'01234'].map((line) => `gave up ${line}`),
        'acknowledged: failed',
      ]);
      expect(new Set(ids)).toEqual(new Set(['id 0']));
    },
  );

  it('that is planned and failed in part acknowledges what was delivered when its attempts are over', () => {
    const { log } = run([failing([1, 3]), new PluginError('no')], 'events', 2, true);
    expect(log.map((entry) => entry.replace(/^\d+: /, ''))).toEqual([
      'call 01234',
      'call 13',
      'ended id 0',
      'gave up 1',
      'gave up 3',
      'acknowledged: failed',
    ]);
  });

  it.each([1, 2])(
    'is tried without end if there is no limit on attempts, and with %d otherwise',
    (attempts) => {
      const no = Array<Error>(20).fill(new PluginError('no'));
      expect(run(no).log.filter((entry) => entry.endsWith('call 01234'))).toHaveLength(21);
      expect(run(no, 'events', attempts).log.filter((entry) => entry.includes('gave up'))).toHaveLength(5);
    },
  );
});
