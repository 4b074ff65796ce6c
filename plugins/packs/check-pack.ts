import { compileExpression } from '../../operators/index.ts';
import {
  CHECKS,
  compileGuard,
  compileNotation,
  costOf,
  readerNamed,
  VALUE_READERS,
} from '../../operators/internal-masks.ts';
import { nearest } from '../../src/sdk/index.ts';
import { oneOf } from './explain-issue.ts';
import { type Vocabulary, vocabularyOf } from './load-packs.ts';
import { lineWithoutMasks, matchesMostSecrets } from './matches-most-secrets.ts';
import type { Additions, OutsidePack } from './pack-schema.ts';
import type { Path } from './place-in-yaml.ts';

const LONGEST_EXPRESSION = 5_000;
/** The time of an expression grows with this power of a text's length at most. */
const MOST_DEGREE = 2;

const TAKEN = {
  kind: 'there is another kind of names of this name',
  notation: 'there is another notation of this name',
} as const;
const TOO_WIDE = 'this accepts many random values, so secrets would not be masked';
const MATCHES_MOST = 'this accepts most random values, so hardly anything would be masked';

/** Takes what is wrong with a rule, or with an entry of a list, at a path inside it. */
type Report = (section: string, key: string | number, path: Path, message: string) => void;

/** Checks what a schema cannot say: names of kinds, notations and checks, and the cost of expressions. */
export class PackCheck {
  readonly #rules: OutsidePack['rules'];
  readonly #added: Additions;
  readonly #report: Report;
  readonly #vocabulary: Vocabulary;

  constructor(rules: OutsidePack['rules'], added: Additions, report: Report) {
    this.#rules = rules;
    this.#added = added;
    this.#report = report;
    this.#vocabulary = vocabularyOf([added]);
  }

  run(): void {
    const { kinds = {}, names = [], notations = [], guards = [] } = this.#added;
    const known = this.#vocabulary.notations.map(({ notation }) => notation);
    const knownKinds = Object.keys(this.#vocabulary.kinds);
    const checks = Object.keys(CHECKS);
    const builtIn = vocabularyOf([]);
    for (const [kind, levels] of Object.entries(kinds)) {
      if (Object.hasOwn(builtIn.kinds, kind))
        this.#report('kinds', kind, [], `${TAKEN.kind}; choose another name`);
      else if (!Object.values(this.#rules).some((rule) => 'kinds' in rule && rule.kinds.includes(kind)))
        this.#report(
          'kinds',
          kind,
          [],
          `no rule looks for names of this kind; add one with \`kinds: [${kind}]\``,
        );
      for (const [level, check] of Object.entries(levels))
        this.#oneOf([check], checks, 'kinds', kind, [level]);
    }
    for (const [index, name] of names.entries()) {
      this.#oneOf([name.kind], knownKinds, 'names', index, ['kind']);
      this.#oneOf([name.only, name.except], known, 'names', index, []);
    }
    for (const [index, notation] of notations.entries()) {
      if (known.indexOf(notation.notation) !== known.lastIndexOf(notation.notation))
        this.#report('notations', index, ['notation'], `${TAKEN.notation}; choose another name`);
      this.#oneOf([notation.kinds], knownKinds, 'notations', index, ['kinds']);
      if (notation.ends !== undefined && readerNamed(notation.ends) === undefined)
        this.#oneOf([notation.ends], Object.keys(VALUE_READERS), 'notations', index, ['ends']);
      const levels = Object.values(this.#vocabulary.kinds).flatMap((kind) => Object.keys(kind));
      this.#oneOf([notation.guard], [...new Set([...levels, ...checks])], 'notations', index, ['guard']);
      this.#checkCosts('notations', index, ['form'], 1, () => {
        const { before, between, after } = compileNotation({ ...notation, ends: undefined });
        return [before, between, after].flatMap((part) =>
          part ? [new RegExp(`^(?:${part.source})`, 'i')] : [],
        );
      });
    }
    const ownNotations = notations.map(({ notation }) => notation);
    for (const [index, guard] of guards.entries()) {
      this.#oneOf([guard.kinds], knownKinds, 'guards', index, ['kinds']);
      this.#oneOf([guard.notations], known, 'guards', index, ['notations']);
      const { form, value } = guard;
      const areCheap = [
        this.#checkCosts('guards', index, ['form'], 1, () => {
          const { before, after } = compileGuard({ form });
          return [before, after].flatMap((part) => (part ? [new RegExp(`^(?:${part.source})`)] : []));
        }),
        this.#checkCosts('guards', index, ['value'], 1, () => compileGuard({ value }).value ?? []),
      ];
      // Expressions that are too slow are not run.
      if (areCheap.includes(false)) continue;
      if (value === undefined && guard.notations?.every((one) => ownNotations.includes(one))) continue;
      const line = lineWithoutMasks(guard);
      if (line === undefined) continue;
      this.#report(
        'guards',
        index,
        [value === undefined ? 'form' : 'value'],
        `${TOO_WIDE}, such as in ${JSON.stringify(line)}; describe the values that are no secrets, such as build-[0-9]+, or what stands around them`,
      );
    }
    for (const [name, rule] of Object.entries(this.#rules)) {
      if ('kinds' in rule) {
        this.#oneOf([rule.kinds], knownKinds, 'rules', name, ['kinds']);
        if (rule.notations !== 'all') this.#oneOf([rule.notations], known, 'rules', name, ['notations']);
        const { needs } = rule;
        if (needs !== undefined)
          this.#checkCosts('rules', name, ['needs'], MOST_DEGREE, () => [new RegExp(needs)]);
        continue;
      }
      this.#checkCosts('rules', name, ['match'], MOST_DEGREE, () => [plain(rule.match)]);
      for (const [index, one] of (rule.allow ?? []).entries()) {
        if (!this.#checkCosts('rules', name, ['allow', index], MOST_DEGREE, () => [plain(one)])) continue;
        if (matchesMostSecrets((value) => plain(one).test(value)))
          this.#report(
            'rules',
            name,
            ['allow', index],
            `${MATCHES_MOST}; describe the values that are no secrets, such as ^build-[0-9]+$`,
          );
      }
      for (const part of ['start', 'end'] as const) {
        const one = rule.block?.[part];
        if (one !== undefined)
          this.#checkCosts('rules', name, ['block', part], MOST_DEGREE, () => [plain(one)]);
      }
      const { after } = rule;
      if (after !== undefined)
        this.#checkCosts('rules', name, ['after', 'line'], MOST_DEGREE, () => [plain(after.line)]);
      const groups = groupsIn(rule.match);
      const missing = [rule.mask ?? 0].flat().find((group) => group > groups);
      if (missing !== undefined)
        this.#report('rules', name, ['mask'], `expected a group of the expression, which has ${groups}`);
    }
  }

  #oneOf(
    written: readonly (string | readonly string[] | undefined)[],
    known: readonly string[],
    section: string,
    key: string | number,
    path: Path,
  ): void {
    for (const one of written.flat()) {
      if (one === undefined || known.includes(one)) continue;
      const near = nearest(one, known);
      const expected = near === undefined ? `expected ${oneOf(known)}` : `did you mean \`${near}\`?`;
      this.#report(section, key, path, `there is no \`${one}\`; ${expected}`);
    }
  }

  #checkCosts(
    section: string,
    key: string | number,
    path: Path,
    most: number,
    compile: () => RegExp | RegExp[],
  ): boolean {
    let isCheap = true;
    const refuse = (message: string) => {
      isCheap = false;
      this.#report(section, key, path, message);
    };
    try {
      for (const expression of [compile()].flat()) {
        if (expression.source.length > LONGEST_EXPRESSION) {
          refuse(`expected an expression of at most ${LONGEST_EXPRESSION} characters`);
          continue;
        }
        const { ambiguity, degree } = costOf(expression);
        if (ambiguity === undefined && degree <= most) continue;
        const growth =
          ambiguity !== undefined || !Number.isFinite(degree)
            ? 'without limit'
            : `with the power of ${degree} of its length`;
        refuse(
          `expected an expression that takes at most ${most === 1 ? 'time in proportion to the length of a text' : 'the square of the length of a text'}; the time of this one can grow ${growth}. Give its repetitions an upper bound, such as {1,40}, and let each character match in one way only`,
        );
      }
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      refuse(`expected a valid regular expression (${error.message.replace(/^.*: /s, '')})`);
    }
    return isCheap;
  }
}

function plain(written: string): RegExp {
  const { source, flags } = compileExpression(written);
  return new RegExp(source, flags.replace('g', ''));
}

function groupsIn(written: string): number {
  const { source, flags } = plain(written);
  return (new RegExp(`${source}|`, flags).exec('')?.length ?? 1) - 1;
}
