import { describe, expect, it, jest } from '@jest/globals';
import { asyncScheduler, timer } from 'rxjs';
import { InFlightWindow } from '../../operators/in-flight-window.ts';
import { BatchDemand } from '../../plugins/lines/batch-demand.ts';
import { memoryState } from '../../src/state/state-store.ts';
import { marbles } from '../support/marbles.ts';

function startingDemandOf(size: number, canCommit = true) {
  const window = new InFlightWindow(size);
  const commit = jest.fn(() => {
    if (canCommit) state.pending = 0;
  });
  const state = { pending: 0, commit };
  const collectorState = { ...memoryState('test', 'test'), commit: state.commit };
  Object.defineProperty(collectorState, 'isPending', { get: () => state.pending > 0 });
  const demand = new BatchDemand(window, collectorState, 20);
  const emit = (events: number, bytes = 0) => {
    window.take(events);
    demand.emitted(events, bytes);
  };
  const acknowledge = (events: number, bytes = 0) => {
    state.pending += events;
    demand.acknowledged(events, bytes);
    window.release(events);
  };
  return { window, state, demand, emit, acknowledge };
}

/** One that has acknowledged enough to have all the room. */
function demandOf(size: number, canCommit = true) {
  const starting = startingDemandOf(size, canCommit);
  starting.emit(256);
  starting.acknowledge(256);
  starting.state.pending = 0;
  expect(starting.demand.room).toBe(size);
  return starting;
}

describe('BatchDemand', () => {
  it('takes what is acknowledged and not committed for open', () => {
    const { state, demand, emit, acknowledge } = demandOf(100);
    emit(30);
    acknowledge(10);
    expect(demand.room).toBe(70);
    state.pending = 0;
    expect(demand.room).toBe(80);
    expect(state.commit).not.toHaveBeenCalled();
  });

  it('has none while 64 MiB are in flight, however few events that are', () => {
    const { demand, emit, acknowledge } = demandOf(100);
    const half = 32 * 1024 * 1024;
    emit(1, half);
    expect(demand.room).toBe(99);
    emit(1, half);
    expect(demand.room).toBe(0);
    acknowledge(1, half);
    expect(demand.room).toBe(98);
  });

  it('commits when that leaves little room', () => {
    const { state, demand, emit, acknowledge } = demandOf(100);
    emit(50);
    acknowledge(49);
    expect([demand.room, state.commit.mock.calls.length]).toEqual([50, 0]);
    acknowledge(1);
    expect([demand.room, state.commit.mock.calls.length]).toEqual([100, 1]);
  });

  it('goes on when nothing can be committed', () => {
    const { demand, emit, acknowledge } = demandOf(1, false);
    for (let turn = 0; turn < 5; turn++) {
      emit(1);
      acknowledge(1);
      expect(demand.room).toBe(1);
    }
  });

  it('has none that is worth no batch while events are under way that will make more', () => {
    const { window, demand, emit, acknowledge } = demandOf(100);
    expect(demand.room).toBe(100);
    emit(90);
    expect(demand.room).toBe(0);
    acknowledge(9);
    expect(demand.room).toBe(0);
    acknowledge(1);
    expect(demand.room).toBe(20);
    // Whatever others have taken for good.
    window.take(19);
    expect(demand.room).toBe(0);
    acknowledge(80);
    window.take(80);
    expect(demand.room).toBe(1);
  });

  it('begins with little, and twice as much with each batch that is acknowledged', () => {
    const { state, demand, emit, acknowledge } = startingDemandOf(1000);
    emit(1);
    expect(demand.room).toBe(31);
    emit(31);
    expect(demand.room).toBe(0);
    acknowledge(32);
    for (const size of [64, 128]) {
      expect(demand.room).toBe(size);
      emit(size);
      expect(demand.room).toBe(0);
      acknowledge(size);
    }
    state.pending = 0;
    expect(demand.room).toBe(1000);
    emit(500);
    expect(demand.room).toBe(500);
  });

  it('has a part of a small window', () => {
    const { demand, emit, acknowledge } = demandOf(4);
    expect(demand.room).toBe(4);
    emit(4);
    acknowledge(1);
    expect(demand.room).toBe(1);
  });
});

describe('BatchDemand, with events that wait for more', () => {
  it('has all the room that there is when nothing was acknowledged for 100 ms', () => {
    marbles(({ flush }) => {
      const { demand, emit, acknowledge } = startingDemandOf(1000);
      const seen: string[] = [];
      demand.room$.subscribe(() => seen.push(`${asyncScheduler.now()} ${demand.room}`));
      emit(32);
      expect(demand.room).toBe(0);
      // The processor looks for room again.
      timer(60).subscribe(() => {
        acknowledge(1);
        emit(2);
        expect(demand.room).toBe(0);
      });
      timer(250).subscribe(() => acknowledge(33));
      flush();
      // What is acknowledged is not committed.
      expect(seen).toEqual(['0 32', '60 2', '200 966', '250 66']);
    });
  });

  it('does not wait when nobody listens any more', () => {
    marbles(({ flush }) => {
      const { demand, emit } = startingDemandOf(1000);
      const listening = demand.room$.subscribe();
      emit(32);
      expect(demand.room).toBe(0);
      timer(10).subscribe(() => listening.unsubscribe());
      flush();
      expect(asyncScheduler.now()).toBe(10);
    });
  });
});
