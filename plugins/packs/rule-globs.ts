/**
 * An expression for the rule ids that a pattern names: `*` stands for any characters.
 *
 * @example
 * globToExpression('pii/*').test('pii/payment:card'); // true
 */
export function globToExpression(pattern: string): RegExp {
  const parts = pattern.split('*').map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`);
}
