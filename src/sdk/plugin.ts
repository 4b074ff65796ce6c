// What a plugin is, for the code that loads and runs plugins: the contract with all of its parts, how an export is checked
// against it, and how results are read. For those who write plugins, there is `index.ts`.

export * from './check-contract.ts';
export type * from './collector-testing.ts';
export type * from './config-check.ts';
export type * from './contract.ts';
export type * from './exact-output.ts';
export type * from './forward-call.ts';
export type * from './line-joining.ts';
export type * from './line-mapping.ts';
export type { RowMapping, RowOutcomes } from './parsed-events.ts';
export * from './plugin-results.ts';
export * from './traits.ts';
