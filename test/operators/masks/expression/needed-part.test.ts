import { describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { costOf } from '../../../../operators/masks/expression/cost.ts';
import { neededCharacter, neededPart } from '../../../../operators/masks/expression/needed-part.ts';
import { compileExpression } from '../../../../operators/masks/python-regex.ts';
import { fill, Random } from '../../../../plugins/pack-tests/templates.ts';
import { loadPack, packNames } from '../../../../plugins/packs/load-packs.ts';
import { expressions, textsNear } from '../../../support/expressions.ts';
import { propertyRuns } from '../../../support/property-runs.ts';

jest.setTimeout(propertyRuns(600_000));

const NAMES =
  '(?:user|admin|root|operator|password|passphrase|passcode|secret|token|credential|certificate|api_key|access_key|session|cookie)';

describe('neededPart', () => {
  it.each([
    ['what follows many names', `${NAMES}\\s?=>\\s?"[^"]+"`, '=>\\s?"[^"]+"'],
    ['what precedes them', `[?&;]${NAMES}`, '[?&;]'],
    ['one part of each alternative', `${NAMES}(?:=>\\[${NAMES}|<${NAMES})`, '=>\\[|<'],
    ['not what may be left out', `(?:<<<)?${NAMES}{1,3}[a-z]*`, undefined],
    ['not what every line has', `\\s${NAMES}`, undefined],
    ['not what a negative condition refuses', `(?!<<<)${NAMES}`, undefined],
    ['nothing of an expression with a reference', `(["'])${NAMES}\\1=>`, undefined],
  ])('finds %s', (_, source, part) => {
    expect(neededPart(new RegExp(source), ['password'])?.source).toBe(part);
  });

  it('is no part that a keyword has anyway', () => {
    const expression = new RegExp(`=>${NAMES}\\[\\[`);
    expect(neededPart(expression)?.source).toBe('\\[\\[');
    expect(neededPart(expression, ['[['])?.source).toBe('=>');
  });

  it('takes time in proportion to the text only, and no more than its expression', () => {
    expect(neededPart(new RegExp(`${NAMES}{1,9}=>[a-z=>]*<`))?.source).toBe('=>');
  });

  it('remembers nothing of the last text', () => {
    expect(neededPart(new RegExp(`${NAMES}=>\\[\\[`, 'gy'))?.flags).toBe('');
  });

  it('is in every text that the expression matches', () => {
    const cases = expressions().chain((drawn) => fc.tuple(fc.constant(drawn), textsNear([drawn])));
    fc.assert(
      fc.property(cases, ([{ source, flags }, text]) => {
        const expression = new RegExp(source, flags.replace(/[gy]/g, ''));
        const part = neededPart(expression);
        fc.pre(part !== undefined && expression.test(text));
        if (part?.test(text) === false) expect({ expression, text, part }).toBe('in the text');
      }),
      { numRuns: propertyRuns(16) },
    );
  });
});

describe('neededCharacter', () => {
  it.each([
    ['a rare one', '[a-z]+:[^@]+@[a-z]+', '@'],
    ['one of all alternatives', '(?:a@b|c@)[a-z]', '@'],
    ['one of a condition', '[a-z]+(?=@)', '@'],
    ['not what may be left out', 'a@?(?:@|x)(?!@)', undefined],
    ['no letter in either case', '(?i)K', undefined],
    ['not what many lines have', 'e ', undefined],
  ])('finds %s', (_, source, character) => {
    expect(neededCharacter(compileExpression(source))).toBe(character);
  });

  it('is none that a keyword has anyway', () => {
    expect(neededCharacter(/@#/, ['@tcp'])).toBe('#');
  });

  it('is in every text that the expression matches', () => {
    const cases = expressions().chain((drawn) => fc.tuple(fc.constant(drawn), textsNear([drawn])));
    fc.assert(
      fc.property(cases, ([{ source, flags }, text]) => {
        const expression = new RegExp(source, flags.replace(/[gy]/g, ''));
        const character = neededCharacter(expression);
        fc.pre(character !== undefined && expression.test(text));
        expect(text).toContain(character);
      }),
      { numRuns: propertyRuns(16) },
    );
  });
});

describe.each(packNames())('the needed parts of %s', (pack) => {
  it('are searched for in no more time than their rules', () => {
    const slow = Object.entries(loadPack(pack).rules).flatMap(([name, rule]) => {
      if (!('match' in rule)) return [];
      const { match, keywords } = rule;
      const expression = compileExpression(match);
      const part = neededPart(expression, keywords);
      if (part === undefined) return [];
      const { degree, factor } = costOf(part);
      return degree > 1 || factor > costOf(expression).factor ? [{ name, part }] : [];
    });
    expect(slow).toEqual([]);
  });

  it('are in every text that their rules match', () => {
    const random = new Random(14);
    for (const [name, rule] of Object.entries(loadPack(pack).rules)) {
      if (!('match' in rule)) continue;
      const { match, keywords, tests } = rule;
      const { source, flags } = compileExpression(match);
      const expression = new RegExp(source, flags.replace('g', ''));
      const part = neededPart(expression, keywords);
      if (part === undefined) continue;
      const texts = [...tests.matches, ...tests.misses].map((template) => fill(template, random).text);
      const without = texts.filter((text) => expression.test(text) && !part.test(text));
      expect({ name, without }).toEqual({ name, without: [] });
    }
  });
});
