import * as z from 'zod';
import { CollectConfigBase, type PluginConfig, path, seconds, secret } from '../../src/sdk/index.ts';
import { lineFields } from '../lines/line-fields.ts';

const argument = () =>
  z.string().refine((text) => !text.includes('\0'), { message: 'a string without NUL characters' });

export const ExecConfig = CollectConfigBase.extend({
  command: z
    .array(argument())
    .refine(([program]) => program !== undefined && program !== '', {
      message: 'a list of the program and its arguments, such as `[tail, -F, app.log]`; there is no shell',
    })
    .meta({ minItems: 1 })
    .describe('The program and its arguments, as a list. No shell runs it.'),
  cwd: path().optional().describe('The folder that it runs in. Default: that of millrace.'),
  env: z
    .record(
      z.string().refine((name) => /^[^=\0]+$/.test(name), { message: 'the name of a variable, without `=`' }),
      secret({ mayBeLiteral: true }),
    )
    .default({})
    .describe('Environment variables of the program, beside PATH, HOME and those of the locale.'),
  interval: seconds()
    .gt(0)
    .optional()
    .describe(
      'Run it again every so many seconds. Default: it is expected to run on, and restarted if it ends.',
    ),
  stderr: z
    .enum(['count', 'collect'])
    .default('count')
    .describe('Whether the lines of its standard error are events too, or only counted in the log.'),
  ...lineFields,
});
export type ExecConfig = Readonly<z.output<typeof ExecConfig>> & PluginConfig;
