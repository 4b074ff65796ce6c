import { sharePackages } from './share-packages.ts';

/** Imports a module that a configuration names, by its URL. */
export function importModule(url: string): Promise<Record<string, unknown>> {
  sharePackages(url);
  return import(url);
}
