import { isMapping, type Path } from './problem.ts';

/** Names of parameters whose values are secret. */
const SECRETIVE =
  /^(?:.*[-_.])?(?:pass|password|passwd|pwd|secret|token|auth|authorization|credentials?|signature|sig|api[-_]?key|access[-_]?key|secret[-_]?key)$|^(?:key|apikey|apitoken|accesstoken)$/i;

interface UrlSecret {
  readonly path: Path;
  /** Where in the URL it is, for messages. */
  readonly name: string;
  readonly value: string;
}

/**
 * The secrets in the URLs of a configuration: passwords, and parameters whose names say that they are secret.
 *
 * @example
 * urlSecretsIn({ url: 'https://ada:hunter2@example.com/?token=t0ken&page=2' }).map(({ value }) => value); // ['hunter2', 't0ken']
 */
export function urlSecretsIn(value: unknown, path: Path = []): UrlSecret[] {
  if (typeof value === 'string') return secretsOf(value).map((secret) => ({ path, ...secret }));
  if (Array.isArray(value)) return value.flatMap((item, index) => urlSecretsIn(item, [...path, index]));
  if (!isMapping(value) || ![Object.prototype, null].includes(Object.getPrototypeOf(value))) return [];
  return Object.entries(value).flatMap(([key, item]) => urlSecretsIn(item, [...path, key]));
}

function secretsOf(text: string): Omit<UrlSecret, 'path'>[] {
  if (!/^[a-z][a-z\d+.-]*:\/\//i.test(text) || !URL.canParse(text)) return [];
  const { password, searchParams } = new URL(text);
  const parameters = [...searchParams].filter(([name, value]) => SECRETIVE.test(name) && value !== '');
  return [
    ...(password === '' ? [] : [{ name: 'the password', value: decoded(password) }]),
    ...parameters.map(([name, value]) => ({ name: `\`${name}\``, value })),
  ];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
