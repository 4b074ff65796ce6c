import type { CollectorState } from '../sdk/context.ts';
import type { StateStore } from './state-store.ts';
import { StateTable } from './state-table.ts';

/** State that lasts as long as the process, with the checks of a durable one. */
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

/** The same for one plugin entry. `owner` is named in errors. */
export function memoryState(pipeline: string, owner: string): CollectorState {
  return memoryStore().of(pipeline, owner);
}
