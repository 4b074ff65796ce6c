import { argumentError } from '../../support/check-options.ts';
import { CHECKS } from '../checks/index.ts';
import { lazily } from '../expression/linear-engine.ts';
import type { Finder, FoundKey, Place, SearchObserver } from '../search/finder.ts';
import type { Keyword } from '../search/keyword.ts';
import { argumentsReader } from './command-words.ts';
import { type FoundName, KeyNames, literalsOf, matchEnd } from './key-names.ts';
import { APART, type ReadValues, readerNamed } from './value-readers.ts';
import type { Guard, KeyedRule, KeyName, Notation, Vocabulary } from './vocabulary.ts';

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

/** The expression for what stands between a key and its value. */
export const betweenOf = ({ form }: Pick<Notation, 'form'>): RegExp =>
  new RegExp(sourceOf(FORM.exec(form)?.[3] ?? '(?!)'), 'iy');

/** A space stands for optional white space, but not in a class of characters. */
const sourceOf = (part: string): string =>
  part.replace(/\[(?:\\.|[^\]\\])*\]|\\.| /gs, (found) => (found === ' ' ? '\\s{0,20}' : found));

/**
 * @throws TypeError for a form that is none, or a way in which values end that does not exist
 */
export function compileNotation(notation: Notation): CompiledNotation {
  const { form, ends = 'literal', arguments: given, exact } = notation;
  const [, before = '', key, , after = ''] = FORM.exec(form) ?? fail(notation, 'form');
  const read = readerNamed(ends) ?? fail(notation, 'ends');
  const keyStart = key === 'KEY' ? KEY_START : '';
  return {
    notation,
    before: before === '' ? undefined : expressionFor(`(?<=(?:${sourceOf(before)})${keyStart})`),
    between: betweenOf(notation),
    after: after === '' ? undefined : new RegExp(sourceOf(after), 'iy'),
    read: given === undefined ? read : argumentsReader(given, exact),
    isApart: APART.has(ends),
  };
}

/** The same expression for the same source. */
const expressions = new Map<string, RegExp>();

function expressionFor(source: string): RegExp {
  const expression = expressions.get(source) ?? new RegExp(source, 'iy');
  expressions.set(source, expression);
  return expression;
}

const FORM = /^(.*?)(KEY|NAME)(.*)VALUE(.*)$/s;

function fail({ notation }: Notation, field: string): never {
  throw argumentError(TypeError, `the notation ${notation} has a wrong ${field}`);
}

/** Whether something is no secret, because of a guard. */
export type IsGuarded = (value: string, text: string, start: number, key: FoundKey) => boolean;

/** The expressions of a guard: for what stands before a value, after it, and for the whole value. */
export function compileGuard({ form = 'VALUE', value }: Pick<Guard, 'form' | 'value'>) {
  const [, before = '', after = ''] = /^(.*)VALUE(.*)$/s.exec(form) ?? [];
  return {
    before: before === '' ? undefined : new RegExp(`(?<=${before})`, 'y'),
    after: after === '' ? undefined : new RegExp(after, 'y'),
    value: value === undefined ? undefined : new RegExp(`^(?:${value})$`, 's'),
  };
}

export function compileGuards({ guards, names, words }: Vocabulary): IsGuarded {
  const ordinary = new Set(words.map((word) => word.toLowerCase()));
  const labels = new Set(
    names.filter(({ kind }) => kind === 'password').map(({ name }) => name.replace('-', '')),
  );
  const compiled = guards.map((guard) => ({ ...guard, ...compileGuard(guard) }));
  return (value, text, start, { kind, notation }) =>
    ordinary.has(value.toLowerCase()) ||
    isLabel(value, labels) ||
    compiled.some(
      (guard) =>
        guard.kinds?.includes(kind) !== false &&
        guard.notations?.includes(notation) !== false &&
        guard.value?.test(value) !== false &&
        (guard.before === undefined || matchEnd(guard.before, text, start) !== -1) &&
        (guard.after === undefined || matchEnd(guard.after, text, start + value.length) !== -1),
    );
}

/** What a label or a prompt says: `Passwort`, `Forgot password?`, `Password: `. */
function isLabel(value: string, names: ReadonlySet<string>): boolean {
  const [text] =
    /^\p{L}+(?: \p{L}+){0,2}(?=(?: \([\p{L} ]{2,20}\))?[?:.!*]{0,3}\s?$)/u.exec(value.toLowerCase()) ?? [];
  return text !== undefined && (names.has(text) || text.split(' ').some((word) => names.has(word)));
}

/** What is made of a rule for values after names. */
export interface CompiledKeyedRule {
  readonly keywords: readonly Keyword[];
  readonly finder: () => Finder;
  readonly isGuarded: IsGuarded;
}

/** What the rules of a vocabulary share. */
interface CompiledVocabulary {
  readonly namesOfKeys: () => KeyNames;
  /** Names with notations of their own, such as those of commands, which are searched for apart from names of keys. */
  readonly namesOfOthers: () => KeyNames;
  readonly ofKeys: ReadonlySet<string>;
  readonly isGuarded: IsGuarded;
}

/** Vocabularies are data that does not change. */
const compiledVocabularies = new WeakMap<Vocabulary, CompiledVocabulary>();

export function compileVocabulary(vocabulary: Vocabulary): CompiledVocabulary {
  let compiled = compiledVocabularies.get(vocabulary);
  if (compiled === undefined) {
    const ofKeys = new Set(vocabulary.names.filter(({ only }) => only === undefined).map(({ kind }) => kind));
    const namesOf = (areKeys: boolean) =>
      lazily(
        () =>
          new KeyNames(
            vocabulary.names.filter(({ kind }) => ofKeys.has(kind) === areKeys),
            vocabulary,
          ),
      );
    compiled = {
      namesOfKeys: namesOf(true),
      namesOfOthers: namesOf(false),
      ofKeys,
      isGuarded: (...value) => guards()(...value),
    };
    const guards = lazily(() => compileGuards(vocabulary));
    compiledVocabularies.set(vocabulary, compiled);
  }
  return compiled;
}

/** The literals of the names of a rule that has keywords of its own, which may come after the value. Others have none. */
export function literalsOfNames({ vocabulary, kinds, keywords }: KeyedRule): readonly Keyword[] {
  return keywords === undefined
    ? []
    : literalsOf(vocabulary.names.filter(({ kind }) => kinds.includes(kind)));
}

export function compileKeyedRule({ vocabulary, kinds, notations, keywords }: KeyedRule): CompiledKeyedRule {
  const { namesOfKeys, namesOfOthers, ofKeys, isGuarded } = compileVocabulary(vocabulary);
  const isUsed = ({ notation, kinds: written = kinds }: Notation) =>
    notations.includes(notation) && written.some((kind) => kinds.includes(kind));
  const used = vocabulary.names.filter(({ kind }) => kinds.includes(kind));
  const compiled = lazily(
    () => new NotationsByStart(vocabulary.notations.filter(isUsed).map(compileNotation)),
  );
  return {
    keywords: keywords ?? literalsOf(used),
    isGuarded,
    finder: () => {
      const names = kinds.some((kind) => ofKeys.has(kind)) ? namesOfKeys : namesOfOthers;
      return new KeyedFinder(names(), new Set(kinds), compiled(), vocabulary, keywords === undefined);
    },
  };
}

/** Roughly the steps of an expression that take as long as to try all notations after a name. */
const STEPS_OF_NAME = 1000;

/** What stands in a mask in front of a name: no key is in `<:api-key:>`. */
const MASK_BEFORE = /<:[\w-]{0,60}$/;
const LONGEST_MASK = 62;

/** Finds values after names: a name, then a notation, then where the value ends. */
export class KeyedFinder implements Finder {
  end = 0;
  readonly #names: KeyNames;
  readonly #kinds: ReadonlySet<string>;
  readonly #notations: NotationsByStart;
  readonly #checks: Vocabulary['kinds'];
  readonly #readers: NonNullable<Vocabulary['readers']>;
  readonly #hasPlaces: boolean;
  #places: readonly Place[] = [];
  #index = 0;

  /** @param hasPlaces whether the literals of the names are keywords of the rule, so that their places are known */
  constructor(
    names: KeyNames,
    kinds: ReadonlySet<string>,
    notations: NotationsByStart,
    { kinds: checks, readers = {} }: Pick<Vocabulary, 'kinds' | 'readers'>,
    hasPlaces: boolean,
  ) {
    this.#hasPlaces = hasPlaces;
    this.#names = names;
    this.#kinds = kinds;
    this.#notations = notations;
    this.#checks = checks;
    this.#readers = readers;
  }

  next(text: string, from: number, observer?: SearchObserver): number {
    const names = this.#names.in(text, this.#hasPlaces ? observer?.placesIn?.(text) : undefined);
    // A search goes on where it was, unless it starts again.
    if (from === 0) this.#index = 0;
    for (; this.#index < names.length; this.#index++) {
      const found = names[this.#index] as FoundName;
      if (found.start < from || !this.#kinds.has(found.entry.kind)) continue;
      observer?.spend?.(STEPS_OF_NAME);
      const places = this.#placesAfter(text, found);
      if (places.length === 0) continue;
      this.#places = places;
      this.end = found.end;
      return found.start;
    }
    return -1;
  }

  values(): readonly Place[] {
    return this.#places;
  }

  /** The values that stand after a name in one of the notations. A key ends where the notation goes on. */
  #placesAfter(text: string, name: FoundName): readonly Place[] {
    const { start, entry } = name;
    const places: Place[] = [];
    const read: CompiledNotation[] = [];
    // Many notations ask for the same in front of a name.
    let before: RegExp | undefined;
    let isBehind = true;
    for (const end of entry.next === undefined ? this.#names.endsOf(text, name) : [name.end]) {
      if (
        text.startsWith(':>', end) &&
        MASK_BEFORE.test(text.slice(Math.max(0, start - LONGEST_MASK), start))
      )
        continue;
      for (const compiled of this.#notations.at(text, end, entry.only)) {
        if (!canBeWritten(entry, compiled) || read.includes(compiled)) continue;
        if (compiled.notation.exact === 'all' && text.slice(start, name.end) !== entry.name) continue;
        const from = matchEnd(compiled.between, text, end);
        if (from === -1) continue;
        if (compiled.before !== before) {
          before = compiled.before;
          isBehind = before === undefined || matchEnd(before, text, start) !== -1;
        }
        if (!isBehind) continue;
        const found = this.#valuesAt(text, from, entry, compiled);
        if (found.length === 0) continue;
        read.push(compiled);
        places.push(...found);
      }
    }
    // Of two values that start at the same place, the shorter one is only a part.
    return places.length < 2 ? places : places.sort((a, b) => a.start - b.start || b.end - a.end);
  }

  #valuesAt(text: string, from: number, entry: KeyName, compiled: CompiledNotation): readonly Place[] {
    const { notation, after, isApart } = compiled;
    const ends = this.#readers[entry.kind]?.[notation.ends ?? 'literal'];
    const read = ends === undefined ? compiled.read : readerNamed(ends);
    const found = (read?.(text, from) ?? []).filter(
      ({ end }) => after === undefined || matchEnd(after, text, end) !== -1,
    );
    if (found.length === 0) return found;
    const level = notation.guard ?? 'clear';
    const checks = this.#checks[entry.kind];
    const check = CHECKS[checks?.[level] ?? checks?.['*'] ?? level];
    const key: FoundKey = { kind: entry.kind, notation: notation.notation, check, isApart };
    return found.map((place) => ({ ...place, key }));
  }
}

/** Notations by the characters with which they can go on after a key. */
class NotationsByStart {
  readonly #all: readonly CompiledNotation[];
  readonly #byStart: (readonly CompiledNotation[] | undefined)[] = [];
  readonly #byStartAfterSpace: (readonly CompiledNotation[] | undefined)[] = [];
  readonly #named: Readonly<Record<string, CompiledNotation>>;
  readonly #byNames = new WeakMap<readonly string[], readonly CompiledNotation[]>();

  constructor(notations: readonly CompiledNotation[]) {
    this.#all = notations;
    this.#named = Object.fromEntries(notations.map((compiled) => [compiled.notation.notation, compiled]));
  }

  /** Those that may go on at a place, among those of a name that has some of its own. */
  at(text: string, at: number, only?: readonly string[]): readonly CompiledNotation[] {
    if (only !== undefined) return this.#namedBy(only);
    const unit = text.charCodeAt(at);
    if (!(unit < 128)) return this.#all;
    if (!isSpace(unit)) return this.#startingWith(unit);
    let next = at + 1;
    while (isSpace(text.charCodeAt(next))) next++;
    const beyond = text.charCodeAt(next);
    return beyond < 128 ? this.#startingAfterSpace(unit, beyond) : this.#startingWith(unit);
  }

  #startingWith(unit: number): readonly CompiledNotation[] {
    this.#byStart[unit] ??= this.#all.filter(({ notation }) => mayStart(notation.starts, unit));
    return this.#byStart[unit];
  }

  #startingAfterSpace(space: number, unit: number): readonly CompiledNotation[] {
    const index = space * 128 + unit;
    this.#byStartAfterSpace[index] ??= this.#startingWith(space).filter(({ notation }) =>
      mayStart(notation.startsAfterSpace, unit),
    );
    return this.#byStartAfterSpace[index];
  }

  #namedBy(names: readonly string[]): readonly CompiledNotation[] {
    let notations = this.#byNames.get(names);
    if (notations === undefined) {
      notations = names.flatMap((name) => this.#named[name] ?? []);
      this.#byNames.set(names, notations);
    }
    return notations;
  }
}

const mayStart = (starts: string | undefined, unit: number): boolean =>
  starts?.includes(String.fromCharCode(unit)) !== false;
const isSpace = (unit: number): boolean => unit === 0x20 || (unit >= 0x09 && unit <= 0x0d);

function canBeWritten({ kind, except, only }: KeyName, { notation }: CompiledNotation): boolean {
  if (only !== undefined) return true;
  return notation.kinds?.includes(kind) !== false && except?.includes(notation.notation) !== true;
}
