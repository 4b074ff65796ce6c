import {
  compileMaskRules,
  compileRedactRules,
  KeyNames,
  nameOfRule,
} from '../../operators/internal-masks.ts';
import { createRedactor, type RedactSettings } from '../masks/redact-masking.ts';
import {
  loadPacks,
  type NamedPack,
  nameOfPack,
  type Pack,
  type PackRule,
  resolvePackRules,
  type Vocabulary,
} from '../packs/load-packs.ts';
import { fill, Random, type Sample } from './templates.ts';

/** Generated values of each template, with seeds, so that a result can be repeated. */
const MATCHES = { samples: 8, seed: 11 };
const MISSES = { samples: 20, seed: 13 };
/** Values without context are drawn again until the check of their rule accepts them. */
const MOST_DRAWS = 2_000;

/** An example that is not as it should be. Its values are generated. */
export interface FailedExample {
  /** The template or line in the pack. */
  readonly example: string;
  /** The line that was made of it. */
  readonly line: string;
  readonly expected: string;
  readonly masked: string;
}

/** What became of the examples of a rule, or of an entry of a vocabulary. */
export interface ExampleResult {
  readonly kind: 'rule' | 'name' | 'notation' | 'guard' | 'word';
  /** The id of a rule, the name of an entry. */
  readonly name: string;
  readonly passed: number;
  readonly failed: readonly FailedExample[];
}

type Mask = (text: string) => string;

/** A mask of one rule, however sure that is. */
export function maskOfRule(id: string, rule: PackRule): Mask {
  return compileMaskRules(compiledAlone(id, rule)).mask;
}

function compiledAlone(id: string, rule: PackRule) {
  return compileRedactRules(
    { [id]: rule },
    {
      confidence: 'low',
      allowedValues: [],
      allowedKeys: [],
      entropy: false,
      replace: (_value, name) => `<:${nameOfRule(name)}:>`,
    },
  );
}

/** The confidence with which `redact` applies all rules of a pack: it leaves out those of confidence `low` by default. */
export function confidenceOf(pack: NamedPack): 'medium' | 'low' {
  const { rules } = loadPacks([pack])[nameOfPack(pack)] as Pack;
  return Object.values(rules).some(({ confidence }) => confidence === 'low') ? 'low' : 'medium';
}

/** A redactor of packs as lines are masked by `redact`. */
export function redactorOf(
  packs: readonly NamedPack[],
  confidence: 'medium' | 'low' = 'medium',
  onFind?: (rule: string) => void,
) {
  const settings: RedactSettings = {
    packs,
    disable: [],
    confidence,
    entropy: false,
    allow: { values: [], keys: [] },
    decode: false,
    blocks: false,
    action: { default: 'name' },
    fields: {},
    mode: 'mask',
    rules: {},
  };
  return createRedactor(settings, {
    now: () => 0,
    onMask: () => {},
    ...(onFind && { onFind: ({ rule }) => onFind(rule) }),
  });
}

/** Tries the examples of the rules of a pack: each rule has to mask what is marked in its matches, and nothing in its misses. */
export function ruleResults(pack: NamedPack, packs: readonly NamedPack[]): ExampleResult[] {
  const prefix = `${nameOfPack(pack)}:`;
  return Object.entries(resolvePackRules(packs))
    .filter(([id]) => id.startsWith(prefix))
    .map(([id, rule]) => ruleResult(id, rule));
}

function ruleResult(id: string, rule: PackRule): ExampleResult {
  const mask = maskOfRule(id, rule);
  const [compiled] = compiledAlone(id, rule);
  const r = new Random(MATCHES.seed);
  const ofMisses = new Random(MISSES.seed);
  const result = new Results();
  /** Checksums of generated values are right by chance only. */
  const drawn = (template: string): Sample => {
    for (let draw = 0; ; draw++) {
      const sample = fill(template, r);
      const isValid = sample.spans.every(
        ([start, end]) =>
          (compiled?.accepts?.(sample.text.slice(start, end), sample.text, start) ?? true) === true,
      );
      if (isValid || draw === MOST_DRAWS) return sample;
    }
  };
  for (const example of rule.tests.matches) {
    const isMarked = example.includes('<<') && !id.startsWith('pii/');
    for (let i = 0; i < MATCHES.samples; i++) {
      const sample = isMarked ? fill(example, r) : drawn(example);
      result.expect(example, sample.text, maskedSample(sample, `<:${nameOfRule(id)}:>`), mask);
    }
  }
  for (const example of rule.tests.misses) {
    for (let i = 0; i < MISSES.samples; i++) {
      const { text } = fill(example, ofMisses);
      result.expect(example, text, text, mask);
    }
  }
  return { kind: 'rule', name: id, ...result.count() };
}

const maskedSample = ({ text, spans }: Sample, mask: string): string =>
  spans.reduceRight((rest, [start, end]) => rest.slice(0, start) + mask + rest.slice(end), text);

/** One failure for each example. */
class Results {
  #passed = 0;
  readonly #failed = new Map<string, FailedExample>();

  expect(example: string, line: string, expected: string, mask: Mask): void {
    const masked = mask(line);
    if (masked === expected) this.#passed++;
    else if (!this.#failed.has(example)) this.#failed.set(example, { example, line, expected, masked });
  }

  count() {
    return { passed: this.#passed, failed: [...this.#failed.values()] };
  }
}

/** Values that every check accepts. */
const VALUES = ['Zebr4-Lamp9kQ', 'kD83mfLQ09xZpa7Qw', 'zCq9*gh7Qa~K3'];
const MASK = '<:secret:>';
/** A mask that does not tell which rule masked a value. */
export const plainMasks: (mask: Mask) => Mask = (mask) => (text) => mask(text).replace(/<:[\w-]+:>/g, MASK);

/** Entries of a vocabulary whose examples are tried. */
export type Entries = {
  readonly [K in 'names' | 'notations' | 'guards' | 'words']?: Vocabulary[K] | undefined;
};

/** Tries the examples and near misses of entries of a vocabulary, with all packs together. */
export function entryResults(
  { names = [], notations = [], guards = [], words = [] }: Entries,
  vocabulary: Vocabulary,
  packs: readonly NamedPack[],
): ExampleResult[] {
  const redactor = redactorOf(packs);
  const mask = plainMasks((text) => redactor.maskText(text));
  const keyOf = new Map<string, string>();
  for (const { kind, keys, start } of [...names, ...vocabulary.names]) {
    if (!keyOf.has(kind) && start !== 'word') keyOf.set(kind, keys[0] as string);
  }
  return [
    ...names.map((entry): ExampleResult => {
      const result = new Results();
      const search = new KeyNames([entry], vocabulary);
      const isKey: Mask = (key) => {
        const isWhole = search.in(key).some((name) => search.endsOf(key, name).includes(key.length));
        return isWhole ? 'a name' : 'no name';
      };
      for (const key of entry.keys) result.expect(key, key, 'a name', isKey);
      for (const key of entry.not) result.expect(key, key, 'no name', isKey);
      return { kind: 'name', name: entry.name, ...result.count() };
    }),
    ...notations.map((entry): ExampleResult => {
      const result = new Results();
      for (const kind of entry.kinds ?? ['password', 'secret', 'token']) {
        const key = entry.example.includes('KEY') ? (keyOf.get(kind) ?? kind) : '';
        for (const value of entry.example.includes('VALUE') ? VALUES : ['']) {
          const filled = (text: string, by: string) => text.replaceAll('KEY', key).replace(/VALUE\b/, by);
          const line = filled(entry.example, value);
          if (value !== '') result.expect(entry.example, line, filled(entry.example, MASK), mask);
          else
            result.expect(entry.example, line, 'masked', (text) => (mask(text) === text ? text : 'masked'));
          result.expect(entry.miss, filled(entry.miss, value), filled(entry.miss, value), mask);
        }
      }
      return { kind: 'notation', name: entry.notation, ...result.count() };
    }),
    ...guards.map((entry): ExampleResult => {
      const result = new Results();
      result.expect(entry.example, entry.example, entry.example, mask);
      result.expect(entry.miss, entry.miss, 'masked', (text) => (mask(text) === text ? text : 'masked'));
      return { kind: 'guard', name: entry.guard, ...result.count() };
    }),
    ...(words.length === 0 ? [] : [wordResult(words, mask)]),
  ];
}

function wordResult(words: readonly string[], mask: Mask): ExampleResult {
  const result = new Results();
  for (const word of words) {
    for (const line of [`password=${word}`, `"token":"${word.toUpperCase()}"`])
      result.expect(word, line, line, mask);
  }
  return { kind: 'word', name: 'words', ...result.count() };
}
