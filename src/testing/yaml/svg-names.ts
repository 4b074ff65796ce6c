import { createHash } from 'node:crypto';
import { basename } from 'node:path';

const LONGEST = 80;

/** What a test is known by: its file, as given, and its name. */
interface TestId {
  readonly file: string;
  readonly name: string;
}

/**
 * A file name for each test: `web-keys-are-masked.svg`. Letters, digits and dashes only; where two tests would
 * get the same, both end in a hash of their file and name, so that a name depends on nothing but the set of tests.
 */
export function svgNames(tests: readonly TestId[]): string[] {
  const slugs = tests.map(({ file, name }) => {
    const config = basename(file).replace(/(?:\.test)?\.ya?ml$/, '');
    return slug(`${config} ${name}`);
  });
  return slugs.map((text, index) => {
    const isShared = slugs.indexOf(text) !== slugs.lastIndexOf(text);
    return `${text}${isShared ? `-${hash(tests[index] as TestId)}` : ''}.svg`;
  });
}

function slug(text: string): string {
  const plain = text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  const words = plain.match(/[a-z0-9]+/g) ?? ['test'];
  return words.join('-').slice(0, LONGEST).replace(/-$/, '');
}

function hash({ file, name }: TestId): string {
  return createHash('sha256').update(`${file}\n${name}`).digest('hex').slice(0, 8);
}
