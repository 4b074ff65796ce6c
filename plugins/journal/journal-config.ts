import * as z from 'zod';
import { CollectConfigBase, type PluginConfig, path } from '../../src/sdk/index.ts';

const PRIORITIES = ['emerg', 'alert', 'crit', 'err', 'warning', 'notice', 'info', 'debug'] as const;

const name = () =>
  z.string().regex(/^[^-\0][^\0]*$/, { error: 'a name of a unit, such as nginx or nginx.service' });
const field = () =>
  z.string().regex(/^[A-Z0-9_]{1,64}$/, { error: 'a name of a field, such as PRIORITY or _SYSTEMD_UNIT' });

export const JournalConfig = CollectConfigBase.extend({
  units: z
    .array(name())
    .default([])
    .describe('Only entries of these units, or of units that match these globs.'),
  priority: z
    .union([z.enum(PRIORITIES), z.number().int().min(0).max(7)])
    .optional()
    .describe(
      'Only entries that are at least as severe: a name, such as `warning`, or a number from 0 to 7.',
    ),
  fields: z
    .union([z.literal('all'), z.array(field())])
    .default(['PRIORITY', 'SYSLOG_IDENTIFIER', '_SYSTEMD_UNIT', '_HOSTNAME', '_PID'])
    .describe('Fields of the entry that become fields of the event, or `all`.'),
  backfill: z
    .boolean()
    .default(false)
    .describe('Start with what is in the journal. Default: with entries that are written from then on.'),
  directory: path()
    .optional()
    .describe(
      'A folder of journal files, such as that of the host in a container. Default: the journal of this machine.',
    ),
});
export type JournalConfig = Readonly<z.output<typeof JournalConfig>> & PluginConfig;
