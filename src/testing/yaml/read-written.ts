import { REFERENCES, type WrittenSections } from '../../checks/as-written.ts';
import { MergedConfig } from '../../config/merged-config.ts';
import { MistakeLog } from '../../config/mistake-log.ts';
import { readConfigFile } from '../../config/read-file.ts';

/** The configuration of files that are known to be valid, with references to environment variables. */
export async function readWritten(files: readonly string[]): Promise<WrittenSections> {
  const log = new MistakeLog();
  const sources = await Promise.all(files.map((file) => readConfigFile(file, REFERENCES, log)));
  return new MergedConfig(
    sources.filter((source) => source !== undefined),
    log,
  ).sections;
}
