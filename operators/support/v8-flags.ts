/** Sets flags of V8, which apply to the whole process: so the program decides whether millrace may. */
export interface V8Flags {
  /** Runs work while a flag is set. */
  readonly withFlag: <T>(flag: string, work: () => T) => T;
  /** The URL of a module that exports the two: workers load it. */
  readonly url: string;
}

let allowed: V8Flags | undefined;

/** Lets plugins have flags set while they compile an expression. Only the command line calls this, and its workers. */
export function allowV8Flags(flags: V8Flags | undefined): void {
  allowed = flags;
}

/** Undefined in a program that embeds millrace, and where a flag cannot be set for a moment only. */
export function allowedV8Flags(): V8Flags | undefined {
  return allowed;
}
