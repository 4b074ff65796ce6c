import { type AST, RegExpParser, visitRegExpAST } from '@eslint-community/regexpp';

/** A changed copy of a text, and what was changed, in words. */
interface ChangedText {
  readonly text: string;
  readonly what: string;
}

/** One piece of a text, and what stands there instead. */
interface Edit {
  readonly start: number;
  readonly end: number;
  readonly by: string;
  /** Default: from which text to which. */
  readonly what?: string;
}

/**
 * Weaker copies of a regular expression: each has lost a flag, an anchor, a look-around or an alternative, or repeats
 * something once more or less often. None for syntax that the parser does not know.
 *
 * @example
 * changedExpressions('^a{2,}').map(({ text, what }) => `${text} ${what}`);
 * // ['a{2,} `^` removed', '^a{3,} `a{2,}` is `a{3,}`']
 */
export function changedExpressions(source: string): ChangedText[] {
  const [flags = ''] = /^(?:\(\?[A-Za-z]+\))*/.exec(source) ?? [];
  const body = source.slice(flags.length);
  const pattern = parsePattern(body);
  const ofFlags = flags.match(/\(\?[A-Za-z]+\)/g) ?? [];
  const edits: Edit[] = ofFlags.map((flag) => {
    const start = flags.indexOf(flag);
    return { start, end: start + flag.length, by: '' };
  });
  if (pattern !== undefined) {
    const offset = flags.length;
    for (const edit of patternEdits(pattern)) {
      edits.push({ ...edit, start: edit.start + offset, end: edit.end + offset });
    }
  }
  return edited(source, edits);
}

/** Spellings of Python are replaced by others that are as long. */
function parsePattern(body: string): AST.Pattern | undefined {
  const text = body.replaceAll('(?P<', '(?<_').replace(/\(\?P=(\w+)\)/g, '\\k<_$1>');
  const parser = new RegExpParser();
  for (const unicode of [false, true]) {
    try {
      return parser.parsePattern(text, 0, text.length, { unicode });
    } catch {
      // The other way, or none.
    }
  }
  return undefined;
}

function patternEdits(pattern: AST.Pattern): Edit[] {
  const edits: Edit[] = [];
  /** Negative look-arounds are exceptions: they are removed as a whole, and not looked into. */
  let exceptions = 0;
  const add = (edit: Edit | undefined) => {
    if (edit !== undefined && exceptions === 0) edits.push(edit);
  };
  const addAlternatives = (node: AST.Pattern | AST.Group | AST.CapturingGroup | AST.LookaroundAssertion) => {
    for (const edit of alternativeEdits(node.alternatives)) add(edit);
  };
  const isException = (node: AST.Assertion) => 'negate' in node && node.negate && node.kind !== 'word';
  visitRegExpAST(pattern, {
    onPatternEnter: addAlternatives,
    onGroupEnter: addAlternatives,
    onCapturingGroupEnter: addAlternatives,
    onQuantifierEnter: (node) => {
      for (const edit of quantifierEdits(node)) add(edit);
    },
    onAssertionEnter: (node) => {
      if (!keepsStartsApart(node)) add({ start: node.start, end: node.end, by: '' });
      if (isException(node)) exceptions++;
      else if ('alternatives' in node) addAlternatives(node);
    },
    onAssertionLeave: (node) => {
      if (isException(node)) exceptions--;
    },
  });
  return edits;
}

/** All but one of several alternatives. */
function alternativeEdits(alternatives: readonly AST.Alternative[]): Edit[] {
  if (alternatives.length < 2) return [];
  return alternatives.map((one, index) => {
    const [start, end] = index === 0 ? [one.start, one.end + 1] : [one.start - 1, one.end];
    return { start, end, by: '', what: `the alternative \`${one.raw}\` removed` };
  });
}

/** `x+` becomes `x`, `x*` and `x?` nothing, and both numbers of `x{2,4}` are moved inwards by one. */
function quantifierEdits({ start, end, min, max, element, greedy }: AST.Quantifier): Edit[] {
  const { raw } = element;
  const lazy = greedy ? '' : '?';
  if (min === 0) return [{ start, end, by: '' }];
  if (min === 1 && max === Number.POSITIVE_INFINITY) return [{ start, end, by: raw }];
  if (min === max) return [{ start, end, by: `${raw}{${min + 1}}${lazy}` }];
  const upper = max === Number.POSITIVE_INFINITY ? '' : String(max);
  return [
    { start, end, by: `${raw}{${min + 1},${upper}}${lazy}` },
    ...(upper === '' ? [] : [{ start, end, by: `${raw}{${min},${max - 1}}${lazy}` }]),
  ];
}

/**
 * Whether an assertion only keeps a search from starting in the midst of a repetition, as in `(?<!\w)\w+@`. It makes the
 * search quick; the first match is the same without it.
 */
function keepsStartsApart(node: AST.Assertion): boolean {
  if (node.kind !== 'lookbehind' || !node.negate || node.parent.type !== 'Alternative') return false;
  const { elements } = node.parent;
  const next = elements[elements.indexOf(node) + 1];
  if (elements[0] !== node || next?.type !== 'Quantifier' || !next.greedy || next.min > 1) return false;
  if (next.max !== Number.POSITIVE_INFINITY) return false;
  return node.alternatives.length === 1 && node.alternatives[0]?.raw === next.element.raw;
}

const OPPOSITES: Readonly<Record<string, string>> = {
  '&&': '||',
  '||': '&&',
  '==': '!=',
  '!=': '==',
  '>=': '>',
  '<=': '<',
  '>': '>=',
  '<': '<=',
};

/** Strings are found so that nothing inside them is taken for an operator. */
const TOKENS =
  /r?"(?:[^"\\]|\\.)*"|r?'(?:[^'\\]|\\.)*'|(?<number>(?<![\w.])\d+(?:\.\d+)?)|(?<operator>&&|\|\||[=!<>]=|[<>])/g;

/** A list of nothing but texts and numbers. */
const LIST = /\[\s*(?:"[^"\\]*"|'[^'\\]*'|-?\d+)(?:\s*,\s*(?:"[^"\\]*"|'[^'\\]*'|-?\d+))+\s*\]/g;

/**
 * Changed copies of a CEL expression: negated as a whole, with another operator, a number that is larger or smaller by
 * one, or without one item of a list.
 *
 * @example
 * changedConditions('data.n > 9').map(({ text }) => text);
 * // ['!(data.n > 9)', 'data.n >= 9', 'data.n > 10', 'data.n > 8']
 */
export function changedConditions(source: string): ChangedText[] {
  const edits: Edit[] = [];
  for (const { groups = {}, index, 0: token } of source.matchAll(TOKENS)) {
    const place = { start: index, end: index + token.length };
    const opposite = groups.operator === undefined ? undefined : OPPOSITES[token];
    if (opposite !== undefined) edits.push({ ...place, by: opposite });
    if (groups.number !== undefined) {
      for (const other of otherNumbers(Number(token))) edits.push({ ...place, by: String(other) });
    }
  }
  for (const list of source.matchAll(LIST)) {
    const items = [...list[0].matchAll(/"[^"\\]*"|'[^'\\]*'|-?\d+/g)];
    for (const item of items) {
      const others = items.filter((one) => one !== item).map(([text]) => text);
      const place = { start: list.index, end: list.index + list[0].length };
      edits.push({ ...place, by: `[${others.join(', ')}]`, what: `the item \`${item[0]}\` removed` });
    }
  }
  return [{ text: `!(${source})`, what: 'negated' }, ...edited(source, edits)];
}

/** The neighbours of a whole number; of another one, what is a tenth more and less. */
export function otherNumbers(value: number): number[] {
  if (Number.isInteger(value)) return [value + 1, value - 1];
  const rounded = (number: number) => Number(number.toPrecision(6));
  return [rounded(value * 1.1), rounded(value * 0.9)];
}

function edited(source: string, edits: readonly Edit[]): ChangedText[] {
  return edits.map(({ start, end, by, what }) => {
    const before = source.slice(start, end);
    const words = what ?? (by === '' ? `\`${before}\` removed` : `\`${before}\` is \`${by}\``);
    const isRepeated = source.indexOf(before) !== source.lastIndexOf(before);
    return {
      text: `${source.slice(0, start)}${by}${source.slice(end)}`,
      what: isRepeated ? `${words}, at character ${start + 1}` : words,
    };
  });
}
