import { THREE_RULES } from './log-generator.ts';
import { THIRTY_RULES } from './thirty-rules.ts';

const raw = String.raw;

const SYLLABLES = [
  'ac',
  'bel',
  'cor',
  'dru',
  'fen',
  'gal',
  'hox',
  'jun',
  'kel',
  'lum',
  'mir',
  'nov',
  'pax',
  'quo',
];
const CLASSES = ['[0-9A-Za-z]', '[0-9a-f]', '[A-Z2-7]', '[0-9A-Za-z_-]'];

/** A made-up provider: each number has another name. */
function nameOf(number: number): string {
  const { length } = SYLLABLES;
  return [number, Math.floor(number / length), number * 5 + 3].map((at) => SYLLABLES[at % length]).join('');
}

/** The shapes that most rules of scanners for secrets have: a prefix of its own, or a name, a separator and a value. */
const SHAPES: readonly ((name: string, characters: string, length: number) => string)[] = [
  (name, characters, length) => raw`\b${name}_${characters}{${length}}\b`,
  (name, characters, length) =>
    raw`(?i)[\w.-]{0,50}?(?:${name})(?:[ \t\w.-]{0,20})[\s'"]{0,3}(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)[\s'"=]{0,5}${characters}{${length}}(?:[\s'";]|$)`,
  (name, characters, length) =>
    raw`\b(?:${name}|${name.slice(0, 4)})-(?:live|test)-${characters}{${length},64}`,
  (name, characters, length) => raw`(?<=\b${name}[_-]token[=:] ?)${characters}{${length}}`,
];

/** The three rules of the main job, the thirty of a company, and as many more as it takes, written for this. */
export function rulesOfSize(size: number): Readonly<Record<string, string>> {
  if (size <= 3) return THREE_RULES;
  const rules: Record<string, string> = { ...THIRTY_RULES };
  for (let number = 0; Object.keys(rules).length < size; number++) {
    const shape = SHAPES[number % SHAPES.length];
    const characters = CLASSES[(number >> 2) % CLASSES.length];
    if (shape === undefined || characters === undefined) continue;
    rules[`GENERATED_${number}`] = shape(nameOf(number), characters, 20 + (number % 5) * 4);
  }
  return rules;
}

/** A rule as scanners publish them, with the bounded repetition in front that many have. */
export const PUBLISHED_RULE = SHAPES[1]?.('fenlumcor', '[0-9a-f]', 32) ?? '';
