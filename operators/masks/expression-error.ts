/** A regular expression that cannot be used. Its message is about the expression, so it may be shown. */
export class ExpressionError extends Error {
  readonly code = 'MILLRACE_EXPRESSION';
  /** What is wrong with the expression, without the rule's name. */
  readonly reason: string;
  /** The rule that the expression belongs to, if it has one. */
  readonly rule: string | undefined;

  constructor(reason: string, rule?: string) {
    super(
      `${rule === undefined ? 'the expression' : `the expression of rule "${rule}"`} is not valid: ${reason}`,
    );
    this.name = 'ExpressionError';
    this.reason = reason;
    this.rule = rule;
  }

  /** This error, with the name of the rule that has the expression. */
  of(rule: string | undefined): ExpressionError {
    return new ExpressionError(this.reason, rule);
  }
}
