// Writes docs/operators.md from the sources of operators/: their docstrings, options and examples, which are run as
// tests. `npm run operators`; a test compares.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const root = new URL('..', import.meta.url).pathname;
const page = process.argv[2] ?? join(root, 'docs/operators.md');
const read = (path) => readFileSync(join(root, path), 'utf8');

const INTRODUCTION = `# Operators

What \`millrace/operators\` and \`millrace/operators/node\` export, with all options. Times are in milliseconds. This page
is written from the sources by \`npm run operators\`, and its examples are run as tests: a comment behind a line is what
it gives, with the virtual time at which it comes. Marble diagrams are from the tests as well: a letter is a value, or an
array of values in a result, and takes a millisecond as a dash does; \`|\` is the completion, \`#\` an error.

To use the operators without the engine, install them alone ([from a clone](../README.md#install), while they are not in
the npm registry). The package exports the same, as \`@millrace/operators\` and
\`@millrace/operators/node\`. It takes 2 MB beside rxjs, which is its only peer dependency:

\`\`\`
npm install @millrace/operators rxjs
\`\`\`

Options that must be given say so; all others have the default that stands beside them, also when they are \`undefined\`.
An option that is unknown, or that an operator cannot take, is refused with an error that says what was expected. What
measures or waits for time takes a \`scheduler\`, as RxJS's own operators do.
`;

const CONCLUSION = `## Differences from RxJS

The cases of RxJS 7.8.2 for the operators on the left, as far as they apply, are tests of ours. These differences are
intended.

| RxJS | Ours | Difference |
| --- | --- | --- |
| \`mergeMap\`, \`mergeAll\` | \`orderedMap\`, \`inFlight\` | Results keep the order of the source; with \`ordered: false\` they leave as in \`mergeMap\`. Results that wait for their turn count towards \`concurrency\`, and an error does not wait for them. There is no \`resultSelector\`. |
| \`concatMap\`, \`concatAll\` | \`orderedMap\` with \`concurrency: 1\`, \`gatherMap\` | \`gatherMap\` hands over all values that wait; with \`maxWeight: 1\` it is \`concatMap\`. |
| \`bufferCount\`, \`bufferTime\` | \`batchBy\` | No batch is empty, and none overlaps another. \`within\` runs from the first value of a batch, not from the subscription. What came before an error is emitted before it. |
| \`distinct\` | \`dedupe\` | Keys are forgotten, by time and by number. There is no stream that flushes them. |
| \`throttleTime\` | \`dedupe\`, \`sampleFirst\`, \`rateLimit\` | A value at the very end of a window passes, and begins the next one. There is no \`trailing\`. |
| \`delay\`, \`delayWhen\` | \`delayRange\` | Delays are numbers of at least 0, never dates, and rounded to whole milliseconds. |
| \`retry\`, \`repeat\` | \`restartWithBackoff\`, \`retryWithBackoff\` | \`attempts\` counts runs: \`retry(2)\` is \`attempts: 3\`. Every restart goes through a timer, also one after 0 ms. A healthy period resets the count, a value does not. Completions are not counted. |
| \`takeUntil\` | \`untilAborted\` | A signal cannot fail. |
| \`from\` | \`pullFrom\` | It takes iterables only, and pulls while there is room. After 16,384 values it lets other work of the process run. |
| \`interval\`, \`timer\` | \`poll\`, \`longTimer\` | The first call is at once, and an interval below 1 ms is 1 ms. \`longTimer\` keeps waits of more than 24.8 days; it takes no date and no NaN. |
`;

const ENTRIES = [
  ['millrace/operators', 'operators/index.ts', 'They run anywhere RxJS does, browsers included.'],
  ['millrace/operators/node', 'operators/node.ts', 'About files and streams: they need Node.'],
];

/** The text of a docstring, and the example in it. */
function docstring(comment) {
  const lines = comment.split('\n').map((line) =>
    line
      .replace(/^\s*\/\*\*\s?/, '')
      .replace(/\s*\*\/$/, '')
      .replace(/^\s*\* ?/, ''),
  );
  const [text, example] = lines
    .join('\n')
    .trim()
    .split(/^@example\s*\n/m);
  const prose = text
    .replace(/\{@link (?:\w+\.)?([^}]+)\}/g, '`$1`')
    .replace(/^@throws /gm, 'Throws ')
    .replace(/^@param (\w+) /gm, '`$1` ')
    .trim();
  return { prose, example: example?.trim() };
}

/** What a file declares under a name, with the docstring before it; undefined if it does not. */
function declared(text, name) {
  const declaration = new RegExp(
    `(/\\*\\*(?:(?!\\*/)[\\s\\S])*\\*/\\n)?export (?:async )?(?:(function|class|interface|type|const) ${name}\\b)`,
  ).exec(text);
  if (declaration === null) return undefined;
  const [all, comment = '', kind] = declaration;
  return { kind, ...docstring(comment), body: text.slice(declaration.index + all.length) };
}

/** The file that declares a name, which an exported file may have from another one. */
function find(file, name) {
  const text = read(file);
  const found = declared(text, name);
  if (found !== undefined) return { file, text, ...found };
  const from = new RegExp(`\\b${name}\\b[^;]*? from '(\\.[^']+)'`).exec(text)?.[1];
  return from === undefined ? undefined : find(join(dirname(file), from), name);
}

/** The members of an interface, those that it extends first. */
function members(file, name) {
  const found = find(file, name);
  if (found?.kind !== 'interface') return [];
  const [, parent] = /^[^{]*? extends (?:Partial<)?(?:Omit<)?(\w+)/.exec(found.body) ?? [];
  const inherited = parent === undefined ? [] : members(found.file, parent);
  const body = found.body.slice(found.body.indexOf('{') + 1, found.body.search(/^\}/m));
  const own = [...body.matchAll(/(\/\*\*[\s\S]*?\*\/)?\s*readonly (\w+)(\??):\s+([^;]+);/g)].map(
    ([, comment = '', member, optional, type]) => ({
      member,
      isRequired: optional === '',
      type: type
        .replace(/\s+/g, ' ')
        .replace(/^\| | \| undefined$/g, '')
        .replace(/^\((.*)\)$/, '$1'),
      prose: docstring(comment).prose.replace(/\s+/g, ' '),
    }),
  );
  return [...inherited, ...own];
}

const TESTS = readdirSync(join(root, 'test/operators'))
  .filter((name) => name.endsWith('.test.ts'))
  .map((name) => read(`test/operators/${name}`));

/** Tests and cases that show more than the first one, which is of many values. */
const SHOWN_TESTS = { orderedMap: 'orderedMap of inner sources' };
const SHOWN_CASES = { retryWithBackoff: 'error' };

/** The marble diagram of an operator, from its tests. */
function diagramOf(name) {
  const begin = new RegExp(`testOperator(?:<[^(]*>)?\\('${SHOWN_TESTS[name] ?? name}[ '][\\s\\S]*`);
  const test = TESTS.map((text) => begin.exec(text)?.[0]).find((text) => text !== undefined) ?? '';
  const rows = new RegExp(`\\b${SHOWN_CASES[name] ?? 'many'}: \`\\n([^\`]*)\``).exec(test)?.[1].split('\n');
  const operator = /operator: \(\) => (.*),\n/.exec(test)?.[1];
  if (rows === undefined || operator === undefined) return '';
  const call = operator
    .replace(/^\(source\) => joined\(source\.pipe\((.*)\)\)$/, '$1')
    .replace(/^(\w+)<\w+>/, '$1');
  const [source, result] = rows.map((row) => row.trim());
  return `\`\`\`text\n${source}\n        ${call}\n${result}\n\`\`\``;
}

/** What is given to an operator; other types are what it gives. Those that others extend stand with them. */
const isGiven = (name) => /(?:Options|Policy|Settings|Bounds|Observer)$|^Backoff$/.test(name);
const PARTS_OF_OTHERS = ['RandomOptions', 'ReplacementOptions'];
const SHOWN_RESULTS = ['LineBatch'];

const cell = (text) => text.replaceAll('|', '\\|');

function optionsTable(file, name) {
  if (PARTS_OF_OTHERS.includes(name) || !(isGiven(name) || SHOWN_RESULTS.includes(name))) return '';
  const isPartial = !isGiven(name) || read(file).includes(`Optional<${name}>`);
  const rows = members(file, name).map(
    ({ member, isRequired, type, prose }) =>
      `| \`${member}\` | \`${cell(type)}\` | ${isRequired && !isPartial ? '**Must be given.** ' : ''}${cell(prose)} |`,
  );
  if (rows.length === 0) return '';
  const head = isGiven(name) ? 'Option' : 'Field';
  return [`\`${name}\`:\n`, `| ${head} | Type | |`, '| --- | --- | --- |', ...rows].join('\n');
}

/** An alias of options of which nothing is required, such as `Optional<…>`. */
function aliasOf(file, name) {
  const found = find(file, name);
  const target = found?.kind === 'type' ? /Optional<(?:Omit<)?(\w+)/.exec(found.body)?.[1] : undefined;
  return target === undefined ? '' : `\`${name}\`: ${found.prose}`;
}

function section(file, names) {
  const values = names.filter(({ isType }) => !isType).map(({ name }) => name);
  const types = names.filter(({ isType }) => isType).map(({ name }) => name);
  const parts = values.map((name) => {
    const { prose, example } = find(file, name);
    const code = example === undefined ? '' : `\`\`\`typescript\n${example}\n\`\`\``;
    return [`### ${name}`, prose, diagramOf(name), code].filter((part) => part !== '').join('\n\n');
  });
  const tables = types.map((name) => optionsTable(file, name) || aliasOf(file, name));
  return [...parts, ...tables].filter((part) => part !== '').join('\n\n');
}

function chapter([specifier, entry, about]) {
  const text = read(entry);
  const parts = [`## ${specifier}`, about];
  const pattern = /^\/\/ (\w.*)$|^export (type )?\{([^}]*)\} from '(\.[^']+)';/gm;
  for (const [, heading, allTypes, exported, from] of text.matchAll(pattern)) {
    if (heading !== undefined) {
      if (parts.length > 2 || heading.includes(':')) {
        if (!/Those about files|All others/.test(heading)) parts.push(`**${heading.replace(/\.$/, '')}.**`);
      }
      continue;
    }
    const names = exported.split(',').flatMap((item) => {
      const name = item.trim();
      if (name === '') return [];
      return [
        { name: name.replace(/^type /, ''), isType: allTypes !== undefined || name.startsWith('type ') },
      ];
    });
    const body = section(join(dirname(entry), from), names);
    if (body !== '') parts.push(body);
  }
  return parts.join('\n\n');
}

writeFileSync(page, `${[INTRODUCTION.trim(), ...ENTRIES.map(chapter), CONCLUSION.trim()].join('\n\n')}\n`);
