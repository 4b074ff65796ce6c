import { existsSync } from 'node:fs';
import module from 'node:module';
import { join } from 'node:path';

const PARTS = ['operators', 'testing', 'ajax', 'fetch', 'webSocket'];

/**
 * Loads RxJS from the one file that it is also published as. In Node.js it has 223, which take a fifth of the time until
 * the first event. Every later import gets it, those of plugins too, so there is one `Observable` and one virtual time. Only
 * `rxjs/internal/…`, which is not for users, has classes of its own.
 */
export function loadRxjs(): void {
  const require = module.createRequire(import.meta.url);
  const file = join(require.resolve('rxjs/package.json'), '../dist/bundles/rxjs.umd.js');
  if (file in require.cache || !existsSync(file)) return;
  const rxjs = require(file);
  provide('rxjs', rxjs);
  for (const part of PARTS) provide(`rxjs/${part}`, rxjs[part]);

  function provide(name: string, exports: object): void {
    const id = require.resolve(name);
    require.cache[id] = Object.assign(new module.Module(id), { filename: id, exports, loaded: true });
  }
}
