import fc from 'fast-check';

/** An expression, and texts that nearly match it, or do. */
export interface Drawn {
  readonly source: string;
  readonly near: fc.Arbitrary<string>;
}

const atom = (source: string, ...near: string[]): Drawn => ({ source, near: fc.constantFrom(...near) });

const atoms: fc.Arbitrary<Drawn> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom(...'abBk@.:-_ 01'.split('')).map((c) => atom(escaped(c), c, c.toUpperCase())),
  },
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      atom('[ab]', 'a', 'b'),
      atom('[a-k]', 'a', 'k', 'K'),
      atom('[^a]', 'b', '@', 'é', '\ud83d'),
      atom('[^-;]', '1', 'b', '@'),
      atom('[^-a-k]', '1', 'z', '@'),
      atom('[-a]', '-', 'a'),
      atom('\\d', '0', '1'),
      atom('[0-9.]', '0', '.'),
      atom('\\w', 'a', '_', '1', 'ſ'),
      atom('[\\w.-]', 'b', '-', '.'),
      atom('\\s', ' ', '\n', '\u00a0'),
      atom('\\S', 'a', 'é'),
      atom('.', 'a', '\r', '\u2028'),
      atom('[@:]', '@', ':'),
    ),
  },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom('KEY::', 'key=', '%40', 'ab', 'aab', 'sk_')
      .map((text) => atom(escaped(text), text, text.toLowerCase(), text.slice(1))),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      atom('é', 'é', 'É'),
      atom('[é-ï]', 'ê', 'Ê'),
      atom('µ', 'µ', 'μ', 'Μ'),
      atom('İ', 'İ', 'i'),
      atom('\u212a', '\u212a', 'k', 'K'),
      atom('ẞ', 'ẞ', 'ß', 'SS'),
      atom('Σ', 'Σ', 'σ', 'ς'),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      atom('^', '', '\n'),
      atom('$', '', '\n'),
      atom('\\b', '', ' '),
      atom('\\B', ''),
    ),
  },
);
const wide: fc.Arbitrary<Drawn> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.constantFrom(
      atom('😀', '😀', '\ud83d', '\ude00'),
      atom('[😀-😂a]', '😁', 'a'),
      atom('[^é]', '😀', 'b'),
      atom('[^-😀]', '😁', 'b'),
    ),
  },
  // The engine takes tens of milliseconds to compile one of these.
  {
    weight: 1,
    arbitrary: fc.constantFrom(atom('\\p{L}', 'é', 'a', '𝒳'), atom('\\P{L}', '1', '😀')),
  },
);

const quantifiers = ['*', '+', '?', '{2}', '{1,3}', '{2,}', '{0,2}', '{6}', '{9,}'].flatMap((q) => [
  q,
  q,
  `${q}?`,
]);
const looks = ['?=', '?!', '?<=', '?<!'];

/** Expressions of every kind of part that the language has, and flags to compile them with. */
export function expressions(): fc.Arbitrary<Drawn & { readonly flags: string }> {
  return fc.boolean().chain((unicode) =>
    fc
      .record({
        drawn: tree(
          unicode ? fc.oneof({ weight: 3, arbitrary: atoms }, { weight: 1, arbitrary: wide }) : atoms,
        ),
        i: fc.boolean(),
        m: fc.boolean(),
        s: fc.boolean(),
      })
      .map(({ drawn, i, m, s }) => ({
        ...drawn,
        flags: `g${i ? 'i' : ''}${m ? 'm' : ''}${s ? 's' : ''}${unicode ? 'u' : ''}`,
      })),
  );
}

/** Deeper and longer ones take longer to be drawn than to be matched, and find no more. */
const DEPTH = 2;
const LENGTH = 3;

function tree(leaf: fc.Arbitrary<Drawn>): fc.Arbitrary<Drawn> {
  const depthIdentifier = fc.createDepthIdentifier();
  return fc.letrec<{ sequence: Drawn; piece: Drawn; whole: Drawn }>((tie) => ({
    piece: fc.oneof(
      { maxDepth: DEPTH, depthIdentifier, withCrossShrink: true },
      { weight: 6, arbitrary: leaf },
      {
        weight: 5,
        arbitrary: fc.tuple(leaf, fc.constantFrom(...quantifiers)).map(([one, q]) => repeated(one, q)),
      },
      {
        weight: 2,
        arbitrary: fc
          .tuple(tie('sequence'), fc.constantFrom(...quantifiers))
          .map(([one, q]) => repeated(one, q)),
      },
      { weight: 2, arbitrary: fc.array(tie('sequence'), { minLength: 2, maxLength: 3 }).map(choice) },
      {
        weight: 1,
        arbitrary: fc
          .tuple(tie('sequence'), fc.constantFrom(...looks))
          .map(([one, look]) => looking(one, look)),
      },
      { weight: 1, arbitrary: tie('sequence').map((one) => ({ source: `(${one.source})`, near: one.near })) },
    ),
    sequence: fc.array(tie('piece'), { minLength: 1, maxLength: LENGTH }).map(sequence),
    whole: fc.oneof(
      { weight: 8, arbitrary: tie('sequence') },
      {
        weight: 1,
        arbitrary: tie('sequence').map((one) => ({ source: `(${one.source})\\1`, near: one.near })),
      },
      { weight: 1, arbitrary: fc.array(tie('sequence'), { minLength: 2, maxLength: 3 }).map(bareChoice) },
    ),
  })).whole;
}

const joined = (parts: readonly fc.Arbitrary<string>[]) => fc.tuple(...parts).map((texts) => texts.join(''));

function sequence(parts: readonly Drawn[]): Drawn {
  return { source: parts.map(({ source }) => source).join(''), near: joined(parts.map(({ near }) => near)) };
}

function bareChoice(parts: readonly Drawn[]): Drawn {
  return {
    source: parts.map(({ source }) => source).join('|'),
    near: fc.oneof(...parts.map(({ near }) => near)),
  };
}

function choice(parts: readonly Drawn[]): Drawn {
  const { source, near } = bareChoice(parts);
  return { source: `(?:${source})`, near };
}

function looking({ source, near }: Drawn, look: string): Drawn {
  return { source: `(${look}${source})`, near: fc.oneof(near, fc.constant('')) };
}

function repeated({ source, near }: Drawn, quantifier: string): Drawn {
  const times = quantifier.startsWith('{9') ? [8, 12] : quantifier.startsWith('{6') ? [5, 7] : [0, 3];
  const [minLength, maxLength] = times as [number, number];
  return {
    source: `(?:${source})${quantifier}`,
    near: fc.array(near, { minLength, maxLength }).map((texts) => texts.join('')),
  };
}

function escaped(text: string): string {
  return text.replace(/[.]/g, '\\$&');
}

/** Texts of pieces that nearly match, and of what stands between. */
export function textsNear(all: readonly Pick<Drawn, 'near'>[]): fc.Arbitrary<string> {
  const noise = fc.string({ unit: fc.constantFrom(...'abkK@.:-_ 01=\né😀İſ'.split(''), '😀'), maxLength: 6 });
  const piece = fc.oneof(noise, ...all.map(({ near }) => near));
  return fc.array(piece, { maxLength: 8 }).map((texts) => texts.join(''));
}
