/**
 * The longest line, in bytes, that collectors pass by default. Masks and parsers take lines up to this length: V8 fails on a
 * longer match of an expression.
 */
export const MAX_LINE_BYTES = 4 * 1024 * 1024;
