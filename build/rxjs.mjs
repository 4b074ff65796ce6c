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

/**
 * The text of those files, and of all that they require, in one: Node takes a third of the time. It puts the modules
 * into `require.cache`, as if each file had been loaded, so they are whoever's that requires RxJS. If another version
 * is installed, it does nothing.
 */
export function rxjsModules(used) {
  const { version } = JSON.parse(readFileSync(`${RXJS}/package.json`, 'utf8'));
  const texts = new Map(used.map(({ file }) => [`${file}.js`, '']));
  for (const path of texts.keys()) {
    const text = readFileSync(`${RXJS}/dist/cjs/${path}`, 'utf8').replace(/^\/\/# sourceMappingURL=.*$/m, '');
    const asListed = text.replace(/\brequire\("(\..+?)"\)/g, (_, wanted) => {
      const required = `${posix.join(posix.dirname(path), wanted)}.js`;
      if (!texts.has(required)) texts.set(required, '');
      return `require("${required}")`;
    });
    texts.set(path, asListed.trim());
  }
  // V8 compiles at once what is in parentheses: all of it is needed.
  const modules = [...texts].map(
    ([path, text]) => `'${path}': (function (exports, require) {\n${text}\n}),\n`,
  );
  const parts = used.map(({ name, file }) => `${name}: load('${file}.js').${name},\n`);
  return `'use strict';
const Module = require('node:module');
const { dirname, join } = require('node:path');

const manifest = require.resolve('rxjs/package.json');
if (require(manifest).version === '${version}') {
const folder = join(dirname(manifest), 'dist/cjs');
const modules = {
${modules.join('')}};
function load(path) {
  const filename = join(folder, path);
  return (require.cache[filename] ?? add(filename, (exports) => modules[path](exports, load))).exports;
}
function add(filename, run) {
  const added = new Module(filename, module);
  added.filename = filename;
  // Before it is run: modules may need each other.
  require.cache[filename] = added;
  run(added.exports);
  added.loaded = true;
  return added;
}
add(require.resolve('./rxjs.cjs'), (exports) => Object.assign(exports, {
${parts.join('')}}));
}
`;
}
