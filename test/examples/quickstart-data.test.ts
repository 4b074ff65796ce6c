import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { load } from 'js-yaml';

const EXAMPLES = resolve(import.meta.dirname, '../../examples');
const DATA = join(EXAMPLES, 'data');

interface Secret {
  readonly kind: string;
  readonly value: string;
  readonly count: number;
}
interface Quickstart {
  readonly processors: { readonly known_secrets: { readonly rules: Readonly<Record<string, string>> } };
}

const log = readFileSync(join(DATA, 'access.log'));
const text = log.toString('utf8');
const lines = text.split(/\r?\n/).slice(0, -1);
const planted: { lines: number; secrets: Secret[] } = JSON.parse(
  readFileSync(join(DATA, 'planted.json'), 'utf8'),
);
const { rules } = (load(readFileSync(join(EXAMPLES, 'quickstart.yaml'), 'utf8')) as Quickstart).processors
  .known_secrets;

/** The design's index, for tokens of any length and the default alphabet. */
function entropyIndex(token: string): number {
  const alphabet = /[a-zA-Z0-9+/=]/;
  const term = (n: number) => (n === 0 ? 0 : -(n / token.length) * Math.log(n / token.length));
  const entropy = [...new Set(token)]
    .filter((character) => alphabet.test(character))
    .reduce((sum, character) => sum + term(token.split(character).length - 1), 0);
  const rest = token.length % 65;
  const quotient = (token.length - rest) / 65;
  return entropy / (rest * term(quotient + 1) + (65 - rest) * term(quotient));
}

describe('examples/data', () => {
  it('is what generate.mjs writes, byte for byte', () => {
    const folder = mkdtempSync(join(tmpdir(), 'millrace-data-'));
    try {
      execFileSync(process.execPath, [join(DATA, 'generate.mjs'), folder]);
      for (const file of ['access.log', 'planted.json']) {
        expect(readFileSync(join(folder, file)).equals(readFileSync(join(DATA, file)))).toBe(true);
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('has 2,000 lines or more, in less than 700 kB', () => {
    expect(lines).toHaveLength(planted.lines);
    expect(planted.lines).toBeGreaterThanOrEqual(2000);
    expect(log.length).toBeLessThan(700_000);
  });

  it('has lines that are hard to read: not UTF-8, NUL, long, empty, CRLF', () => {
    expect(lines.filter((line) => line.includes('\ufffd'))).toHaveLength(1);
    expect(lines.filter((line) => line.includes('\0'))).toHaveLength(1);
    expect(lines.filter((line) => line.length > 20_000)).toHaveLength(1);
    expect(lines.filter((line) => line === '')).toHaveLength(1);
    expect(text.match(/\r\n/g)).toHaveLength(1);
  });

  it('runs forward in time, over hours', () => {
    const times = lines.filter(Boolean).map((line) => {
      const time = /\[12\/Mar\/2026:(\d\d):(\d\d):(\d\d) \+0000\]/.exec(line)?.slice(1).map(Number);
      if (time === undefined) throw new Error(`no time: ${line.slice(0, 100)}`);
      return time.reduce((sum, part) => sum * 60 + part);
    });
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeGreaterThan(4 * 3600);
  });

  it('holds every planted secret as often as planted.json says', () => {
    const found = planted.secrets.map((secret) => ({
      ...secret,
      count: text.split(secret.value).length - 1,
    }));
    expect(planted.secrets).toEqual(found);
  });

  it('has no secret inside another, so that counting them is searching for them', () => {
    const values = planted.secrets.map(({ value }) => value);
    expect(values.filter((value) => values.filter((other) => other.includes(value)).length > 1)).toEqual([]);
  });
});

describe('examples/quickstart.yaml', () => {
  const count = new Map<string, number>();
  const mask = (kind: string) => {
    count.set(kind, (count.get(kind) ?? 0) + 1);
    return `<:${kind}:>`;
  };
  const masked = lines.map((line) =>
    Object.entries(rules)
      .reduce(
        (rest, [name, rule]) => rest.replace(new RegExp(rule, 'g'), () => mask(name)),
        line.replaceAll('%40', '@'), // redact reads both
      )
      .split(' ')
      .map((token) => (token.length >= 16 && entropyIndex(token) >= 0.9 ? mask('HIGH-ENTROPY') : token))
      .join(' '),
  );

  it('masks what is planted and nothing else', () => {
    const expected = planted.secrets.reduce(
      (rest, { kind, value }) => rest.replaceAll(value, `<:${kind}:>`),
      text,
    );
    expect(masked).toEqual(expected.split(/\r?\n/).slice(0, -1));
  });

  it('names its rules after the kinds, and masks each as often as it is planted', () => {
    const wanted = new Map<string, number>();
    for (const { kind, count } of planted.secrets) wanted.set(kind, (wanted.get(kind) ?? 0) + count);
    expect(count).toEqual(wanted);
    expect([...wanted.keys()].sort()).toEqual([...Object.keys(rules), 'HIGH-ENTROPY'].sort());
  });

  it('is what millrace makes of it, by npm start', () => {
    const inRoot = { cwd: resolve(EXAMPLES, '..'), encoding: 'utf8' } as const;
    execFileSync('npm', ['start'], { ...inRoot, stdio: 'pipe' });
    const printed = execFileSync(process.execPath, ['.ci/check-quickstart.mjs'], inRoot);
    expect(printed).toContain(`${lines.length} lines in, ${lines.length} out`);
  });
});
