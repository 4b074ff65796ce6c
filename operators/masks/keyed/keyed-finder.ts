import { CHECKS } from '../checks/index.ts';
import type { Finder, FoundKey, Place } from '../search/finder.ts';
import { KeyNames, literalsOf, matchEnd } from './key-names.ts';
import { APART, type ReadValues, VALUE_READERS } from './value-readers.ts';
import type { KeyedRule, KeyName, Notation, Vocabulary } from './vocabulary.ts';

/** A notation, compiled. */
interface CompiledNotation {
  readonly notation: Notation;
  /** Sticky, at the start of a name: what precedes the key. */
  readonly before: RegExp | undefined;
  /** Sticky, at the end of a key: what stands between it and its value. */
  readonly between: RegExp;
  /** Sticky, at the end of a value: what has to follow it. */
  readonly after: RegExp | undefined;
  readonly read: ReadValues;
  readonly isApart: boolean;
}

/** What a key may have in front of its name. */
const KEY_START = '[\\w.%[\\]:-]{0,60}';

/**
 * @throws TypeError for a form that is none, or a way in which values end that does not exist
 */
export function compileNotation(notation: Notation): CompiledNotation {
  const { form, ends = 'literal' } = notation;
  const [, before = '', key, between = '', after = ''] = FORM.exec(form) ?? fail(notation, 'form');
  if (!Object.hasOwn(VALUE_READERS, ends)) fail(notation, 'ends');
  const sourceOf = (part: string) => part.replaceAll(' ', '\\s{0,20}');
  const keyStart = key === 'KEY' ? KEY_START : '';
  return {
    notation,
    before: before === '' ? undefined : new RegExp(`(?<=(?:${sourceOf(before)})${keyStart})`, 'iy'),
    between: new RegExp(sourceOf(between), 'iy'),
    after: after === '' ? undefined : new RegExp(sourceOf(after), 'iy'),
    read: VALUE_READERS[ends] as ReadValues,
    isApart: APART.has(ends),
  };
}

const FORM = /^(.*?)(KEY|NAME)(.*)VALUE(.*)$/s;

function fail({ notation }: Notation, field: string): never {
  throw new TypeError(`the notation ${notation} has a wrong ${field}`);
}

/** Whether something is no secret, because of a guard. */
export type IsGuarded = (value: string, text: string, start: number, key: FoundKey) => boolean;

export function compileGuards({ guards, words }: Pick<Vocabulary, 'guards' | 'words'>): IsGuarded {
  const ordinary = new Set(words.map((word) => word.toLowerCase()));
  const compiled = guards.map(({ form = 'VALUE', value, kinds, notations }) => {
    const [, before = '', after = ''] = /^(.*)VALUE(.*)$/s.exec(form) ?? [];
    return {
      kinds,
      notations,
      before: before === '' ? undefined : new RegExp(`(?<=${before})`, 'y'),
      after: after === '' ? undefined : new RegExp(after, 'y'),
      value: value === undefined ? undefined : new RegExp(`^(?:${value})$`, 's'),
    };
  });
  return (value, text, start, { kind, notation }) =>
    ordinary.has(value.toLowerCase()) ||
    compiled.some(
      (guard) =>
        guard.kinds?.includes(kind) !== false &&
        guard.notations?.includes(notation) !== false &&
        guard.value?.test(value) !== false &&
        (guard.before === undefined || matchEnd(guard.before, text, start) !== -1) &&
        (guard.after === undefined || matchEnd(guard.after, text, start + value.length) !== -1),
    );
}

/** What is made of a rule for values after names. */
export interface CompiledKeyedRule {
  readonly keywords: readonly string[];
  readonly finder: () => Finder;
  readonly isGuarded: IsGuarded;
}

/** Vocabularies are data that does not change, and the rules of a pack share one. */
const compiledGuards = new WeakMap<Vocabulary, IsGuarded>();

export function compileKeyedRule({ vocabulary, kinds, notations }: KeyedRule): CompiledKeyedRule {
  const names = vocabulary.names.filter(({ kind }) => kinds.includes(kind));
  let isGuarded = compiledGuards.get(vocabulary);
  if (isGuarded === undefined) {
    isGuarded = compileGuards(vocabulary);
    compiledGuards.set(vocabulary, isGuarded);
  }
  let search: { readonly names: KeyNames; readonly notations: readonly CompiledNotation[] } | undefined;
  return {
    keywords: literalsOf(names),
    isGuarded,
    finder: () => {
      search ??= {
        names: new KeyNames(names, vocabulary),
        notations: vocabulary.notations
          .filter(({ notation }) => notations.includes(notation))
          .map(compileNotation),
      };
      return new KeyedFinder(search.names, search.notations, vocabulary.kinds);
    },
  };
}

/** Finds values after names: a name, then a notation, then where the value ends. */
export class KeyedFinder implements Finder {
  end = 0;
  readonly #names: KeyNames;
  readonly #notations: readonly CompiledNotation[];
  readonly #checks: Vocabulary['kinds'];
  #places: Place[] = [];

  constructor(names: KeyNames, notations: readonly CompiledNotation[], checks: Vocabulary['kinds']) {
    this.#names = names;
    this.#notations = notations;
    this.#checks = checks;
  }

  next(text: string, from: number): number {
    for (let found = this.#names.next(text, from); found !== undefined; ) {
      const ends = this.#names.endsOf(text, found);
      const places: Place[] = [];
      for (const notation of this.#notations) {
        if (!canBeWritten(found.entry, notation)) continue;
        this.#readAt(text, found.start, ends, found.entry, notation, places);
      }
      if (places.length > 0) {
        // Of two values that start at the same place, the shorter one is only a part.
        this.#places = places.sort((a, b) => a.start - b.start || b.end - a.end);
        this.end = found.end;
        return found.start;
      }
      found = this.#names.next(text, found.end);
    }
    return -1;
  }

  values(): readonly Place[] {
    return this.#places;
  }

  /** Adds the values that a notation has after a name. The key ends where the notation goes on. */
  #readAt(
    text: string,
    start: number,
    ends: readonly number[],
    entry: KeyName,
    { notation, before, between, after, read, isApart }: CompiledNotation,
    places: Place[],
  ): void {
    for (const end of ends) {
      const from = matchEnd(between, text, end);
      if (from === -1) continue;
      if (before !== undefined && matchEnd(before, text, start) === -1) return;
      const found = read(text, from).filter(
        (place) => after === undefined || matchEnd(after, text, place.end) !== -1,
      );
      if (found.length === 0) continue;
      const level = notation.guard ?? 'clear';
      const check = CHECKS[this.#checks[entry.kind]?.[level] ?? level];
      const key: FoundKey = { kind: entry.kind, notation: notation.notation, check, isApart };
      for (const place of found) places.push({ ...place, key });
      return;
    }
  }
}

function canBeWritten({ kind, except }: KeyName, { notation }: CompiledNotation): boolean {
  return notation.kinds?.includes(kind) !== false && except?.includes(notation.notation) !== true;
}
