// Writes the code of the WebAssembly in src/ and operators/ beside its text. `npm run wat`; a test compares.
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import wabt from 'wabt';

const WRITTEN = [
  'src/sdk/json-lines/json-lines.wat',
  'src/sdk/json-lines/written-lines.wat',
  'operators/masks/bytes/byte-masks.wat',
];
const root = new URL('..', import.meta.url).pathname;
const [into] = process.argv.slice(2);

const { parseWat } = await wabt();
for (const path of WRITTEN) {
  const name = basename(path, '.wat');
  const { buffer } = parseWat(path, readFileSync(join(root, path), 'utf8'), { simd: true }).toBinary({});
  const lines = Buffer.from(buffer)
    .toString('base64')
    .match(/.{1,100}/g);
  const text = `/** What \`npm run wat\` makes of ${name}.wat, in base64. */
export const CODE =
  '${lines.join("' +\n  '")}';
`;
  const code = path.replace('.wat', '-code.ts');
  writeFileSync(into === undefined ? join(root, code) : join(into, basename(code)), text);
}
