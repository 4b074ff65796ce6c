import { readFileSync } from 'node:fs';
import { posix } from 'node:path';

const RXJS = 'node_modules/rxjs';

/** What chunks import of RxJS: names, and the files that have them. */
export function usedOfRxjs(chunks) {
  const index = readFileSync(`${RXJS}/dist/esm/index.js`, 'utf8');
  const files = new Map();
  for (const [, names, file] of index.matchAll(/^export \{ (.+) \} from '\.\/(internal\/.+)';$/gm)) {
    for (const name of names.split(', ')) files.set(name, file);
  }
  const names = new Set(
    chunks.flatMap((code) => [...code.matchAll(/\brxjs(?:\$\d+)?\.(\w+)/g)].map(([, name]) => name)),
  );
  return [...names].sort().map((name) => {
    const file = files.get(name);
    if (file === undefined) throw new Error(`rxjs has no ${name}`);
    return { name, file };
  });
}

/**
 * Of RxJS's 224 files, those that chunks import: the very same files, so the classes are the application's. Node loads
 * a CommonJS module fastest when another one requires it.
 */
export function partsOfRxjs(used) {
  const lines = used.map(({ name, file }) => `exports.${name} = require('rxjs/${file}').${name};\n`);
  return `'use strict';\n${lines.join('')}`;
}

/** What the files that have these can be required by, with `.js`, and all that they require. */
export function filesOfRxjs(used) {
  const files = new Set(used.map(({ file }) => `${file}.js`));
  for (const path of files) {
    const text = readFileSync(`${RXJS}/dist/cjs/${path}`, 'utf8');
    for (const [, required] of text.matchAll(/\brequire\("(\..+?)"\)/g)) {
      files.add(`${posix.join(posix.dirname(path), required)}.js`);
    }
  }
  return [...files].map((path) => `rxjs/${path}`);
}
