import { describe, expect, it } from '@jest/globals';
import { EMPTY, Observable, Subject, throwError } from 'rxjs';
import { CallPump } from '../../src/engine/call-pump.ts';

/** A pump whose calls are numbers. */
function setUp(send: (call: number) => readonly never[] | Observable<never>, concurrency = 2) {
  const waiting: number[] = [];
  const made: number[] = [];
  const ended: string[] = [];
  let callsEnded = 0;
  let pump: CallPump<number> | undefined;
  const result$ = new Observable<never>((subscriber) => {
    pump = new CallPump(subscriber, {
      concurrency,
      next: () => waiting.shift(),
      send: (call) => {
        made.push(call);
        return send(call);
      },
      isEmpty: () => waiting.length === 0,
      onEnded: () => callsEnded++,
    });
  });
  const subscription = result$.subscribe({
    error: (error) => ended.push(`error ${error}`),
    complete: () => ended.push('complete'),
  });
  const add = (...calls: readonly number[]) => {
    waiting.push(...calls);
    pump?.run();
  };
  return {
    pump: pump as unknown as CallPump<number>,
    add,
    made,
    ended,
    subscription,
    callsEnded: () => callsEnded,
  };
}

describe('CallPump', () => {
  it('makes no more calls at a time than it may, and the next one when one has ended', () => {
    const calls = [new Subject<never>(), new Subject<never>(), new Subject<never>()];
    const { pump, add, made, ended, callsEnded } = setUp((call) => calls[call] as Subject<never>);
    add(0, 1, 2);
    expect(made).toEqual([0, 1]);
    expect(pump.isBusy).toBe(true);
    calls[1]?.complete();
    expect(made).toEqual([0, 1, 2]);
    expect(callsEnded()).toBe(1);
    pump.end();
    calls[0]?.complete();
    expect(ended).toEqual([]);
    calls[2]?.complete();
    expect(ended).toEqual(['complete']);
    expect(pump.isBusy).toBe(false);
  });

  it.each([
    ['at once', () => [] as const],
    ['at once, by an Observable', () => EMPTY],
  ])('does not nest calls that end %s, however many there are', (_, send) => {
    const { pump, add, made, ended } = setUp(send);
    add(...Array.from({ length: 20_000 }, (_, call) => call));
    expect(made).toHaveLength(20_000);
    pump.end();
    expect(ended).toEqual(['complete']);
  });

  it.each([
    [
      'throws',
      () => {
        throw 'no';
      },
    ],
    ['fails', () => throwError(() => 'no')],
  ])('makes no call after one that %s', (_, send) => {
    const { pump, add, made, ended } = setUp(send);
    add(0, 1);
    pump.end();
    expect(made).toEqual([0]);
    expect(ended).toEqual(['error no']);
  });

  it('makes no call after it was unsubscribed from', () => {
    const call$ = new Subject<never>();
    const { add, made, subscription } = setUp(() => call$, 1);
    add(0, 1);
    subscription.unsubscribe();
    expect(call$.observed).toBe(false);
    add(2);
    expect(made).toEqual([0]);
  });
});
