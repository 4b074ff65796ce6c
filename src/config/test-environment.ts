import { isMapping, type Path } from '../checks/path.ts';
import type { Environment } from './environment.ts';

/** The environment variables that hold at a path of a file. */
export type EnvironmentAt = (path: Path) => Environment;

/** The variables of an `env` mapping, as text; those that are no scalars are left to the schema. */
export function variablesIn(value: unknown): Environment {
  if (!isMapping(value)) return {};
  const isScalar = (item: unknown) => ['string', 'number', 'boolean'].includes(typeof item);
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, item]) => (isScalar(item) ? [[name, String(item)]] : [])),
  );
}

/**
 * Inside a test its own variables (`env`, and that of its file) come before those of the process. Undefined if no
 * test of the file brings any.
 *
 * @param value the file as it is without them
 */
export function testEnvironments(value: unknown, env: Environment): EnvironmentAt | undefined {
  if (!isMapping(value) || !isMapping(value.tests)) return undefined;
  const shared = variablesIn(value.env);
  const own = new Map(
    Object.entries(value.tests).map(([name, test]) => {
      const variables = { ...shared, ...variablesIn(isMapping(test) ? test.env : undefined) };
      return [name, Object.keys(variables).length === 0 ? env : { ...env, ...variables }];
    }),
  );
  if ([...own.values()].every((variables) => variables === env)) return undefined;
  return ([section, test, key]) =>
    section === 'tests' && key !== 'env' ? (own.get(String(test)) ?? env) : env;
}
