import { describe, expect, it } from '@jest/globals';
import { fill, Random } from '../../plugins/pack-tests/templates.ts';
import { packNames, resolvePackRules } from '../../plugins/packs/load-packs.ts';
import { createRedactor } from '../../redact/index.ts';
import { propertyRuns } from '../support/property-runs.ts';
import { entriesOf, sampleOf } from './realistic.ts';

/*
 * A text that arrives in pieces is masked as the whole text is, whatever the pieces are. The texts are examples of each rule of
 * each pack, and the realistic lines.
 */

const redactor = createRedactor({ packs: 'default' });
const forAll = createRedactor({ packs: packNames() });

function inPieces(pieces: readonly (string | Uint8Array)[], of = redactor): string {
  const stream = of.stream();
  return pieces.map((piece) => stream.write(piece)).join('') + stream.end();
}

const cut = (text: string, ...places: readonly number[]): string[] =>
  [...places, text.length].map((place, i) => text.slice(places[i - 1] ?? 0, place));

/** Each template of each rule, as often as asked. */
function examples(packs: readonly string[], count: number): string[] {
  const r = new Random(21);
  return Object.values(resolvePackRules(packs)).flatMap(({ tests }) =>
    tests.matches.flatMap((template) => Array.from({ length: count }, () => fill(template, r).text)),
  );
}

/** Every place takes a minute, so that `npm test` tries a part of them, others for each example. */
const STEP = Math.max(1, Math.round(10 / propertyRuns(2)));
const DEFAULT = ['secrets/context', 'secrets/providers', 'secrets/keys'];

describe('a text in two pieces', () => {
  it.each(DEFAULT)('is masked as a whole, wherever it is cut: %s', (pack) => {
    for (const [i, text] of examples([pack], 1).entries()) {
      const whole = inPieces([text]);
      for (let at = 1 + (i % STEP); at < text.length; at += STEP) {
        const pieces = cut(text, at);
        if (inPieces(pieces) !== whole) expect([pieces, inPieces(pieces)]).toEqual([pieces, whole]);
      }
    }
  });

  it('is masked by the packs for personal data too', () => {
    const packs = packNames().filter((pack) => pack.startsWith('pii/'));
    for (const [i, text] of examples(packs, 1).entries()) {
      const whole = inPieces([text], forAll);
      for (let at = 1 + (i % STEP); at < text.length; at += STEP) {
        const pieces = cut(text, at);
        const masked = inPieces(pieces, forAll);
        if (masked !== whole) expect([pieces, masked]).toEqual([pieces, whole]);
      }
    }
  });
});

describe('a text in three pieces', () => {
  it('is masked as a whole', () => {
    const r = new Random(22);
    for (const text of examples(DEFAULT, 1)) {
      const whole = inPieces([text]);
      for (let i = 0; i < propertyRuns(2); i++) {
        const place = () => r.below(text.length);
        const places = [place(), place()].sort((a, b) => a - b);
        const pieces = cut(text, ...places);
        const masked = inPieces(pieces);
        if (masked !== whole) expect([pieces, masked]).toEqual([pieces, whole]);
      }
    }
  });
});

describe('a text character by character', () => {
  it('is masked as a whole: examples of rules', () => {
    for (const text of examples(DEFAULT, 1)) expect(inPieces([...text])).toBe(inPieces([text]));
  });

  it('is masked as a whole: realistic lines', () => {
    const texts = [...entriesOf(), ...entriesOf('ordinary')].map((entry) => sampleOf(entry, 0).text);
    expect(texts.length).toBeGreaterThan(5000);
    for (const text of texts.filter((_, i) => i % Math.ceil(8 / propertyRuns(1)) === 0)) {
      const masked = inPieces([...text]);
      const whole = inPieces([text]);
      if (masked !== whole) expect([text, masked]).toEqual([text, whole]);
    }
  });

  it('is masked as a whole: bytes of UTF-8', () => {
    const texts = entriesOf().map((entry) => sampleOf(entry, 0).text);
    for (const text of texts.filter((text) => /[^ -~]/.test(text.replaceAll(/\s/g, '')))) {
      const bytes = [...new TextEncoder().encode(text)].map((byte) => Uint8Array.of(byte));
      expect(inPieces(bytes)).toBe(inPieces([text]));
    }
  });
});

describe('a line of a stream', () => {
  it('is masked as the string', () => {
    for (const text of examples(DEFAULT, 1).filter((text) => !text.includes('\n'))) {
      expect(inPieces([text])).toBe(redactor.redact(text));
    }
  });
});

describe('a part of a line that has to leave', () => {
  const SECRET = 'Tr0ub4dor&3';
  const LONG = ' words'.repeat(15_000);
  const TOKEN = ['ghp_16C7e42F292c', '6912E7710c838347Ae178B4a'] as const;
  const DISGUISED: readonly (readonly [what: string, text: string, secret: string])[] = [
    ['with colours', `\x1b[31mpassword\x1b[0m=\x1b[32m${SECRET}\x1b[0m `, SECRET],
    ['with a colour in it', `${TOKEN[0]}\x1b[0m${TOKEN[1]} `, TOKEN[1]],
    ['after a key with an escape', `{"pass\\u0077ord":"${SECRET}", `, SECRET],
    ['with NULs', [...`password=${SECRET} `].join('\0'), [...SECRET].join('\0')],
  ];
  const piecesOf = (text: string) => text.match(/[\s\S]{1,1000}/g) ?? [];

  it.each(DISGUISED)('is masked in a line that is too long: a value %s', (_, text, secret) => {
    expect(inPieces(piecesOf(text + LONG))).not.toContain(secret);
    expect(inPieces(piecesOf(LONG + text + LONG))).not.toContain(secret);
  });

  it.each(DISGUISED)('is masked after a pause: a value %s', (_, text, secret) => {
    const stream = redactor.stream();
    const masked = stream.write(text) + stream.flush() + stream.write('more\n') + stream.end();
    expect(masked).not.toContain(secret);
  });

  it('has no field with a policy: JSON waits for the end of its line, and is replaced if it is too long', () => {
    const own = createRedactor({ keys: ['ssn'] });
    const waiting = own.stream();
    expect(waiting.write('{"ssn": "zq-fake-41", ') + waiting.flush()).toBe('');
    expect(waiting.write('"a": 1}\n')).toBe('{"ssn": "<:ssn:>", "a": 1}\n');
    const text = `{"ssn":"zq-fake-41","a":"${LONG}"}\nnext\n`;
    expect(inPieces(piecesOf(text), own)).toBe('<:long-line:>\nnext\n');
  });
});

describe('the lines of a stream', () => {
  it('may be those of a long private key', () => {
    const r = new Random(5);
    const lines = Array.from({ length: 1500 }, () => fill('{b64:64}', r).text);
    const text = `-----BEGIN RSA PRIVATE KEY-----\n${lines.join('\n')}\n-----END RSA PRIVATE KEY-----\n`;
    const masked = inPieces(text.match(/[\s\S]{1,50}/g) ?? []);
    expect(lines.filter((line) => masked.includes(line))).toEqual([]);
  });

  it('know their keys, however many other streams there are', () => {
    const stream = redactor.stream();
    let masked = stream.write('password:\n');
    for (let i = 0; i < 10_001; i++) redactor.stream().write('password:\n');
    masked += stream.write('  Tr0ub4dor&3\n') + stream.end();
    expect(masked).toBe('password:\n  <:password:>\n');
  });

  it('are counted once', () => {
    const own = createRedactor({ packs: 'all' });
    const stream = own.stream();
    stream.write('card 4111 1111 1111 1111 was paid\n');
    expect(own.report().masked).toEqual({ 'pii/payment:card': 1 });
  });
});

describe('an ordinary text', () => {
  const PROSE =
    'The engine reads what the collectors emit, and hands it on to the processors in the order in which it came. ' +
    'Nothing is lost when a forwarder is slow, because the window has a size, and the collectors wait until there is room again. ' +
    'Whoever wants to know more of this may read the pages about delivery, which say what is promised and what is not. ';

  it('leaves at once, but for the word that is not complete', () => {
    const stream = redactor.stream();
    let sent = '';
    for (const piece of PROSE.match(/.{1,20}/g) ?? []) {
      sent += stream.write(piece);
      expect(stream.held).toBeLessThan(20);
    }
    expect(sent + stream.end()).toBe(PROSE);
  });

  it('leaves character by character in scripts without spaces', () => {
    const text = '日志由收集器读取，然后按顺序交给处理器，没有任何内容会丢失。'.repeat(20);
    const stream = redactor.stream();
    let sent = '';
    for (const piece of text.match(/.{1,4}/gu) ?? []) {
      sent += stream.write(piece);
      expect(stream.held).toBeLessThan(8);
    }
    expect(sent + stream.end()).toBe(text);
  });

  it('leaves within a piece in the middle: half of the characters wait for no other piece', () => {
    const texts = entriesOf('ordinary').map((entry) => sampleOf(entry, 0).text);
    const text = texts.filter((line) => line.length > 40).join('\n');
    const stream = redactor.stream();
    const waits: number[] = [];
    let left = 0;
    const SIZE = 20;
    for (let at = 0; at < text.length; at += SIZE) {
      stream.write(text.slice(at, at + SIZE));
      const gone = Math.min(text.length, at + SIZE) - stream.held;
      for (; left < gone; left++) waits.push((at - Math.floor(left / SIZE) * SIZE) / SIZE);
    }
    waits.sort((a, b) => a - b);
    expect(waits[waits.length >> 1]).toBeLessThanOrEqual(2);
  });
});
