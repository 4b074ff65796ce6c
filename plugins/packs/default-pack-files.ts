import { DEFAULT_PACKS } from './built-pack.ts';
import { packFiles } from './pack-files.ts';

/** The default packs by their names, as JSON. The build puts their contents in place of this module, without those of other packs. */
export function defaultPackFiles(): Readonly<Record<string, string>> {
  const files = packFiles();
  return Object.fromEntries(DEFAULT_PACKS.map((name) => [name, files[name] as string]));
}
