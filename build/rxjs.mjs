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
  const imported = chunks.flatMap(
    (code) => /^import \{ (.+) \} from "#rxjs";$/m.exec(code)?.[1].split(', ') ?? [],
  );
  const names = new Set(imported.map((name) => name.replace(/ as .+/, '')));
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

/** The names, with the paths of their files, and the paths of all files that these require. */
export function filesOfRxjs(used) {
  const parts = Object.fromEntries(used.map(({ name, file }) => [name, `${file}.js`]));
  const files = new Set(Object.values(parts));
  for (const path of files) {
    const text = readFileSync(`${RXJS}/dist/cjs/${path}`, 'utf8');
    for (const [, required] of text.matchAll(/\brequire\("(\..+?)"\)/g)) {
      files.add(`${posix.join(posix.dirname(path), required)}.js`);
    }
  }
  return JSON.stringify({ parts, files: [...files] });
}
