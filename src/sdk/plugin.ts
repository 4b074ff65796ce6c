// All about plugins that millrace itself uses: the contract, the types of its members, and what is done with results.

export * from './check-contract.ts';
export type * from './collector-testing.ts';
export type * from './config-check.ts';
export type * from './contract.ts';
export type * from './exact-output.ts';
export type * from './forward-call.ts';
export type * from './line-joining.ts';
export type * from './line-mapping.ts';
export { oncePerContext } from './once-per-context.ts';
export type { RowMapping, RowOutcomes } from './parsed-events.ts';
export * from './plugin-results.ts';
export * from './traits.ts';
