// Writes the table of docs/errors.md from src/sdk/error-table.ts. `npm run errors`; a test compares.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { transformSync } from 'esbuild';

const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const written = process.argv[2] ?? path('errors.md');

const { code } = transformSync(readFileSync(path('../src/sdk/error-table.ts'), 'utf8'), { loader: 'ts' });
const { ERROR_TABLE } = await import(`data:text/javascript,${encodeURIComponent(code)}`);

const rows = Object.entries(ERROR_TABLE).map(
  ([name, { meaning, thrownBy, action }]) => `| \`${name}\` | ${meaning} | ${thrownBy} | ${action} |`,
);
const table = ['| Code | What it means | Thrown by | What to do |', '| --- | --- | --- | --- |', ...rows];

const page = readFileSync(path('errors.md'), 'utf8');
writeFileSync(
  written,
  page.replace(
    /(<!-- errors -->\n)[\s\S]*(<!-- \/errors -->)/,
    (_, start, end) => `${start}${table.join('\n')}\n${end}`,
  ),
);
