import { type NamedPack, nameOfPack, resolvePackRules, vocabularyOf } from '../packs/load-packs.ts';
import { ordinarySamples } from './ordinary-lines.ts';
import { blocksOf, costOfMask, costOfPacks } from './pack-costs.ts';
import {
  confidenceOf,
  type Entries,
  type ExampleResult,
  entryResults,
  maskOfRule,
  plainMasks,
  redactorOf,
  ruleResults,
} from './pack-examples.ts';

/** A line that has no secret, with what may be shown of it. */
export interface LineWithoutSecrets {
  readonly text: string;
  /** The kind of a generated line, or the place of another one. */
  readonly kind: string;
  /** What a generated line was made of. */
  readonly template?: string | undefined;
}

/** Lines of one kind that a rule altered. */
export interface AlteredKind {
  readonly kind: string;
  readonly lines: number;
  readonly template?: string | undefined;
}

/** What a rule does to ordinary lines, and takes. */
export interface RuleFigures {
  readonly rule: string;
  readonly altered: number;
  readonly kinds: readonly AlteredKind[];
  /** Of the processor, for each line. Undefined for rules of `secrets/context` that a pack adds names to. */
  readonly microseconds?: number | undefined;
}

export interface PackTestResult {
  readonly pack: string;
  /** That of the processor in the measurement: `low` if the pack has rules of this confidence. */
  readonly confidence: 'medium' | 'low';
  readonly examples: readonly ExampleResult[];
  readonly lines: number;
  /** Ordinary lines that the pack alters. */
  readonly altered: number;
  readonly rules: readonly RuleFigures[];
  /** Megabytes of ordinary lines that one second of the processor is enough for. */
  readonly speed: {
    /** With the default packs; undefined for a pack that comes with millrace. */
    readonly without?: number | undefined;
    /** With the pack as well, or with it alone. */
    readonly with: number;
  };
}

export interface PackTestOptions {
  /** The pack under test. */
  readonly pack: NamedPack;
  /** The packs that are applied beside it. */
  readonly base: readonly NamedPack[];
  /** Lines without secrets. Default: generated ones. */
  readonly ordinary?: readonly LineWithoutSecrets[] | undefined;
}

const ORDINARY_LINES = 10_000;
const SEED = 23;
/** All templates, several times. */
const MEASURED_LINES = 2_500;
/** Kinds of lines that a rule is shown with. */
const MOST_KINDS = 5;

/** Runs the examples of a pack, and then the pack over ordinary lines. */
export function testPack({
  pack,
  base,
  ordinary = ordinarySamples(ORDINARY_LINES, SEED),
}: PackTestOptions): PackTestResult {
  const packs = base.includes(pack) ? base : [...base, pack];
  const added: Entries = typeof pack === 'string' ? entriesOf(pack) : pack.additions;
  const vocabulary = vocabularyOf(typeof pack === 'string' ? [] : [pack.additions]);
  const withVocabulary = packs.includes('secrets/context') ? packs : ['secrets/context', ...packs];
  const examples = [...ruleResults(pack, packs), ...entryResults(added, vocabulary, withVocabulary)];
  const confidence = confidenceOf(pack);
  const { rules, altered } = alteredBy({ pack, base, packs, confidence }, ordinary);
  const measured = ordinary.slice(0, MEASURED_LINES);
  const blocks = blocksOf(measured.map(({ text }) => text));
  const bytes = blocks.reduce((sum, block) => sum + Buffer.byteLength(block), 0);
  const speed = (ofPacks: readonly NamedPack[]) =>
    bytes / Math.max(1, costOfPacks(ofPacks, blocks, confidence));
  return {
    ...{ pack: nameOfPack(pack), confidence, examples, lines: ordinary.length, altered },
    rules: withCosts(rules, pack, packs, blocks, measured.length),
    speed: typeof pack === 'string' ? { with: speed([pack]) } : { without: speed(base), with: speed(packs) },
  };
}

const entriesOf = (pack: string): Entries => (pack === 'secrets/context' ? vocabularyOf([]) : {});

/** Lines that the pack alters, by the rule. What the other packs alter without it does not count. */
function alteredBy(
  {
    pack,
    base,
    packs,
    confidence,
  }: Pick<PackTestOptions, 'pack' | 'base'> &
    Pick<PackTestResult, 'confidence'> & { packs: readonly NamedPack[] },
  lines: readonly LineWithoutSecrets[],
) {
  const prefix = `${nameOfPack(pack)}:`;
  let found: string[] = [];
  const all = redactorOf(packs, confidence, (rule) => found.push(rule));
  const others = base.includes(pack) ? undefined : redactorOf(base, confidence);
  const mask = plainMasks((text) => all.maskLine('lines', text));
  const maskByOthers = others && plainMasks((text) => others.maskLine('lines', text));
  const byRule = new Map<string, Map<string, { lines: number; template?: string | undefined }>>();
  let altered = 0;
  for (const { text, kind, template } of lines) {
    found = [];
    const masked = mask(text);
    // A value that has the mask of another rule now is no false positive.
    const isNew = found.length > 0 && maskByOthers?.(text) !== masked;
    const rules = new Set(found.filter((rule) => rule.startsWith(prefix)));
    // Names and notations of the pack are found by rules of `secrets/context`.
    if (rules.size === 0 && typeof pack !== 'string') for (const rule of found) rules.add(rule);
    if (!isNew || rules.size === 0) continue;
    altered++;
    for (const rule of rules) {
      const kinds = byRule.get(rule) ?? new Map();
      byRule.set(rule, kinds);
      kinds.set(kind, { template, ...kinds.get(kind), lines: (kinds.get(kind)?.lines ?? 0) + 1 });
    }
  }
  const rules = Array.from(byRule, ([rule, kinds]) => {
    const inOrder = Array.from(kinds, ([kind, figures]) => ({ kind, ...figures })).toSorted(
      (a, b) => b.lines - a.lines,
    );
    return {
      rule,
      altered: inOrder.reduce((sum, one) => sum + one.lines, 0),
      kinds: inOrder.slice(0, MOST_KINDS),
    };
  });
  return { rules, altered };
}

function withCosts(
  altered: readonly RuleFigures[],
  pack: NamedPack,
  packs: readonly NamedPack[],
  blocks: readonly string[],
  lines: number,
): RuleFigures[] {
  const prefix = `${nameOfPack(pack)}:`;
  const ofPack = Object.entries(resolvePackRules(packs)).filter(([id]) => id.startsWith(prefix));
  const costs = ofPack.map(([rule, written]): RuleFigures => {
    const known = altered.find((one) => one.rule === rule) ?? { altered: 0, kinds: [] };
    return { ...known, rule, microseconds: costOfMask(maskOfRule(rule, written), blocks) / lines };
  });
  return [...costs, ...altered.filter(({ rule }) => !rule.startsWith(prefix))];
}
