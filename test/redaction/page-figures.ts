import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from '@jest/globals';

const PAGE = 'docs/redaction.md';

/**
 * Compares measured tables with those between `<!-- NAME -->` and `<!-- end of NAME -->` in docs/redaction.md.
 * `npm run redaction:measure` writes them instead.
 */
export function expectFiguresOnPage(name: string, measured: string): void {
  const marks = new RegExp(`(?<=<!-- ${name} -->\n\n)[\\s\\S]*?(?=\n\n<!-- end of ${name} -->)`);
  const page = readFileSync(PAGE, 'utf8');
  if (process.env.WRITE_FIGURES !== '1') expect(marks.exec(page)?.[0]).toBe(measured);
  else
    writeFileSync(
      PAGE,
      page.replace(marks, () => measured),
    );
}
