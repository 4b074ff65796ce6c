import { type Issue, issuePath, jsonSchemaOf } from '../sdk/checks/apply-schema.ts';
import { isMapping, type Path } from '../sdk/checks/problem.ts';
import { urlSecretsIn } from '../sdk/checks/url-secrets.ts';
import type { ConfigSchema } from '../sdk/plugin.ts';
import { secretsIn } from '../sdk/secret.ts';
import type { MergedConfig } from './merged-config.ts';

/** Names of settings whose values are secret even where literal values are usual, such as among headers. */
const SECRETIVE = /pass|pwd|secret|token|key|credential|auth|cookie|bearer/i;

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
 * Keeps out of messages what may be a secret in an entry that its schema refuses, or that has none: what is written where the schema has
 * secrets, also in another form, or under a name that it does not know; and what it refuses by an issue with
 * `params: { secret: true }`, such as a URL with a password.
 */
export function hideSecrets(
  schema: ConfigSchema | undefined,
  issues: readonly Issue[],
  model: unknown,
  entry: Path,
  config: MergedConfig,
): void {
  for (const path of suspectPlaces(schema && jsonSchemaOf(schema), model, entry)) config.hideSecret(path);
  for (const path of secretIssues(issues, entry)) config.hideSecret(path);
}

/**
 * Keeps out of messages what may be a secret in an entry, as far as this can be told without a schema: what is under a
 * name such as `password`, text such as `user:password@host`, which a URL with a mistake has too, and text such as
 * `"api_key": `, which expressions have.
 */
export function hideSuspects(model: unknown, entry: Path, config: MergedConfig): void {
  for (const path of credentialsIn(model, entry)) config.hideSecret(path);
}

/**
 * Keeps expressions of CEL out of messages that may have a secret in them, in an entry that is valid or not: those of settings whose
 * schema says so, and others with a word such as `token`. What is made of lower-case letters is no secret but a name.
 */
export function hideExpressions(
  schema: ConfigSchema,
  model: unknown,
  entry: Path,
  config: MergedConfig,
): void {
  for (const path of secretExpressions(jsonSchemaOf(schema), model, entry)) config.hideSecret(path);
}

function secretExpressions(schema: unknown, value: unknown, path: Path): Path[] {
  const known = alternativesOf(schema).filter(isMapping);
  if (typeof value === 'string') {
    const isSecret = known.some(
      ({ format, mayHoldSecret }) => mayHoldSecret === true || (format === 'cel' && SECRETIVE.test(value)),
    );
    return isSecret && !/^[a-z_]*$/.test(value) ? [path] : [];
  }
  return childrenOf(value, path).flatMap(([item, below]) =>
    known.flatMap((one) => {
      const inside = schemaBelow(one, below.at(-1) as string | number);
      return inside === undefined ? [] : secretExpressions(inside, item, below);
    }),
  );
}

/** A user and a password in front of a host. A URL that does not parse cannot be searched in a better way. */
const CREDENTIALS = /[\w/]:.+@/s;

/** Whether a line of YAML may hold a secret. There is no better way to tell while a file cannot be parsed. */
export const mayHoldSecret = (line: string): boolean =>
  [SECRET_SETTING, EXPRESSION_SETTING, CREDENTIALS].some((sign) => sign.test(line));

/** Settings with expressions that may have keys of an API in them. */
const EXPRESSION_SETTING = /\b(?:cel|payload|body|failed_items)["']?\s*:/;

const SECRET_SETTING = new RegExp(`(?:${SECRETIVE.source})[\\w-]*["']?\\s*:`, 'i');

function credentialsIn(value: unknown, path: Path): Path[] {
  if (typeof value === 'string') {
    return CREDENTIALS.test(value) || SECRET_SETTING.test(value) ? [path] : [];
  }
  return childrenOf(value, path).flatMap(([item, below]) => credentialsIn(item, below));
}

/** Where a value has secrets by its schema, and where it may have them because it is not what the schema expects. */
function suspectPlaces(schema: unknown, value: unknown, path: Path): Path[] {
  if (value === undefined) return [];
  const known = alternativesOf(schema).filter(isMapping);
  if (known.some(({ writeOnly }) => writeOnly === true)) return scalarPlaces(value, path);
  const isMisplaced = !known.some((alternative) => fits(alternative, value));
  if (isMisplaced && known.some(holdsSecret)) return scalarPlaces(value, path);
  const hasSecretNames = known.some(({ properties }) => isMapping(properties) && hasSecret(properties));
  return childrenOf(value, path).flatMap(([item, below]) => {
    const key = below.at(-1) as string | number;
    const inside = known
      .map((alternative) => schemaBelow(alternative, key))
      .filter((one) => one !== undefined);
    if (inside.length > 0) return inside.flatMap((one) => suspectPlaces(one, item, below));
    const isSuspect = hasSecretNames || (typeof key === 'string' && SECRETIVE.test(key));
    return isSuspect ? scalarPlaces(item, below) : suspectPlaces(undefined, item, below);
  });
}

function alternativesOf(schema: unknown): unknown[] {
  if (!isMapping(schema)) return [];
  const alternatives = [schema.anyOf, schema.oneOf, schema.allOf].flatMap((list) =>
    Array.isArray(list) ? list : [],
  );
  return [schema, ...alternatives.flatMap(alternativesOf)];
}

function schemaBelow(
  { items, properties, additionalProperties }: Record<string, unknown>,
  key: string | number,
) {
  if (typeof key === 'number') return items;
  if (isMapping(properties) && Object.hasOwn(properties, key)) return properties[key];
  return isMapping(additionalProperties) ? additionalProperties : undefined;
}

function fits({ type }: Record<string, unknown>, value: unknown): boolean {
  if (Array.isArray(value)) return type === 'array';
  return isMapping(value) ? type === 'object' : type !== undefined && type !== 'array' && type !== 'object';
}

const hasSecret = (properties: Record<string, unknown>): boolean =>
  Object.values(properties).some((property) =>
    alternativesOf(property).some((one) => isMapping(one) && one.writeOnly === true),
  );

function holdsSecret(schema: unknown): boolean {
  if (!isMapping(schema)) return false;
  if (schema.writeOnly === true) return true;
  const { anyOf, oneOf, allOf, items, properties, additionalProperties } = schema;
  const below = [
    anyOf,
    oneOf,
    allOf,
    items,
    additionalProperties,
    isMapping(properties) && Object.values(properties),
  ];
  return below.flat().some(holdsSecret);
}

function scalarPlaces(value: unknown, path: Path): Path[] {
  const below = childrenOf(value, path).flatMap(([item, inside]) => scalarPlaces(item, inside));
  return [path, ...below];
}

function childrenOf(value: unknown, path: Path): [value: unknown, path: Path][] {
  if (Array.isArray(value)) return value.map((item, index) => [item, [...path, index]]);
  return isMapping(value) ? Object.entries(value).map(([key, item]) => [item, [...path, key]]) : [];
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
