import { applyRulesInOrder, type MaskRule } from '../../operators/masks/mask-rule.ts';
import { CONTEXTS, type Context, inContext } from './contexts.ts';

import { rulesOf } from './packs.ts';
import { fill, Random, type Sample } from './templates.ts';

const PASSWORD_NAMES =
  'password DB_PASSWORD dbPassword passwd user_pwd admin.password smtp-password MYSQL_ROOT_PASSWORD keystorePassword'.split(
    ' ',
  );
const TOKEN_NAMES =
  'token access_token refreshToken api_key apiKey API-KEY auth_token GITHUB_TOKEN client_secret clientSecret AWS_SECRET_ACCESS_KEY secret_key private_key session_id csrf_token signature encryption_key secret SECRET_KEY_BASE webhook_secret'.split(
    ' ',
  );
const PASSWORDS = ['{password}', '{symbols:16}', '{alnum:12}', '{alnum:24}'];
const TOKENS = [
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

export interface Figures {
  readonly samples: number;
  /** Lines of which no six characters of the secret are left. */
  readonly gone: number;
  /** Lines in which exactly the secret was replaced. */
  readonly exact: number;
  /** Lines in which anything was replaced. */
  readonly altered: number;
}

export function figures(
  samples: readonly Sample[],
  rules: readonly MaskRule[],
  onMiss?: (sample: Sample, masked: string) => void,
): Figures {
  let gone = 0;
  let exact = 0;
  let altered = 0;
  for (const sample of samples) {
    const masked = applyRulesInOrder(sample.text, rules);
    const isGone = !sample.spans.some(([start, end]) =>
      fragments(sample.text.slice(start, end)).some((part) => masked.includes(part)),
    );
    const isExact = masked.replace(/<:[^:>]*:>/g, '\0') === withoutSpans(sample);
    if (isGone) gone++;
    if (isExact) exact++;
    if (masked !== sample.text) altered++;
    if (!isGone || !isExact) onMiss?.(sample, masked);
  }
  return { samples: samples.length, gone, exact, altered };
}

function fragments(secret: string): string[] {
  const length = Math.min(6, secret.length);
  return Array.from({ length: secret.length - length + 1 }, (_, i) => secret.slice(i, i + length));
}

function withoutSpans({ text, spans }: Sample): string {
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

if (process.argv[2] === 'try') {
  const rules = rulesOf(['secrets/context']);
  for (const context of Object.keys(CONTEXTS) as Context[]) {
    if (context === 'bare') continue;
    let shown = 0;
    const f = figures(namedSecrets(context, 1000, Number(process.argv[3] ?? 1)), rules, (s, m) => {
      if (shown++ < Number(process.argv[4] ?? 6)) console.log('   ', s.text, '\n      ->', m);
    });
    console.log(context, f);
  }
}
