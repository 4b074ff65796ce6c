import { problemLine } from '../config/config-error.ts';
import { loadConfig } from '../config/load-config.ts';
import type { AnalyticsConfig } from '../sdk/config.ts';
import { printable } from '../sdk/printable.ts';
import { checkTest } from '../testing/yaml/check-test.ts';
import type { GlobalOptions } from './commands.ts';
import { configFiles } from './config-files.ts';
import { ExitCode } from './errors.ts';
import { counted } from './format.ts';
import { noticesIn } from './notices.ts';

/** `millrace validate FILE…`: one line on standard output, or a ConfigError with every problem. */
export async function validate(
  args: readonly string[],
  { logFormat, logLevel }: GlobalOptions,
): Promise<number> {
  const {
    config,
    files: all,
    tests,
    warnings,
  } = await loadConfig(await configFiles(args), {
    checkTest,
    requireVariables: true,
  });
  const notify = await noticesIn(logFormat);
  for (const warning of logLevel === 'error' ? [] : warnings) {
    const { file, line, column, path } = warning;
    notify({
      level: 'warn',
      text: problemLine(warning, 'warning: '),
      message: problemLine(warning),
      fields: { file, line, column, path },
    });
  }
  process.stdout.write(
    `${printable(all.join(' + '))}: valid: ${inventory(config)}${testCount(tests.definitions.size)}\n`,
  );
  return ExitCode.ok;
}

function testCount(tests: number): string {
  return tests === 0 ? '' : `, ${counted(tests, 'test')}`;
}

/** `2 pipelines (1 disabled), 3 collectors, 1 processor, 2 forwarders` */
function inventory({ pipelines, collectors, processors, forwarders }: AnalyticsConfig): string {
  const all = Object.values(pipelines);
  const disabled = all.filter((pipeline) => !pipeline.enabled).length;
  return [
    `${counted(all.length, 'pipeline')}${disabled > 0 ? ` (${disabled} disabled)` : ''}`,
    counted(Object.keys(collectors).length, 'collector'),
    counted(Object.keys(processors).length, 'processor'),
    counted(Object.keys(forwarders).length, 'forwarder'),
  ].join(', ');
}
