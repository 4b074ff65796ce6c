import { REFERENCES, type WrittenSections } from '../checks/as-written.ts';
import { MergedConfig } from './merged-config.ts';
import { MistakeLog } from './mistake-log.ts';
import { readConfigFile } from './read-file.ts';

/** The sections of files that are known to be valid, with references in place of environment variables. */
export async function readAsWritten(files: readonly string[]): Promise<WrittenSections> {
  const log = new MistakeLog();
  const sources = await Promise.all(files.map((file) => readConfigFile(file, REFERENCES, log)));
  const read = sources.filter((source) => source !== undefined);
  return new MergedConfig(read, log).sections;
}
