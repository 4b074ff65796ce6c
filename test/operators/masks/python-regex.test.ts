import { describe, expect, it } from '@jest/globals';
import { compileExpression, ExpressionError } from '../../../operators/masks/python-regex.ts';

describe('compileExpression', () => {
  it.each<[string, string, string]>([
    ['abc', 'abc', 'g'],
    ['(?i)abc', 'abc', 'gi'],
    ['(?im)^a$', '^a$', 'gim'],
    ['(?s)(?i).', '.', 'gsi'],
    ['(?ii)a', 'a', 'gi'],
    ['(?a)\\w', '\\w', 'g'],
    ['(?u)\\w', '\\w', 'g'],
    ['(?P<n>a)(?P=n)', '(?<n>a)\\k<n>', 'g'],
    ['(?<n>a)\\k<n>', '(?<n>a)\\k<n>', 'g'],
    ['a(?#a (note)*', 'a*', 'g'],
    ['(?#whole)', '(?:)', 'g'],
    ['\\Aa\\Z', '(?<![\\s\\S])a(?![\\s\\S])', 'g'],
    ['\\\\A', '\\\\A', 'g'],
    ['[(?#x)]', '[(?#x)]', 'g'],
    ['[\\]()?P<n>]', '[\\]()?P<n>]', 'g'],
    ['\\(?P<n>', '\\(?P<n>', 'g'],
    ['(?=a)(?!b)(?<=c)(?<!d)(?:e)', '(?=a)(?!b)(?<=c)(?<!d)(?:e)', 'g'],
    ['\\p{L}+', '\\p{L}+', 'gu'],
    ['\\u{1F600}', '\\u{1F600}', 'gu'],
    ['\\U0001F600', '\\u{0001F600}', 'gu'],
    ['😀+', '😀+', 'gu'],
    ['\\u00e9\\x41\\cA', '\\u00e9\\x41\\cA', 'g'],
    ['\\p{L}\\-\\@\\ \\#[\\-\\@]', '\\p{L}-@ #[\\-@]', 'gu'],
    ['\\p{L}{"a"}]', '\\p{L}\\{"a"\\}\\]', 'gu'],
    ['a{2}b{2,}c{2,3}d{,3}e{,}f{}', 'a{2}b{2,}c{2,3}d{0,3}e{0,}f\\{\\}', 'g'],
    ['(a)\\1+', '(a)(?:\\1)+', 'g'],
    ['(a)\\1(?#b)0', '(a)(?:\\1)0', 'g'],
    ['\\0\\012\\101\\08', '\\x00\\x0a\\x41\\x008', 'g'],
    ['\\a[\\a\\b]', '\\x07[\\x07\\b]', 'g'],
    ['[a[b]', '[a\\[b]', 'g'],
    ['a/b\\/c', 'a\\/b\\/c', 'g'],
    ['', '(?:)', 'g'],
  ])('%p', (python, source, flags) => {
    const expression = compileExpression(python);
    expect(expression.source).toBe(source);
    expect([...expression.flags].sort().join('')).toBe([...flags].sort().join(''));
  });

  it('anchors \\A and \\Z at the text, also with (?m)', () => {
    expect('a\na'.replace(compileExpression('(?m)\\Aa'), 'x')).toBe('x\na');
    expect('a\na\n'.replace(compileExpression('(?m)a\\Z'), 'x')).toBe('a\na\n');
  });

  it('matches letters with \\p{L}', () => {
    expect('né1'.replace(compileExpression('\\p{L}+'), 'x')).toBe('x1');
  });

  it.each<[string, string]>([
    ['(', 'Unterminated group'],
    ['a)', 'Unmatched'],
    ['[a', 'Unterminated character class'],
    ['[z-a]', 'out of order'],
    ['*a', 'Nothing to repeat'],
    ['a++', 'possessive quantifiers, as in a++ and a*+, are not supported; take the second + away'],
    ['a\\', '\\ at the end'],
    ['(?x) a b', 'the flag (?x) is not supported'],
    ['(?L)a', 'the flag (?L)'],
    ['a(?i)b', 'belong at the very start'],
    ['(?>a)', 'atomic groups'],
    ['(?(1)a|b)', 'conditional groups'],
    ['(?P>n)', 'Invalid group'],
    ['(?P<n>a)(?P<n>b)', 'Duplicate capture group name'],
    ['(?P=n)', 'no group named n'],
    ['\\k<n>', 'no group named n'],
    ['(a)\\2', '\\2 refers to a group that is not there'],
    ['[\\1]', 'holds no references'],
    ['[]a]', 'means different things'],
    ['[^]a]', 'means different things'],
    ['[[:alpha:]]', 'POSIX classes'],
    ['\\h', 'the escape \\h is not known'],
    ['\\Qa\\E', 'the escape \\Q'],
    ['[\\A]', 'the escape \\A is not known inside'],
    ['[\\k<n>]', 'the escape \\k is not known inside'],
    ['\\p', 'the escape \\p'],
    ['\\pL+', 'the escape \\p is not known; a property stands in braces, as in \\p{L}'],
    ['[\\PL]', 'the escape \\P is not known inside […]; a property stands in braces, as in \\P{L}'],
    ['a{2}+', 'possessive quantifiers'],
    ['*+', 'Nothing to repeat'],
    ['\\p{Nope}', 'Invalid property name'],
    ['\\x4', 'the escape \\x'],
    ['\\u12', 'the escape \\u'],
    ['\\UFFFFFFFF', 'Invalid Unicode escape'],
    ['\\N{DIGIT ONE}', 'the escape \\N'],
  ])('refuses %p', (source, reason) => {
    const attempt = () => compileExpression(source, 'RULE');
    expect(attempt).toThrow(ExpressionError);
    expect(attempt).toThrow('rule "RULE"');
    expect(attempt).toThrow(reason);
  });

  it('takes scoped flags where V8 knows them, and says so where it does not', () => {
    const scoped = '(?i:a)';
    let known = true;
    try {
      new RegExp(scoped);
    } catch {
      known = false;
    }
    if (known) expect('A'.replace(compileExpression(scoped), 'x')).toBe('x');
    else expect(() => compileExpression(scoped)).toThrow('put (?i) at the very start');
  });
});
