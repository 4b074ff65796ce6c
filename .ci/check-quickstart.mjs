/**
 * Checks what `npm start` wrote. Nothing of millrace is used: what must come out follows from the log and
 * from planted.json, which names every secret in it: each secret replaced by its mask, all else as it was.
 */
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');
const LOG = resolve(root, 'examples/data/access.log');
const OUTPUT = resolve(root, 'out/quickstart/access.jsonl');

const problems = [];
const check = (holds, problem) => {
  if (!holds) problems.push(problem);
};

const planted = JSON.parse(readFileSync(resolve(root, 'examples/data/planted.json'), 'utf8'));
const mask = (kind) => `<:${kind}:>`;
const occurrences = (text, part) => text.split(part).length - 1;
/** Lines without their terminators: LF, or CRLF. */
const linesOf = (text) => text.replace(/\n$/, '').split(/\r?\n/);

const log = readFileSync(LOG, 'utf8');
let masked = log;
for (const { kind, value } of planted.secrets) masked = masked.replaceAll(value, mask(kind));
const expected = linesOf(masked);

if (!existsSync(OUTPUT)) {
  console.error(`quickstart: there is no ${OUTPUT}: run \`npm start\` first`);
  process.exit(1);
}
const raw = readFileSync(OUTPUT, 'utf8');
const rows = linesOf(raw);
check(
  expected.length === planted.lines,
  `access.log has ${expected.length} lines, planted.json says ${planted.lines}`,
);
check(rows.length === expected.length, `${expected.length} lines in, ${rows.length} out`);

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;
/** Every string of every event, unescaped: a secret may hide from a search of the raw text behind JSON's escapes. */
const strings = [];
rows.forEach((row, i) => {
  const at = `output line ${i + 1}`;
  let event;
  try {
    event = JSON.parse(row, (_key, value) => {
      if (typeof value === 'string') strings.push(value);
      return value;
    });
  } catch (error) {
    check(false, `${at} is not JSON: ${error.message}`);
    return;
  }
  check(ISO.test(event?.timestamp), `${at}: timestamp is ${JSON.stringify(event?.timestamp)}`);
  check(event?.backfill === true, `${at}: backfill is ${JSON.stringify(event?.backfill)}`);
  const source = event?.data?.source;
  check(
    typeof source === 'string' && resolve(root, source) === LOG,
    `${at}: data.source is ${JSON.stringify(source)}`,
  );
  const line = event?.data?.line;
  check(
    line === expected[i],
    `${at}: data.line is\n    ${JSON.stringify(line)}\n  expected\n    ${JSON.stringify(expected[i])}`,
  );
});

const decoded = strings.join('\n');
for (const { kind, value } of planted.secrets) {
  check(!raw.includes(value) && !decoded.includes(value), `a secret is left: ${kind} ${value}`);
}

const kinds = [...new Set(planted.secrets.map(({ kind }) => kind))];
const counts = kinds.map((kind) => {
  const wanted = planted.secrets.filter((s) => s.kind === kind).reduce((sum, { count }) => sum + count, 0);
  const found = occurrences(decoded, mask(kind));
  check(found === wanted, `${mask(kind)} occurs ${found} times, ${wanted} secrets of the kind were planted`);
  return found;
});

if (problems.length > 0) {
  const shown = problems.slice(0, 10).map((problem) => `- ${problem}`);
  console.error(`quickstart: ${problems.length} problems, the first ${shown.length}:\n${shown.join('\n')}`);
  process.exit(1);
}
const total = counts.reduce((sum, count) => sum + count, 0);
console.log(
  `quickstart: ${expected.length} lines in, ${rows.length} out, ${total} secrets masked, none left`,
);
