/*
 * Tables of packs in which each row is a command, a directive, a request or a function with a secret among its arguments. The rows
 * become names and notations of a vocabulary.
 */

import * as z from 'zod';

/** What entries of tables and of vocabularies have. */
export const Words = z.array(z.string().min(1)).min(1);
export const Example = z.string().min(1);

/**
 * Commands with a secret among their arguments, directives of configurations, and requests of protocols. They become names,
 * each with notations of its own: see `Notation.arguments`.
 */
export const CommandsSchema = z.array(
  z
    .strictObject({
      command: z.string().min(2),
      form: z.string().regex(/VALUE/, 'a form with VALUE').optional(),
      options: z.string().min(2).optional(),
      at: z.enum(['word', 'part', 'line', 'request']).optional(),
      exact: z.boolean().optional(),
      guard: z.string().optional(),
      example: Example,
      miss: Example,
    })
    .refine(
      ({ form, options }) => (form === undefined) !== (options === undefined),
      'either a form or options',
    ),
);
type WrittenCommand = z.output<typeof CommandsSchema>[number];

/**
 * Where a command stands: as a word, as a part of one, first in its line, or where a request of a protocol starts, such as after `C:`, `->` or
 * the quote of a string.
 */
const PLACES = {
  word: '(?<![\\w.-])',
  part: '',
  line: '(?:^|\\n)[\\x20\\t]{0,20}(?:[\\w.@()~/:-]{1,60}[#>$%][\\x20\\t]{0,3}|[+>-][\\x20\\t]{1,10})?(?:(?:set|no|option|do)[\\x20\\t]{1,3})?',
  request:
    '(?:(?:^|\\n)[\\x20\\t]{0,20}|(?:[>:<|"\'}→←*#$%]|<-{1,3}|-{1,3}>|\\\\[nr])[\\x20\\t]{0,5})(?:[A-Za-z]{0,4}[0-9]{1,6}[\\x20\\t]|\\.[\\x20\\t])?|[\\x20\\t][A-Za-z]{1,4}[0-9]{1,6}[\\x20\\t]',
} as const;

/** A letter with its value is no option of several letters, as programs have them with one dash. */
const NO_LONG_OPTION =
  '(?!(?:ass|asswd|assword|assphrase|asscode|rotocol|ort|rofile|ath|rint|roject|latform|ublic|lain|id|refix|riv|wd)\\b)';

/** The forms that options stand for. A letter may have its value directly after it; `*` marks options that always have. */
function formsOf({ form, options }: WrittenCommand): readonly string[] {
  if (form !== undefined) return [form];
  const words = options?.split(' ') ?? [];
  const separate = words.filter((word) => !word.endsWith('*'));
  // Where an option of several letters has one dash, a letter with its value could be one.
  const hasLongOptions = words.some((word) => /^-[A-Za-z]{2,}/.test(word));
  const attached = words.map((word) => {
    if (word.endsWith('*')) return word.slice(0, -1);
    return /^-[A-Za-z]$/.test(word) && !hasLongOptions ? word + NO_LONG_OPTION : `${word}[=:]`;
  });
  return [
    ...(separate.length > 0 ? [`… (?:${separate.join('|')}) VALUE`] : []),
    `… (?:${attached.join('|')})VALUE`,
  ];
}

/** The words of which one follows the name of some commands: none if any may. */
const nextWords = (seconds: readonly (string | undefined)[]): readonly string[] =>
  seconds.every((second) => second !== undefined && /^[\w-]+$/.test(second))
    ? [...new Set(seconds.map((second) => (second as string).toLowerCase()))]
    : [];

/** Tables of commands, and the kinds of their names. */
export const TABLES: Readonly<Record<string, string>> = {
  commands: 'command',
  directives: 'directive',
  requests: 'request',
};

const placeOf = ({ at }: WrittenCommand, kind: string) => at ?? (kind === 'request' ? 'request' : 'word');

function notationOf(written: WrittenCommand, notation: string, rest: string, kind: string) {
  const { exact = false, guard, example, miss } = written;
  const at = placeOf(written, kind);
  const ofArguments = kind === 'command' ? ('arguments' as const) : undefined;
  return {
    notation,
    form: `${at === 'part' ? '' : `(?:${PLACES[at]})`}NAME${kind === 'command' ? '(?:\\.(?:exe|cmd|sh|bat|py|pl|rb))?' : ''}VALUE`,
    arguments: formsOf(written).map((form) => rest + form),
    exact: exact ? ('all' as const) : ofArguments,
    kinds: [kind],
    ...(guard !== undefined && { guard }),
    example,
    miss,
  };
}

/**
 * The names and notations of commands: the first word is the name, and the others are arguments. The first notations are those
 * of the commands, in their order. Where several commands with different further words share an entry, there are more.
 */
export function ofCommands(commands: readonly WrittenCommand[], kind = 'command') {
  const names = new Map<
    string,
    { readonly only: string[]; readonly seconds: (string | undefined)[]; isAlone: boolean }
  >();
  const written = commands.map((command) => {
    const rests = new Map<string, string>();
    const isAlone = ['word', 'line'].includes(placeOf(command, kind));
    for (const words of command.command.split('|')) {
      const [name = '', ...rest] = words.split(' ');
      const notation = [command.command, ...rest, command.form ?? command.options].join(' ');
      rests.set(notation, rest.map((word) => `${word} `).join(''));
      const known = names.get(name) ?? { only: [], seconds: [], isAlone: true };
      names.set(name, known);
      if (!known.only.includes(notation)) known.only.push(notation);
      known.seconds.push(rest[0]);
      if (!isAlone) known.isAlone = false;
    }
    return [...rests].map(([notation, rest]) => notationOf(command, notation, rest, kind));
  });
  const notations = [
    ...written.flatMap((made) => made.slice(0, 1)),
    ...written.flatMap((made) => made.slice(1)),
  ];
  return {
    names: [...names].map(([name, { only, seconds, isAlone }]) => ({
      name,
      kind,
      start: isAlone ? ('alone' as const) : ('word' as const),
      only,
      next: nextWords(seconds),
      keys: [name],
      not: ['-'],
    })),
    notations,
  };
}

/** Functions with a secret among their arguments. They become names, each with a notation of its own, as commands do. */
export const CallsSchema = z.array(
  z.strictObject({
    call: z.string().min(2),
    /** Which argument: `2`, `2 4`, `last`, `2 of 2`. */
    secret: z.union([
      z.int().positive(),
      z.string().regex(/^(?:\d(?: \d)*|last)(?: of \d)?$/, 'arguments such as 2'),
    ]),
    /** What stands between the name and the first argument. Default: a bracket. */
    as: z.enum(['call', 'words', 'tuple', 'list']).optional(),
    /** An expression for what the arguments start with. */
    starts: z.string().optional(),
    not_after: Words.optional(),
    guard: z.string().optional(),
    example: Example,
    miss: Example,
  }),
);

const AFTER_KEY = ['=', ' =', ':', ' :', '"', "'", '\\', ']'];
/** What follows the name of a function: expressions, and how they can start. */
const OPENINGS = {
  call: { form: '\\s?\\(', opens: ['(', ' ('] },
  words: {
    form: '(?:\\s?\\(|\\s{1,3}(?=[@nN]?\\\\{0,7}["\']|null\\b|:[a-z]))',
    opens: ['(', ' (', ' "', " '", '\t"', "\t'", ' \\', ' @', " n'", ' null', ' :'],
  },
  tuple: { form: '["\'\\\\\\]]{0,6}\\s{0,3}(?:=>|[:=])\\s{0,3}\\(', opens: AFTER_KEY },
  list: { form: '["\'\\\\\\]]{0,6}\\s{0,3}(?:=>|[:=])\\s{0,3}\\[', opens: AFTER_KEY },
} as const;

/** The names and notations of functions. */
export function ofCalls(calls: z.output<typeof CallsSchema>) {
  const written = calls.map((call) => ({ ...call, ...OPENINGS[call.as ?? 'call'] }));
  const notationOf = ({ call, secret, as = 'call' }: (typeof calls)[number]) => `${as} ${call} ${secret}`;
  const words = new Map<string, { only: string[]; opens: Set<string>; not_after?: string[] }>();
  for (const call of written) {
    for (const name of call.call.split('|')) {
      const entry = words.get(name) ?? { only: [], opens: new Set<string>() };
      entry.only.push(notationOf(call));
      for (const opening of call.opens) entry.opens.add(opening);
      words.set(name, { ...entry, ...(call.not_after && { not_after: call.not_after }) });
    }
  }
  return {
    names: [...words].map(([name, { opens, ...entry }]) => ({
      ...entry,
      name,
      kind: 'call',
      start: 'word' as const,
      opens: [...opens],
      keys: [name.replaceAll(' ', '_')],
      not: [`x${name.replaceAll(' ', '_')}`],
    })),
    notations: written.map((call) => ({
      notation: notationOf(call),
      form: `NAME${call.form}${call.starts === undefined ? '' : `(?=\\s{0,3}${call.starts})`}VALUE`,
      ends: `arguments ${call.secret}`,
      kinds: ['call'],
      ...(call.guard !== undefined && { guard: call.guard }),
      example: call.example,
      miss: call.miss,
    })),
  };
}

/** What a table has become, with numbers for its notations, which would be most of what a program loads of a pack otherwise. */
export function numbered<
  N extends { readonly only: readonly string[] },
  T extends { readonly notation: string },
>(
  { names, notations }: { readonly names: readonly N[]; readonly notations: readonly T[] },
  kind: string,
): { readonly names: readonly N[]; readonly notations: readonly T[] } {
  const numbers = new Map(notations.map(({ notation }, index) => [notation, `${kind} ${index + 1}`]));
  const numberOf = (notation: string) => numbers.get(notation) ?? notation;
  return {
    names: names.map((name) => ({ ...name, only: name.only.map(numberOf) })),
    notations: notations.map((one) => ({ ...one, notation: numberOf(one.notation) })),
  };
}
