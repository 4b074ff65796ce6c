import { compileMaskRules } from '../../operators/masks/compile-mask-rules.ts';
import { ordinaryLines } from '../../plugins/pack-tests/ordinary-lines.ts';
import { fill, Random, type Sample } from '../../plugins/pack-tests/templates.ts';
import { DEFAULT_PACKS, loadPack, packNames } from '../../plugins/packs/load-packs.ts';
import { CONTEXTS, type Context, inContext } from './contexts.ts';
import { rulesOf } from './packs.ts';
import { validSample } from './samples.ts';

/*
 * The figures of docs/redaction.md: what the packs find in generated lines with secrets, and how many ordinary lines
 * they alter. Everything depends on the seed only.
 */

const SEED = 20;
export const ORDINARY_LINES = 32_000;
const SAMPLES_OF_RULE = 20;
const SAMPLES_OF_CONTEXT = 500;

export const PASSWORD_NAMES = [
  'password',
  'DB_PASSWORD',
  'dbPassword',
  'passwd',
  'user_pwd',
  'admin.password',
  'smtp-password',
  'MYSQL_ROOT_PASSWORD',
  'keystorePassword',
];
export const PASSWORDS = ['{password}', '{symbols:16}', '{alnum:12}', '{alnum:24}'];
export const TOKEN_NAMES = [
  'token',
  'access_token',
  'refreshToken',
  'api_key',
  'apiKey',
  'API-KEY',
  'auth_token',
  'GITHUB_TOKEN',
  'client_secret',
  'clientSecret',
  'AWS_SECRET_ACCESS_KEY',
  'secret_key',
  'private_key',
  'session_id',
  'csrf_token',
  'signature',
  'encryption_key',
  'secret',
  'SECRET_KEY_BASE',
  'webhook_secret',
];
export const TOKENS = [
  '{hex:32}',
  '{hex:64}',
  '{alnum:20}',
  '{alnum:40}',
  '{b64:43}=',
  '{b64url:43}',
  '{uuid}',
  '{jwt}',
  '{BASE36:26}',
  '{base36:32}',
];

/** What a mask made of lines with one secret each. */
export interface Figures {
  readonly samples: number;
  /** Lines of which no six characters of the secret are left, or fewer if it is shorter. */
  readonly found: number;
  /** Lines in which exactly the secret was replaced. */
  readonly exact: number;
  /** Lines in which anything was replaced. */
  readonly altered: number;
}

type Mask = (text: string) => string;

const maskOfPacks = (packs: readonly string[]): Mask => compileMaskRules(rulesOf(packs)).mask;

export function figuresOf(samples: readonly Sample[], mask: Mask): Figures {
  const results = samples.map((sample) => {
    const masked = mask(sample.text);
    const isExact = masked.replace(/<:[^:>]*:>/g, '\0') === withoutSecrets(sample);
    const isFound = isExact || !sample.spans.some((span) => leaves(masked, sample.text.slice(...span)));
    return { isExact, isFound, isAltered: masked !== sample.text };
  });
  return {
    samples: samples.length,
    found: results.filter(({ isFound }) => isFound).length,
    exact: results.filter(({ isExact }) => isExact).length,
    altered: results.filter(({ isAltered }) => isAltered).length,
  };
}

function leaves(masked: string, secret: string): boolean {
  const length = Math.min(6, secret.length);
  const starts = Array.from({ length: secret.length - length + 1 }, (_, i) => i);
  return starts.some((start) => masked.includes(secret.slice(start, start + length)));
}

function withoutSecrets({ text, spans }: Sample): string {
  return spans.reduceRight((rest, [start, end]) => `${rest.slice(0, start)}\0${rest.slice(end)}`, text);
}

/** Lines with secrets behind a name, in one context. */
export function namedSecrets(context: Context, count: number, seed: number): Sample[] {
  const r = new Random(seed);
  return Array.from({ length: count }, (_, i) => {
    const isPassword = i % 3 === 0 && context !== 'header';
    const value = fill(r.pick(isPassword ? PASSWORDS : TOKENS), r).text;
    const secret = context === 'URL query' ? encodeURIComponent(value) : value;
    return inContext(context, r.pick(isPassword ? PASSWORD_NAMES : TOKEN_NAMES), secret, r);
  });
}

/** Values of every rule of a pack, as their templates have them. */
function samplesOf(pack: string): Sample[] {
  const r = new Random(SEED);
  return rulesOf([pack]).flatMap((rule) => {
    const templates = loadPack(pack).rules[rule.name.slice(pack.length + 1)]?.tests.matches ?? [];
    return Array.from({ length: SAMPLES_OF_RULE }, (_, i) =>
      validSample(templates[i % templates.length] as string, rule, r),
    );
  });
}

/** Tokens of providers that stand in a line without a name. */
function bareTokens(): Sample[] {
  const r = new Random(SEED);
  return samplesOf('secrets/providers')
    .filter(({ text, spans: [span] }) => span?.[0] === 0 && span[1] === text.length)
    .map(({ text }) => inContext('bare', '', text, r));
}

const percent = (part: number, whole: number) => `${((part / whole) * 100).toFixed(1)} %`;

const row = (...cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |`;

const shares = ({ samples, found, exact, altered }: Figures) =>
  [samples, percent(found, samples), percent(exact, altered)] as const;

/** The figures as the tables of docs/redaction.md. */
export function tables(): string {
  const ordinary = ordinaryLines(ORDINARY_LINES, SEED);
  const altered = (mask: Mask) => ordinary.filter((line) => mask(line) !== line).length;
  const packs = packNames().map((pack) => {
    const mask = maskOfPacks([pack]);
    const rules = Object.keys(loadPack(pack).rules).length;
    return row(`\`${pack}\``, rules, ...shares(figuresOf(samplesOf(pack), mask)), altered(mask));
  });
  const mask = maskOfPacks(DEFAULT_PACKS);
  const contexts = (Object.keys(CONTEXTS) as Context[]).map((context) =>
    context === 'bare'
      ? row('bare, tokens of providers', ...shares(figuresOf(bareTokens(), mask)))
      : row(context, ...shares(figuresOf(namedSecrets(context, SAMPLES_OF_CONTEXT, SEED), mask))),
  );
  return [
    row('Pack', 'Rules', 'Values', 'Recall', 'Precision', `Ordinary lines altered, of ${ORDINARY_LINES}`),
    row('---', '---:', '---:', '---:', '---:', '---:'),
    ...packs,
    '',
    row('Context, with the default packs', 'Secrets', 'Recall', 'Precision'),
    row('---', '---:', '---:', '---:'),
    ...contexts,
  ].join('\n');
}
