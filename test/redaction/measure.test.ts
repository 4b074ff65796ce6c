import { describe, expect, it } from '@jest/globals';
import { ORDINARY_LINES, tables } from './measure.ts';
import { expectFiguresOnPage } from './page-figures.ts';

/** The cells of the rows whose first cell begins as given, without it. */
const cellsOf = (text: string, start: string) =>
  text
    .split('\n')
    .filter((line) => line.startsWith(`| ${start}`))
    .map((line) =>
      line
        .split('|')
        .slice(2, -1)
        .map((cell) => Number.parseFloat(cell)),
    );

describe('the redaction packs', () => {
  const measured = tables();

  it('find what docs/redaction.md says', () => {
    expectFiguresOnPage('figures', measured);
  });

  it('alter at most 0.05 % of ordinary lines by the rules for secrets', () => {
    for (const [, , , , altered] of cellsOf(measured, '`secrets/')) {
      expect(altered).toBeLessThanOrEqual(ORDINARY_LINES * 0.0005);
    }
  });

  it('find cards in fewer than 5 ordinary lines', () => {
    for (const [, , , , altered] of cellsOf(measured, '`pii/payment')) expect(altered).toBeLessThan(5);
  });

  it('find 95 % of the secrets behind a name in every context, and 90 % of bare tokens', () => {
    const contexts = measured.split('\n\n')[1]?.split('\n').slice(2) ?? [];
    expect(contexts).toHaveLength(8);
    for (const line of contexts) {
      const [[, recall, precision] = []] = cellsOf(line, '');
      expect(recall).toBeGreaterThanOrEqual(line.startsWith('| bare') ? 90 : 95);
      expect(precision).toBeGreaterThanOrEqual(90);
    }
  });
});
