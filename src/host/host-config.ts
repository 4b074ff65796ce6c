import { hostname } from 'node:os';
import * as z from 'zod';
import { applySchema } from '../checks/apply-schema.ts';
import { explainIssue } from '../checks/explain-issue.ts';
import { knownKeys } from '../checks/known-keys.ts';
import type { Mistake } from '../checks/mistake.ts';
import { isMapping, type Path, valueAt } from '../checks/path.ts';
import { describeValue, nameListing } from '../checks/wording.ts';
import { nearest } from '../sdk/nearest.ts';
import type { ConfigMistake, ConfigSchema } from '../sdk/plugin.ts';
import type { ConfiguredBeacon } from './beacons/beacon.ts';
import { builtInBeacons } from './beacons/index.ts';

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
  /** From namespace to module. */
  readonly functions: Readonly<Record<string, string>>;
}

/** Reads `host_config`. What is wrong is left out of the settings and told in the mistakes. */
export function readHostConfig(hostConfig: Input): {
  readonly settings: HostSettings;
  readonly mistakes: readonly ConfigMistake[];
} {
  const { data, mistakes } = check(HostConfig, hostConfig, []);
  const { id = hostname(), role = 'standalone' } = (data ?? {}) as z.output<typeof HostConfig>;
  const beacons = isMapping(hostConfig.beacons) ? readBeacons(hostConfig.beacons) : [];
  return {
    settings: {
      id,
      role,
      beacons: beacons.flatMap(({ beacon }) => (beacon === undefined ? [] : [beacon])),
      functions: readFunctions(hostConfig.functions),
    },
    mistakes: [...mistakes, ...beacons.flatMap((read) => read.mistakes)],
  };
}

/** The modules that can be loaded, so that their mistakes come together with those of the rest. */
function readFunctions(entries: unknown): Record<string, string> {
  if (!isMapping(entries)) return {};
  const usable = (entry: [string, unknown]): entry is [string, string] =>
    !entry[0].startsWith('_') && typeof entry[1] === 'string' && entry[1] !== '';
  return Object.fromEntries(Object.entries(entries).filter(usable));
}

interface ReadBeacon {
  readonly beacon?: ConfiguredBeacon;
  readonly mistakes: readonly ConfigMistake[];
}

function readBeacons(entries: Input): ReadBeacon[] {
  return Object.entries(entries)
    .filter(([name]) => !name.startsWith('_'))
    .map(([name, entry]) => readBeacon(name, entry));
}

function readBeacon(name: string, entry: unknown): ReadBeacon {
  const path = ['beacons', name];
  const kind = builtInBeacons.get(name);
  if (kind === undefined) return { mistakes: [unknownBeacon(name, path)] };
  // `loadavg:` alone means all defaults.
  const input = entry ?? {};
  if (!isMapping(input)) {
    return {
      mistakes: [{ path, message: `found ${describeValue(entry)}; wanted a mapping of its settings` }],
    };
  }
  const { data, mistakes } = check(kind.schema, input, path);
  if (data === undefined) return { mistakes };
  const { interval } = data as { interval: number };
  return { beacon: { name, interval, readers: () => kind.readers(data as never) }, mistakes };
}

function unknownBeacon(name: string, path: Path): Mistake {
  const known = [...builtInBeacons.keys()];
  const suggestion = nearest(name, known);
  const message = `unknown beacon \`${name}\`; there are ${nameListing(known)}`;
  const mistake: Mistake = { path, message, at: 'key' };
  return suggestion === undefined ? mistake : { ...mistake, suggestion };
}

/** Applies a schema; what it refuses is told as the mistakes of a whole configuration are. */
function check(
  schema: ConfigSchema,
  input: Input,
  prefix: Path,
): { readonly data?: unknown; readonly mistakes: readonly ConfigMistake[] } {
  const result = applySchema(schema, input);
  if (result.success) return { data: result.data, mistakes: [] };
  const context = {
    prefix,
    input,
    knownKeys: (path: Path) => knownKeys(schema, path),
    describe: (path: Path) => describeValue(valueAt(input, path.slice(prefix.length))),
  };
  return { mistakes: result.issues.flatMap((issue) => explainIssue(issue, context)) };
}
