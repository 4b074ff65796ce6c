type Entries = Record<string, Record<string, unknown>>;

/**
 * A configuration with a pipeline for each name: `file` over its paths, `regex_mask` with the rules, and `disk` to
 * `<name>.jsonl` in `folder`.
 *
 * @param settings of every pipeline, beside those.
 */
export function maskingConfig(
  folder: string,
  pathsOf: Readonly<Record<string, readonly string[]>>,
  rules: Readonly<Record<string, string>>,
  settings: Readonly<Record<string, unknown>> = {},
): object {
  const collectors: Entries = {};
  const forwarders: Entries = {};
  const pipelines: Entries = {};
  for (const [name, paths] of Object.entries(pathsOf)) {
    collectors[name] = { plugin: 'file', paths, backfill: true };
    forwarders[name] = { plugin: 'disk', path: folder, filename: outputName(name) };
    pipelines[name] = { collect: name, process: 'mask', forward: name, restart: false, ...settings };
  }
  const processors = { mask: { plugin: 'regex_mask', rules } };
  return { collectors, processors, forwarders, pipelines, host_config: {} };
}

/** The file that a pipeline of {@link maskingConfig} writes to. */
export function outputName(pipeline: string): string {
  return `${pipeline}.jsonl`;
}
