// Writes src/models/json-lines/json-lines-code.ts from the text of the WebAssembly beside it. `npm run wat`; a test compares.
import { readFileSync, writeFileSync } from 'node:fs';
import wabt from 'wabt';

const folder = new URL('../src/models/json-lines/', import.meta.url);
const written = process.argv[2] ?? new URL('json-lines-code.ts', folder);
const text = readFileSync(new URL('json-lines.wat', folder), 'utf8');

const { parseWat } = await wabt();
const { buffer } = parseWat('json-lines.wat', text, { simd: true }).toBinary({});
const lines = Buffer.from(buffer)
  .toString('base64')
  .match(/.{1,100}/g);
writeFileSync(
  written,
  `/** What \`npm run wat\` makes of json-lines.wat, in base64. */
export const LINE_WRITER =
  '${lines.join("' +\n  '")}';
`,
);
