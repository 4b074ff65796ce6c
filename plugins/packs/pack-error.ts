/**
 * There is no pack of a name, or two have the same one. It is marked as an error of millrace, but browsers can load it, which have
 * no module for errors.
 */
export class PackError extends Error {
  static {
    Object.defineProperty(PackError.prototype, Symbol.for('millrace.MillraceError'), { value: true });
  }

  readonly code = 'MILLRACE_ARGUMENT';

  constructor(message: string) {
    super(message);
    this.name = 'MillraceError';
  }
}
