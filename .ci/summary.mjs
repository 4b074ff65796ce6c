// Names the tests that were skipped, and adds up the results that Jest wrote into a folder.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');
const folder = process.argv[2];
const sums = { passed: 0, failed: 0, skipped: 0 };

for (const name of readdirSync(folder).filter((file) => file.endsWith('.json'))) {
  const { testResults } = JSON.parse(readFileSync(join(folder, name), 'utf8'));
  const tests = testResults.flatMap(({ name: file, assertionResults }) =>
    assertionResults.map(({ fullName, status }) => ({ file: relative(root, file), fullName, status })),
  );
  const skipped = tests.filter(({ status }) => status === 'pending' || status === 'todo');
  const count = (status) => tests.filter((test) => test.status === status).length;
  sums.passed += count('passed');
  sums.failed += count('failed');
  sums.skipped += skipped.length;
  console.log(`${name.replace('.json', '')}: ${count('passed')} passed, ${skipped.length} skipped`);
  for (const { file, fullName } of skipped) console.log(`  skipped: ${file}: ${fullName}`);
}
const notRun = join(folder, 'skipped.txt');
if (existsSync(notRun)) console.log(readFileSync(notRun, 'utf8').trimEnd());
console.log(`\n${sums.passed} passed, ${sums.failed} failed, ${sums.skipped} skipped`);
process.exitCode = sums.failed === 0 && sums.passed > 0 ? 0 : 1;
