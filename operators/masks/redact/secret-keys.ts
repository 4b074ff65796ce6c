import { LruMap } from '../../support/lru-map.ts';

/** What the last words of a key say if its value is a secret. Written without separators. */
const SECRET =
  /(?:^|\|)(?:password|passwd|passwort|pwd|pass|passphrase|passcode|secret|secrets|credential|credentials|authorization|(?:api|app|application|access|account|auth|client|consumer|encryption|hmac|master|private|root|secret|service|session|shared|signing|ssh|stripe|subscription|webhook)\|?key|(?:access|api|app|auth|bearer|bot|client|csrf|deploy|id|identity|jwt|login|oauth|personal|refresh|secret|security|service|session|sso|user|webhook|xsrf)\|?token|token|jwt|cookie|cookies|(?:connection|conn)\|?string|otp|totp|pin\|?code|cvv|cvc)$/;
/** Ends as a secret does, and is none. */
const ORDINARY =
  /(?:^|\|)(?:public\|key|(?:page|next|continuation|cancellation|sync|next\|page|previous|pagination|cursor)\|token|(?:no|without|missing|bad|wrong|invalid|has|is|use|uses|require|requires|with)\|[a-z|]+)$/;

/** Keys of events come again and again. */
const known = new LruMap<string, boolean>(1000);
const LONGEST_KEY = 100;

/**
 * Whether the key of a field says that its value is a secret, whatever its style of writing: `password`,
 * `X-Api-Key`, `dbPassword`, `CLIENT_SECRET`, `user.accessToken`.
 *
 * @example
 * isSecretKey('clientSecret'); // true
 * isSecretKey('password_reset_url'); // false
 * isSecretKey('next_page_token'); // false
 */
export function isSecretKey(key: string): boolean {
  const found = known.get(key);
  if (found !== undefined) return found;
  const isSecret = key.length <= LONGEST_KEY && judge(key);
  if (key.length <= LONGEST_KEY) known.set(key, isSecret);
  return isSecret;
}

function judge(key: string): boolean {
  const words = key
    // dbPassword, DBPassword, apiKEY
    .replace(/([a-z0-9])([A-Z])/g, '$1|$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1|$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '|')
    // password2, token_1
    .replace(/\|?\d*\|?$/, '');
  return SECRET.test(words) && !ORDINARY.test(words);
}
