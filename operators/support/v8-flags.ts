/** Sets flags of V8, which apply to the whole process: so the program decides whether millrace may. */
export interface V8Flags {
  /** Sets a flag for good. Doing so again, or in another thread, changes nothing. */
  readonly setFlag: (flag: string) => void;
  /** The URL of a module that exports the two: workers load it. */
  readonly url: string;
}

let allowed: V8Flags | undefined;

/** Lets plugins set flags for the expressions that need them. Only the command line calls this, and its workers. */
export function allowV8Flags(flags: V8Flags | undefined): void {
  allowed = flags;
}

/** Undefined in a program that embeds millrace, and from Node.js 22 on. */
export function allowedV8Flags(): V8Flags | undefined {
  return allowed;
}
