import type { StateStore } from '../state/state-store.ts';
import { StateTable } from '../state/state-table.ts';

/** What collectors remember for as long as this process lives: a pipeline that a reload restarts goes on with it. */
export function memoryStore(): StateStore {
  const table = new StateTable([], { isPending: false, changed: () => {}, commit: () => {} });
  return {
    folder: '',
    of: (pipeline, collector) => table.of(pipeline, collector),
    entries: () => table.entries(),
    forget: (which) => table.forget(which),
    flush: () => {},
    close: async () => {},
  };
}
