import { type JoinedSearch, NeedleSearch, RunSearch } from './joined-search.ts';
import type { Needle } from './needle.ts';
import type { NeededRun } from './run-gate.ts';

/** What rules have made of a text: only those who look at it ask for it, as it may have to be decoded. */
export interface Masked {
  readonly text: string;
}

/** What a rule needs: every text with a match has it. */
export interface Needs {
  readonly needle: Needle | undefined;
  readonly run: NeededRun | undefined;
}

/** The engine plans ahead for so many texts; beyond, it tries all of them at each character. */
const MOST_TEXTS = 64;
const MOST_RUNS = 32;
/** For fewer rules, a search of its own for each costs as little. */
const FEWEST_RULES = 3;

/** Lets several rules share one search for what they need. Where it is not found, they are spared their own. */
export class JoinedGates {
  readonly #shared: readonly SharedSearch[];
  readonly #gates: readonly (Gate | undefined)[];

  /** @param needs of the rules, in their order. */
  constructor(needs: readonly Needs[]) {
    const gates = needs.map((): Gate | undefined => undefined);
    const share = (members: readonly number[], search: JoinedSearch, bitOf: (i: number) => number) => {
      const shared = new SharedSearch(search);
      members.forEach((member, i) => {
        gates[member] = new Gate(shared, bitOf(i), members.length - i);
      });
      return shared;
    };
    this.#shared = [
      ...needleGroups(needs).map((members) =>
        share(members, new NeedleSearch(members.map((member) => needs[member]?.needle as Needle)), () => 1),
      ),
      ...runGroups(needs).map((members) =>
        share(
          members,
          new RunSearch(members.map((member) => needs[member]?.run as NeededRun)),
          (i) => 1 << i,
        ),
      ),
    ];
    this.#gates = gates;
  }

  /** Whether no rules share a search. */
  get isEmpty(): boolean {
    return this.#shared.length === 0;
  }

  /** To be called before a text is looked at, and after each change of it. */
  reset(): void {
    for (let i = 0; i < this.#shared.length; i++) (this.#shared[i] as SharedSearch).reset();
  }

  /** Whether the rule certainly finds nothing in the text. */
  reject(rule: number, masked: Masked): boolean {
    const gate = this.#gates[rule];
    return gate?.rejects(masked) ?? false;
  }
}

/** The positions of rules with needles of one kind, in their order, parted where there are too many texts. */
function needleGroups(needs: readonly Needs[]): number[][] {
  const all: number[][] = [];
  const open = new Map<Needle['kind'], { members: number[]; size: number }>();
  needs.forEach(({ needle }, position) => {
    if (needle === undefined) return;
    const { kind, size } = needle;
    let group = open.get(kind);
    if (group === undefined || group.size + size > MOST_TEXTS) {
      group = { members: [], size: 0 };
      all.push(group.members);
      open.set(kind, group);
    }
    group.members.push(position);
    group.size += size;
  });
  return all.filter((members) => members.length >= FEWEST_RULES);
}

/** The positions of rules that have no needle, but a run. */
function runGroups(needs: readonly Needs[]): number[][] {
  const all = needs.flatMap(({ needle, run }, position) =>
    needle === undefined && run !== undefined ? [position] : [],
  );
  const groups = Array.from({ length: Math.ceil(all.length / MOST_RUNS) }, (_, i) =>
    all.slice(i * MOST_RUNS, (i + 1) * MOST_RUNS),
  );
  return groups.filter((members) => members.length >= FEWEST_RULES);
}

const ALL = -1;

/** A search and what it found, until the text changes. */
export class SharedSearch {
  readonly #search: JoinedSearch;
  isDone = false;
  /** The bits of the rules that may match: all, as long as it is not known better. */
  found = ALL;
  /** How many rules did not have to search themselves. */
  spared = 0;
  #asker: Gate | undefined;

  constructor(search: JoinedSearch) {
    this.#search = search;
  }

  run(text: string, asker: Gate): void {
    this.#asker = asker;
    this.found = this.#search.search(text);
    this.isDone = true;
  }

  /** Whatever is known: a time-out may have ended the search of the text before at any point. */
  reset(): void {
    if (this.isDone) this.#asker?.learn(this.spared);
    this.isDone = false;
    this.found = ALL;
    this.spared = 0;
  }
}

/** Below, the shared search costs more than what it spares. */
const WORTHWHILE = 2;
const INERTIA = 16;
const TRIED_AGAIN_AFTER = 256;

/**
 * One rule's share in a search. The first rule behind a change of the text has to search; how many rules that spares
 * depends on what is in the texts, so it is learnt: an earlier rule may change each text, a needle may be in all of
 * them. It never decides what is masked, only how it is found.
 */
class Gate {
  readonly #shared: SharedSearch;
  readonly #bit: number;
  #usuallySpared: number;
  #passed = 0;

  /** @param rules this one and those behind it. */
  constructor(shared: SharedSearch, bit: number, rules: number) {
    this.#shared = shared;
    this.#bit = bit;
    this.#usuallySpared = rules;
  }

  rejects(masked: Masked): boolean {
    const shared = this.#shared;
    if ((shared.found & this.#bit) !== 0) {
      if (shared.isDone || !this.#isWorthwhile()) return false;
      shared.run(masked.text, this);
      if ((shared.found & this.#bit) !== 0) return false;
    }
    shared.spared++;
    return true;
  }

  learn(spared: number): void {
    this.#usuallySpared += (spared - this.#usuallySpared) / INERTIA;
  }

  #isWorthwhile(): boolean {
    if (this.#usuallySpared >= WORTHWHILE) return true;
    this.#passed = (this.#passed + 1) % TRIED_AGAIN_AFTER;
    return this.#passed === 0;
  }
}
