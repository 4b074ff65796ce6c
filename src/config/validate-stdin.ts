import type { PipelineConfig } from '../sdk/config.ts';
import type { CollectPlugin, ConfigMistake } from '../sdk/plugin.ts';
import type { ValidEntries } from './pipeline-entries.ts';

/** Refuses configurations in which two collectors would share the lines of standard input. Each line is read once. */
export function validateStdin(
  pipelines: ReadonlyMap<string, PipelineConfig>,
  { collect }: ValidEntries,
): ConfigMistake[] {
  const readers = [...pipelines]
    .filter(([, { enabled }]) => enabled)
    .flatMap(([pipeline, config]) =>
      config.collect.flatMap((name, index) => {
        const plugin = collect.get(name)?.plugin as CollectPlugin | undefined;
        return plugin?.readsStdin === true ? [{ pipeline, name, index }] : [];
      }),
    );
  const [first, ...others] = readers;
  return others.map(({ pipeline, name, index }) => ({
    path: ['pipelines', pipeline, 'collect', index],
    message:
      `\`${name}\` reads standard input, which \`${first?.name}\` of pipeline \`${first?.pipeline}\` reads already: ` +
      'only one collector can; use one pipeline with several forwarders',
  }));
}
