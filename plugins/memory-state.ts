import type { CollectorState, StateValue } from '../src/sdk/index.ts';

/** What a collector remembers without a state folder: for as long as its cache lives. */
export class MemoryState extends Map<string, StateValue> implements CollectorState {
  readonly isPending = false;

  commit(): void {}
}
