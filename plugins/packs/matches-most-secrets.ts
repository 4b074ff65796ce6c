import { compileGuard } from '../../operators/internal-masks.ts';

/** Secrets of several kinds. What matches most of them is no form of values that are no secrets. */
const RANDOM_SECRETS = [
  ...[
    'q8Zk2mVx7LpR4tYw9BnC3dFg',
    'T#9vK!2mQz$7Lw',
    'KZQVXWJHPTBM2F7GDY34',
    'b7f3e09ac41d5826907fd3b1e8a6c245',
  ],
  ...['hJ-48x_QmZ0vT6yRkLw1nBc', 'w9XrT+/4kLmPqZ7vB2nHsD==', 'Tr0ub4dor&3x', '83-kWq.Zt71-Lx'],
];
const MOST = 0.6;
/** A guard holds after every name, so fewer are too many. */
const MOST_OF_GUARD = 0.3;

/** Whether a test for values that are no secrets would accept most secrets, so that hardly anything would be masked. */
export function matchesMostSecrets(isNoSecret: (value: string) => boolean, most = MOST): boolean {
  return RANDOM_SECRETS.filter(isNoSecret).length >= most * RANDOM_SECRETS.length;
}

/** Lines with a secret in the commonest notations. */
const LINES = [
  ...['password=VALUE', 'password: VALUE', "password = 'VALUE'", '{"user":"x","token": "VALUE","y":1}'],
  ...['"password":"VALUE"', 'login --password VALUE', 'GET /x?token=VALUE&y=1', 'token=VALUE; path=/'],
  ...['postgres://app:VALUE@db/main', 'the password is VALUE now', 'Authorization: Bearer VALUE'],
];

/** A line of one of the commonest notations in which a guard leaves many secrets. Undefined if there is none. */
export function lineWithoutMasks(guard: Parameters<typeof compileGuard>[0]): string | undefined {
  const { before, after, value: whole } = compileGuard(guard);
  const matchesAt = (expression: RegExp | undefined, text: string, at: number) => {
    if (expression === undefined) return true;
    expression.lastIndex = at;
    return expression.test(text);
  };
  return LINES.find((line) =>
    matchesMostSecrets((value) => {
      const start = line.indexOf('VALUE');
      const text = line.replace('VALUE', () => value);
      return (
        matchesAt(whole, value, 0) &&
        matchesAt(before, text, start) &&
        matchesAt(after, text, start + value.length)
      );
    }, MOST_OF_GUARD),
  );
}
