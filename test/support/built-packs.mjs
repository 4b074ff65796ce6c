import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleReader, packsModule } from '../../build/inline-modules.mjs';

/**
 * Transforms plugins/packs/pack-files.ts as the build does: tests read the redaction packs as an installed millrace does,
 * and not from YAML in each test file, which takes a quarter of a second, and seconds for what the build knows of their
 * expressions. Jest keeps the result until a pack or the code that reads the packs changes.
 */
export default {
  async getCacheKeyAsync() {
    const packs = readdirSync('plugins/packs', { recursive: true }).filter((name) => name.endsWith('.yaml'));
    const hash = createHash('sha256').update(await bundleReader());
    for (const name of packs.sort()) hash.update(name).update(readFileSync(join('plugins/packs', name)));
    return hash.update(readFileSync('build/inline-modules.mjs')).digest('hex');
  },

  async processAsync() {
    return { code: await packsModule() };
  },
};
