import { importModule } from '../modules/import-module.ts';

/** The library is large and slow to load: it is loaded by the first call that needs it. */
export const systemInformation = () =>
  importModule('systeminformation') as Promise<typeof import('systeminformation')>;
