import type { CollectorState, StateValue } from '../sdk/context.ts';
import { PluginError } from '../sdk/errors.ts';
import type { StateChange, StateEntry } from './journal.ts';

type Values = Map<string, StateValue>;

export interface Commits {
  readonly isPending: boolean;
  changed(change: StateChange): void;
  commit(): void;
}

/** All entries in memory, by pipeline and collector. Tells of every change. */
export class StateTable {
  readonly #scopes = new Map<string, { pipeline: string; collector: string; values: Values }>();
  readonly #commits: Commits;

  constructor(entries: readonly StateEntry[], commits: Commits) {
    this.#commits = commits;
    for (const { pipeline, collector, key, value } of entries) {
      this.#valuesOf(pipeline, collector).set(key, value);
    }
  }

  of(pipeline: string, collector: string): CollectorState {
    const values = this.#valuesOf(pipeline, collector);
    const commits = this.#commits;
    return {
      get isPending() {
        return commits.isPending;
      },
      commit: () => commits.commit(),
      get: (key) => values.get(key),
      entries: () => values.entries(),
      set: (key, value) => {
        checkValue(value, `collector ${collector} of pipeline ${pipeline}`);
        values.set(key, value);
        commits.changed({ pipeline, collector, key, value });
      },
      delete: (key) => {
        if (values.delete(key)) commits.changed({ pipeline, collector, key });
      },
    };
  }

  entries(): StateEntry[] {
    return [...this.#scopes.values()].flatMap(({ pipeline, collector, values }) =>
      Array.from(values, ([key, value]) => ({ pipeline, collector, key, value })),
    );
  }

  forget(which: Partial<Pick<StateEntry, 'pipeline' | 'collector' | 'key'>>): number {
    const wanted = Object.entries(which) as ['pipeline' | 'collector' | 'key', string][];
    const found = this.entries().filter((entry) => wanted.every(([field, value]) => entry[field] === value));
    for (const { pipeline, collector, key } of found) this.of(pipeline, collector).delete(key);
    return found.length;
  }

  #valuesOf(pipeline: string, collector: string): Values {
    const name = JSON.stringify([pipeline, collector]);
    let scope = this.#scopes.get(name);
    if (scope === undefined) {
      scope = { pipeline, collector, values: new Map() };
      this.#scopes.set(name, scope);
    }
    return scope.values;
  }
}

/** One value that JSON cannot hold would keep those of all collectors from being written. */
function checkValue(value: unknown, owner: string): void {
  let json: string | undefined;
  try {
    json = JSON.stringify(value);
  } catch {
    // As for a value without a JSON form.
  }
  if (json !== undefined) return;
  throw new PluginError(`${owner} set a value in ctx.state that JSON cannot hold; expected a JSON value`);
}
