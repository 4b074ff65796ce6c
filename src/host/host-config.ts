import { hostname } from 'node:os';
import * as z from 'zod';
import { applySchema, explainIssue, knownKeys } from '../sdk/checks/apply-schema.ts';
import { describeValue, nameListing } from '../sdk/checks/describe.ts';
import type { Problem } from '../sdk/checks/problem.ts';
import { isMapping, type Path, valueAt } from '../sdk/checks/problem.ts';
import { nearest } from '../sdk/nearest.ts';
import type { ConfigProblem, ConfigSchema } from '../sdk/plugin.ts';
import { builtInBeacons, type ConfiguredBeacon } from './built-in-beacons.ts';

type Input = Readonly<Record<string, unknown>>;

/** What the standalone host reads of `host_config`; all else there is free form. */
const HostConfig = z.looseObject({
  id: z.string().min(1).optional(),
  role: z.string().min(1).optional(),
  beacons: z.record(z.string(), z.unknown()).nullish(),
  functions: z.record(z.string(), z.string().min(1)).nullish(),
});

export interface HostSettings {
  readonly id: string;
  readonly role: string;
  readonly beacons: readonly ConfiguredBeacon[];
  readonly functions: Readonly<Record<string, string>>;
}

/** Reads `host_config`. What is wrong is left out of the settings and told in the problems. */
export function readHostConfig(hostConfig: Input): {
  readonly settings: HostSettings;
  readonly problems: readonly ConfigProblem[];
} {
  const { data, problems } = check(HostConfig, hostConfig, []);
  const { id = hostname(), role = 'standalone' } = (data ?? {}) as z.output<typeof HostConfig>;
  const beacons = isMapping(hostConfig.beacons) ? readBeacons(hostConfig.beacons) : [];
  return {
    settings: {
      id,
      role,
      beacons: beacons.flatMap(({ beacon }) => (beacon === undefined ? [] : [beacon])),
      functions: readFunctions(hostConfig.functions),
    },
    problems: [...problems, ...beacons.flatMap((read) => read.problems)],
  };
}

/** The modules that can be loaded, so that their problems come together with those of the rest. */
function readFunctions(entries: unknown): Record<string, string> {
  if (!isMapping(entries)) return {};
  const usable = (entry: [string, unknown]): entry is [string, string] =>
    !entry[0].startsWith('_') && typeof entry[1] === 'string' && entry[1] !== '';
  return Object.fromEntries(Object.entries(entries).filter(usable));
}

interface ReadBeacon {
  readonly beacon?: ConfiguredBeacon;
  readonly problems: readonly ConfigProblem[];
}

function readBeacons(entries: Input): ReadBeacon[] {
  return Object.entries(entries)
    .filter(([name]) => !name.startsWith('_'))
    .map(([name, entry]) => readBeacon(name, entry));
}

function readBeacon(name: string, entry: unknown): ReadBeacon {
  const path = ['beacons', name];
  const kind = builtInBeacons.get(name);
  if (kind === undefined) return { problems: [unknownBeacon(name, path)] };
  // `loadavg:` alone means all defaults.
  const input = entry ?? {};
  if (!isMapping(input)) {
    return {
      problems: [{ path, message: `found ${describeValue(entry)}; expected a mapping of its settings` }],
    };
  }
  const { data, problems } = check(kind.schema, input, path);
  if (data === undefined) return { problems };
  const { interval } = data as { interval: number };
  return { beacon: { name, interval, readers: () => kind.readers(data as never) }, problems };
}

function unknownBeacon(name: string, path: Path): Problem {
  const known = [...builtInBeacons.keys()];
  const message = `unknown beacon \`${name}\`; there are ${nameListing(known)}`;
  return { path, message, at: 'key', suggestion: nearest(name, known) };
}

/** Applies a schema; what it refuses is told as the problems of a whole configuration are. */
function check(
  schema: ConfigSchema,
  input: Input,
  prefix: Path,
): { readonly data?: unknown; readonly problems: readonly ConfigProblem[] } {
  const result = applySchema(schema, input);
  if (result.success) return { data: result.data, problems: [] };
  const context = {
    prefix,
    input,
    knownKeys: (path: Path) => knownKeys(schema, path),
    describe: (path: Path) => describeValue(valueAt(input, path.slice(prefix.length))),
  };
  return { problems: result.issues.flatMap((issue) => explainIssue(issue, context)) };
}
