// Writes docs/operators.md from the sources of operators/: their docstrings, options and examples, which are run as
// tests. `npm run operators`; a test compares.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const root = new URL('..', import.meta.url).pathname;
const page = process.argv[2] ?? join(root, 'docs/operators.md');
const read = (path) => readFileSync(join(root, path), 'utf8');

const INTRODUCTION = `# Operators

This page lists everything that \`millrace/operators\` and \`millrace/operators/node\` export. \`npm run operators\`
generates it from the sources, and tests run the examples.

To use the operators without the engine, install their own package ([from a clone](../README.md#install), while it is not
in the npm registry). It exports the same names from \`@millrace/operators\` and \`@millrace/operators/node\`, takes 2 MB,
and needs only rxjs:

\`\`\`
npm install @millrace/operators rxjs
\`\`\`

- **Times** are in milliseconds. Operators that measure or wait for time take a \`scheduler\`, as those of RxJS do.
- **Options** that are not marked as required have a default, which also replaces \`undefined\`. If an
  option has two spellings, the first takes precedence.
- **Errors**: a call throws a \`TypeError\` for an unknown option, or for an argument or option of the wrong type. The
  message says what was expected.
- **Examples**: the comment after a line shows its result, with the virtual time at which a value is emitted.
- **Marble diagrams** are from the tests. A letter is a value (in a result also an array of values). A letter or a dash
  takes one millisecond, \`|\` is the completion, and \`#\` is an error.
`;

const CONCLUSION = `## Differences from RxJS

The tests run the cases of RxJS 7.8.2 for the operators on the left, as far as they apply. These differences are
intended.

| RxJS | Ours | Difference |
| --- | --- | --- |
| \`mergeMap\`, \`mergeAll\` | \`orderedMap\`, \`inFlight\` | Results keep the order of the source; with \`ordered: false\`, they are emitted as with \`mergeMap\`. Results that wait for their turn count towards \`concurrency\`, and an error does not wait for them. There is no \`resultSelector\`. |
| \`concatMap\`, \`concatAll\` | \`orderedMap\` with \`concurrency: 1\`, \`gatherMap\` | \`gatherMap\` passes on all waiting values together; with \`maxWeight: 1\`, it works like \`concatMap\`. |
| \`bufferCount\`, \`bufferTime\` | \`batchBy\` | Batches are never empty and never overlap. \`within\` runs from the first value of a batch, not from the subscription. Values before an error are emitted before the error. |
| \`distinct\` | \`dedupe\` | Keys are forgotten after a time, and beyond a number. No stream flushes them. |
| \`throttleTime\` | \`dedupe\`, \`sampleFirst\`, \`rateLimit\` | A value at the very end of a window passes, and starts the next one. There is no \`trailing\`. |
| \`delay\`, \`delayWhen\` | \`delayRange\` | Delays are numbers of at least 0, never dates, and rounded to whole milliseconds. |
| \`retry\`, \`repeat\` | \`restartWithBackoff\`, \`retryWithBackoff\` | \`attempts\` counts runs: \`retry(2)\` is \`attempts: 3\`. Every restart goes through a timer, also one after 0 ms. A healthy period resets the count; a value does not. Completions do not count. |
| \`takeUntil\` | \`untilAborted\` | A signal cannot fail. |
| \`from\` | \`pullFrom\` | It takes iterables only, and pulls while there is room. After 16,384 values, it lets other work of the process run. |
| \`interval\`, \`timer\` | \`poll\`, \`longTimer\` | \`poll\` makes the first call at once, and an interval below 1 ms counts as 1 ms. \`longTimer\` supports waits of more than 24.8 days, but no dates and no NaN. |
`;

const ENTRIES = [
  ['millrace/operators', 'operators/index.ts', 'These operators run wherever RxJS does, including browsers.'],
  [
    'millrace/operators/node',
    'operators/node.ts',
    'These operators work with files and streams. They need Node.js.',
  ],
];

/** What the introduction says of all functions with options. */
const COMMON_ERRORS =
  /^Throws TypeError for an (?:option that is unknown or of the wrong type|argument or an option of the wrong type, and for an option\s+that is unknown)\.\n?/gm;

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
    .replace(COMMON_ERRORS, '')
    .replace(/^@param (\w+) /gm, '`$1` ')
    .replace(/\n{3,}/g, '\n\n')
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

/** The docstring of an option that is another spelling of one. */
const ALIAS = /^The same as `(\w+)`/;

function optionsTable(file, name) {
  if (PARTS_OF_OTHERS.includes(name) || !(isGiven(name) || SHOWN_RESULTS.includes(name))) return '';
  const isPartial = !isGiven(name) || read(file).includes(`Optional<${name}>`);
  const all = members(file, name);
  const spellings = ({ member }) => [
    member,
    ...all.filter(({ prose }) => ALIAS.exec(prose)?.[1] === member).map((alias) => alias.member),
  ];
  const options = all.filter(({ prose }) => !ALIAS.test(prose));
  const rows = options.map(
    ({ isRequired, type, prose, ...option }) =>
      `| ${spellings(option)
        .map((spelling) => `\`${spelling}\``)
        .join(
          ', ',
        )} | \`${cell(type)}\` | ${isRequired && !isPartial ? '**Required.** ' : ''}${cell(prose)} |`,
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
      // The first comment of an entry is about the file.
      if (parts.length > 2 || heading.includes(':')) parts.push(`**${heading.replace(/\.$/, '')}.**`);
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
