export { type WrittenSections, withReferences } from '../checks/as-written.ts';

import { REFERENCES, type WrittenSections } from '../checks/as-written.ts';
import { MergedConfig } from '../config/merged-config.ts';
import { MistakeLog } from '../config/mistake-log.ts';
import { readConfigFile } from '../config/read-file.ts';

/** Reads files that are known to be valid. */
export async function readAsWritten(files: readonly string[]): Promise<WrittenSections> {
  const log = new MistakeLog();
  const sources = await Promise.all(files.map((file) => readConfigFile(file, REFERENCES, log)));
  const read = sources.filter((source) => source !== undefined);
  return new MergedConfig(read, log).sections;
}
