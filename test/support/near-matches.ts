import { type AST, RegExpParser } from '@eslint-community/regexpp';
import fc from 'fast-check';

/** Texts that match a given expression, or nearly so: with its conditions spelt out, or left out, and with slips. */
export function nearMatches(expression: RegExp): fc.Arbitrary<string> {
  const unicode = expression.flags.includes('u');
  const tree = new RegExpParser().parsePattern(expression.source, undefined, undefined, { unicode });
  const source = tree.alternatives.map(spelled).join('|');
  return fc
    .tuple(fc.stringMatching(new RegExp(source, unicode ? 'u' : ''), { size: 'small' }), slips)
    .map(([text, slip]) => slip(text));
}

/** What stands in front of a match, or behind it, becomes a part of the text. */
function spelled(part: AST.Alternative | AST.Element): string {
  switch (part.type) {
    case 'Alternative':
      return part.elements.map(spelled).join('');
    case 'Assertion':
      return 'alternatives' in part && !part.negate ? group(part.alternatives) : '';
    case 'Backreference':
      return '';
    case 'Quantifier': {
      const item = spelled(part.element);
      return item === '' ? '' : item + part.raw.slice(part.element.raw.length);
    }
    default:
      return 'alternatives' in part ? group(part.alternatives) : part.raw;
  }
}

const group = (alternatives: readonly AST.Alternative[]): string =>
  `(?:${alternatives.map(spelled).join('|')})`;

const slips: fc.Arbitrary<(text: string) => string> = fc.oneof(
  { weight: 4, arbitrary: fc.constant((text: string) => text) },
  fc.constant((text: string) => text.toUpperCase()),
  fc.constant((text: string) => text.toLowerCase()),
  fc.nat(100).map((at) => (text: string) => text.slice(at % (text.length + 1))),
  fc.nat(100).map((at) => (text: string) => text.slice(0, at % (text.length + 1))),
  fc
    .tuple(fc.nat(100), fc.constantFrom('', '0', ' ', '@', 'é', '\ud83d', '\u212a'))
    .map(([nat, put]) => (text: string) => {
      const at = nat % (text.length + 1);
      return text.slice(0, at) + put + text.slice(at + 1);
    }),
);
