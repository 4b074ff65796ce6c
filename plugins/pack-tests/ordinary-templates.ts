import { readFileSync } from 'node:fs';
import { load } from 'js-yaml';

/** Templates of lines, by system. */
type Templates = Readonly<Record<string, readonly string[]>>;

/** Ordinary lines. The rules of millrace were first written for the systems under `tuned`. */
export interface OrdinaryTemplates {
  readonly tuned: Templates;
  readonly held_out: Templates;
}

/** The templates of ordinary.yaml. The build puts them in place of this module. */
export function ordinaryTemplates(): OrdinaryTemplates {
  return load(readFileSync(new URL('./ordinary.yaml', import.meta.url), 'utf8')) as OrdinaryTemplates;
}
