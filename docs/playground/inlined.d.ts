/** The bundle of `worker.ts`, which the build puts here. */
declare module 'inlined:engine' {
  const source: string;
  export default source;
}

/** Configurations of `examples/`, which the build puts here. */
declare module 'inlined:examples' {
  const examples: readonly { readonly name: string; readonly text: string }[];
  export default examples;
}
