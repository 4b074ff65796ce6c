import { readPackFiles } from './packs-from-yaml.ts';

let files: Record<string, string> | undefined;

/**
 * The packs by their names, as JSON. From the sources it reads YAML; the build puts their contents in place of this
 * module, so that an installed millrace parses no YAML at its start.
 */
export function packFiles(): Readonly<Record<string, string>> {
  files ??= readPackFiles();
  return files;
}
