import { describe, expect, it, jest } from '@jest/globals';
import { InFlightWindow } from '../../operators/in-flight-window.ts';
import { CommittedDemand } from '../../plugins/committed-demand.ts';
import { MemoryState } from '../../plugins/memory-state.ts';

function demandOf(size: number, canCommit = true) {
  const window = new InFlightWindow(size);
  const commit = jest.fn(() => {
    if (canCommit) state.pending = 0;
  });
  const state = { pending: 0, commit };
  const collectorState = Object.assign(new MemoryState(), { commit: state.commit });
  Object.defineProperty(collectorState, 'isPending', { get: () => state.pending > 0 });
  const demand = new CommittedDemand(window, collectorState);
  const settle = (events: number) => {
    state.pending += events;
    demand.settled(events);
  };
  return { window, state, demand, settle };
}

describe('CommittedDemand', () => {
  it('takes what is settled and not committed for open', () => {
    const { window, state, demand, settle } = demandOf(100);
    window.take(20);
    settle(10);
    expect(demand.room).toBe(70);
    state.pending = 0;
    expect(demand.room).toBe(80);
    expect(state.commit).not.toHaveBeenCalled();
  });

  it('commits when that leaves little room', () => {
    const { state, demand, settle } = demandOf(100);
    settle(49);
    expect(demand.room).toBe(51);
    settle(1);
    expect(demand.room).toBe(100);
    expect(state.commit).toHaveBeenCalledTimes(1);
  });

  it('goes on when nothing can be committed', () => {
    const { demand, settle } = demandOf(1, false);
    for (let turn = 0; turn < 5; turn++) {
      settle(1);
      expect(demand.room).toBe(1);
    }
  });
});
