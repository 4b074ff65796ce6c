import { describe, expect, it } from '@jest/globals';
import { AGAINST_NAMES } from '../../bench/against.ts';
import { helpText, parseOptions } from '../../bench/options.ts';
import { PARTS } from '../../bench/parts/index.ts';

describe('the options of the bench', () => {
  const parts = ['main', 'rules', 'start'];

  it('run every part unless some are chosen', () => {
    expect(parseOptions([], parts)).toEqual({
      quick: false,
      only: parts,
      write: false,
      check: false,
      help: false,
    });
  });

  it('keep the order of the parts, however they are chosen', () => {
    expect(parseOptions(['--only', 'start,main', '--quick'], parts)).toMatchObject({
      quick: true,
      only: ['main', 'start'],
    });
    expect(parseOptions(['--only', 'start', '--only', 'rules'], parts).only).toEqual(['rules', 'start']);
  });

  it('have another checkout to compare with', () => {
    expect(parseOptions(['--against', '../old', '--only', 'main'], parts)).toMatchObject({
      against: '../old',
      only: ['main'],
    });
  });

  it.each([
    [['--only', 'speed'], 'no part is named speed; there are main, rules, start'],
    [['--fast'], "Unknown option '--fast'"],
  ])('refuse %j', (args, message) => {
    expect(() => parseOptions(args, parts)).toThrow(message);
  });
});

describe('the help', () => {
  it('has every option and every part', () => {
    const help = helpText(PARTS, AGAINST_NAMES);
    for (const option of ['quick', 'only', 'write', 'check', 'against', 'help'])
      expect(help).toContain(`--${option}`);
    // The option `--only` takes the names of parts.
    for (const name of AGAINST_NAMES) expect(PARTS.map((part) => part.name)).toContain(name);
    for (const { name, title } of PARTS) expect(help).toMatch(new RegExp(`^  ${name} +${title}$`, 'm'));
  });
});
