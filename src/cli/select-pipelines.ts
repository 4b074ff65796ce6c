import { nameListing } from '../checks/describe.ts';
import type { AnalyticsConfig } from '../sdk/config.ts';
import { nearest } from '../sdk/nearest.ts';
import { printable } from '../sdk/printable.ts';
import { UsageError } from './exit-code.ts';

/** The pipelines that a run starts: the named ones, or all that are enabled. Anything impossible is an error. */
export function selectPipelines(
  { pipelines }: AnalyticsConfig,
  wanted: readonly string[],
  files: readonly string[],
): string[] {
  const known = Object.keys(pipelines);
  const where = printable(files.join(' + '));
  if (wanted.length === 0) {
    const enabled = known.filter((name) => pipelines[name]?.enabled);
    if (enabled.length > 0) return enabled;
    if (known.length === 0) {
      throw new UsageError(
        `${where}: nothing to run: \`pipelines\` is empty. Name what belongs together, such as ` +
          '`pipelines: { main: { collect: NAME, forward: NAME } }`.',
      );
    }
    throw new UsageError(
      `${where}: nothing to run: every pipeline says "enabled: false" (${nameListing(known)}). ` +
        'Take that line away from those that are to run.',
    );
  }
  const problems = [...new Set(wanted)].flatMap((name) => {
    const pipeline = known.includes(name) ? pipelines[name] : undefined;
    if (pipeline === undefined)
      return `--pipeline ${printable(name)}: ${where} has no such pipeline. ${hint(name, known)}`;
    if (pipeline.enabled) return [];
    return `--pipeline ${name}: it is disabled: ${where} says "enabled: false". Take that line away to run it.`;
  });
  if (problems.length > 0) throw new UsageError(problems.join('\nmillrace: '));
  return [...new Set(wanted)];
}

function hint(name: string, known: readonly string[]): string {
  const near = nearest(name, known);
  if (known.length === 0) return 'It has none at all.';
  return near === undefined ? `It has ${nameListing(known)}.` : `Did you mean \`${printable(near)}\`?`;
}
