import { readFileSync } from 'node:fs';

/**
 * Of RxJS's 224 files, those that chunks import: the very same files, so the classes are the application's. Node loads
 * a CommonJS module fastest when another one requires it.
 */
export function partsOfRxjs(chunks) {
  const index = readFileSync('node_modules/rxjs/dist/esm/index.js', 'utf8');
  const files = new Map();
  for (const [, names, file] of index.matchAll(/^export \{ (.+) \} from '\.\/(internal\/.+)';$/gm)) {
    for (const name of names.split(', ')) files.set(name, file);
  }
  const imported = chunks.flatMap(
    (code) => /^import \{ (.+) \} from "#rxjs";$/m.exec(code)?.[1].split(', ') ?? [],
  );
  const names = new Set(imported.map((name) => name.replace(/ as .+/, '')));
  const lines = [...names].sort().map((name) => {
    const file = files.get(name);
    if (file === undefined) throw new Error(`rxjs has no ${name}`);
    return `exports.${name} = require('rxjs/${file}').${name};\n`;
  });
  return `'use strict';\n${lines.join('')}`;
}
