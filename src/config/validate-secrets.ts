import { type Issue, issuePath, jsonSchemaOf } from '../sdk/checks/apply-schema.ts';
import { isMapping, type Path } from '../sdk/checks/problem.ts';
import { urlSecretsIn } from '../sdk/checks/url-secrets.ts';
import type { ConfigSchema } from '../sdk/plugin.ts';
import { secretsIn } from '../sdk/secret.ts';
import type { MergedConfig } from './merged-config.ts';

/** Names of settings whose values are secret even where literal values are usual, such as among headers. */
const SECRETIVE = /pass|secret|token|key|credential|auth|cookie/i;

/** Keeps the secrets of a valid entry out of messages, and warns of literal ones and of those that cannot be read. */
export function checkSecrets(
  data: Readonly<Record<string, unknown>>,
  entry: Path,
  config: MergedConfig,
  schema: () => ConfigSchema,
): void {
  const secrets = secretsIn(data, entry);
  if (secrets.length === 0) return;
  const mayBeLiteral = usuallyLiteral(schema(), data, entry);
  for (const { path, secret } of secrets) {
    config.hideSecret(path);
    const warn = (message: string) => config.add({ path, severity: 'warning', message });
    if (!secret.isLiteral) {
      const problem = secret.problem();
      if (problem === undefined) continue;
      if (config.requiresVariables && secret.isVariable)
        config.add({ path, message: problem, foreign: true });
      else warn(problem);
    } else if (!mayBeLiteral(path) && config.isLiteral(path, secret.read())) {
      warn('a secret is written literally; write `{ env: NAME }` or `{ file: path }`, and change the secret');
    }
  }
}

/**
 * Keeps secrets that are parts of URLs out of messages, and warns of literal ones. They are found in the entry of any
 * plugin, as it is written.
 */
export function checkUrlSecrets(model: unknown, entry: Path, config: MergedConfig): void {
  for (const { path, name, value } of urlSecretsIn(model, entry)) {
    config.hideSecret(path);
    if (!config.isLiteral(path, value)) continue;
    const message = `${name} in the URL is a secret that is written literally; use a setting for secrets or \`\${NAME}\` in its place, and change the secret`;
    config.add({ path, severity: 'warning', message });
  }
}

/**
 * Keeps what is written where a schema has secrets out of messages, for an entry that the schema refuses; and what it
 * refuses by an issue with `params: { secret: true }`, such as a URL with a password.
 */
export function hideSecrets(
  schema: ConfigSchema,
  issues: readonly Issue[],
  model: unknown,
  entry: Path,
  config: MergedConfig,
): void {
  for (const { path } of secretPlaces(jsonSchemaOf(schema), model, entry)) config.hideSecret(path);
  for (const path of secretIssues(issues, entry)) config.hideSecret(path);
}

function secretIssues(issues: readonly Issue[], base: Path): Path[] {
  return issues.flatMap((issue) => {
    const path = [...base, ...issuePath(issue)];
    const isAboutSecret = isMapping(issue.params) && issue.params.secret === true;
    const branches: readonly (readonly Issue[])[] = Array.isArray(issue.errors) ? issue.errors : [];
    return [...(isAboutSecret ? [path] : []), ...branches.flatMap((branch) => secretIssues(branch, path))];
  });
}

function usuallyLiteral(schema: ConfigSchema, data: unknown, entry: Path): (path: Path) => boolean {
  const places = secretPlaces(jsonSchemaOf(schema), data, entry);
  const usual = new Set(
    places
      .filter(({ path, isUsual }) => isUsual && !SECRETIVE.test(String(path.at(-1))))
      .map(({ path }) => path.join('\n')),
  );
  return (path) => usual.has(path.join('\n'));
}

interface SecretPlace {
  readonly path: Path;
  /** A literal value is usual here. */
  readonly isUsual: boolean;
}

/** The places of a value where its schema has secrets, in all alternatives. */
function secretPlaces(schema: unknown, value: unknown, path: Path): SecretPlace[] {
  if (!isMapping(schema) || value === undefined) return [];
  if (schema.writeOnly === true) return [{ path, isUsual: schema.mayBeLiteral === true }];
  const alternatives = [schema.anyOf, schema.oneOf, schema.allOf].flatMap((list) =>
    Array.isArray(list) ? list.flatMap((alternative) => secretPlaces(alternative, value, path)) : [],
  );
  if (Array.isArray(value)) {
    return value.flatMap((item, index) => secretPlaces(schema.items, item, [...path, index]));
  }
  if (!isMapping(value)) return alternatives;
  const properties = isMapping(schema.properties) ? schema.properties : {};
  const below = Object.entries(value).flatMap(([key, item]) => {
    const property = Object.hasOwn(properties, key) ? properties[key] : schema.additionalProperties;
    return secretPlaces(property, item, [...path, key]);
  });
  return [...alternatives, ...below];
}
