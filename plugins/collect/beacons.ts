import { map, type Observable } from 'rxjs';
import * as z from 'zod';
import { untilAborted } from '../../operators/index.ts';
import {
  type BeaconCollectedEvent,
  CollectConfigBase,
  type ConfigProblem,
  type Host,
  type HostEvent,
  isoNow,
  nearest,
  type PipelineRunContext,
  type PluginConfig,
} from '../../src/sdk/index.ts';

export const description = 'Collects the beacon events of the host: load, memory, disks, processes, files.';

export const example = `
machine:
  plugin: beacons
  beacons: [loadavg, '{mem,disk}usage']
`;

export const shownSettings = { beacons: '' };

export const traits = { usesState: false, waits: false };

/** docs/specification.md#27-collect-plugins-and-their-events. `beacons` are glob patterns over beacon names. */
export const BeaconsConfig = CollectConfigBase.extend({
  beacons: z.array(z.string()).describe('Names of beacons, or glob patterns of names.'),
});
export type BeaconsConfig = Readonly<z.output<typeof BeaconsConfig>>;

export function get_config_schema(): typeof BeaconsConfig {
  return BeaconsConfig;
}

/** Refuses a plain name that the host cannot publish. Of a glob pattern that cannot be said. */
export function checkConfig({
  config,
  host,
}: {
  config: BeaconsConfig;
  host: Host | undefined;
}): ConfigProblem[] {
  const known = host?.beacons?.();
  if (known === undefined) return [];
  return config.beacons.flatMap((name, index) => {
    if (!/^[\w-]+$/.test(name) || known.includes(name)) return [];
    const message = `this host has no beacon \`${name}\`; there are ${known.map((beacon) => `\`${beacon}\``).join(', ')}`;
    return [{ path: ['beacons', index], message, suggestion: nearest(name, known) }];
  });
}

/** Emits one event per beacon event of the host. Completes and errors as the host's event bus does. */
export function collect({
  ctx,
}: {
  ctx: PipelineRunContext<BeaconsConfig & PluginConfig>;
}): Observable<BeaconCollectedEvent> {
  const patterns = ctx.config.beacons.map((beacon) => `host/beacon/*/${beacon}/**`);
  return ctx.host.events(patterns).pipe(map(toCollected), untilAborted(ctx.signal));
}

/** The host's event is shared by all pipelines: each gets its own copy of the readings. */
function toCollected({ tag, stamp, data, raw_data }: HostEvent): BeaconCollectedEvent {
  return {
    timestamp: isoNow(),
    data: { ...data },
    beacon: tag.split('/')[3] ?? '',
    tag,
    stamp,
    raw_data: { ...raw_data },
  };
}
