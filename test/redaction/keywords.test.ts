import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Look, type Pattern, parseExpression } from '../../operators/masks/expression/pattern.ts';
import { compileExpression } from '../../operators/masks/python-regex.ts';
import { loadPack, packNames } from '../../plugins/packs/load-packs.ts';
import { propertyRuns } from '../support/property-runs.ts';

/** Rules whose keyword is a condition: their values have no form of their own, or their check looks for it. */
const KEYWORD_IS_CONDITION = [
  ...['jwk', 'psk', 'discord-bot-token', 'mailgun-signing-key', 'jenkins-token', 'vault-legacy-token'],
  ...['kubernetes-bootstrap-token', 'truenas-key'],
];

const isLookBehind = (item: Pattern): item is Look => item.kind === 'look' && item.behind && !item.negative;

/**
 * Texts of the shape of a pattern. What has to stand before a place takes the place of what stands there: `api_key` for
 * `key(?<=(?:api|access)_key)`. Other conditions are left out, so a few of the texts do not match.
 */
function textsOf(pattern: Pattern): fc.Arbitrary<string> {
  switch (pattern.kind) {
    case 'character': {
      const units = Array.from({ length: 95 }, (_, i) => 32 + i).filter((u) => pattern.units.has(u));
      if (units.length > 0) return fc.constantFrom(...units.map((unit) => String.fromCharCode(unit)));
      return fc.constant(String.fromCharCode(pattern.units.high[0] ?? 10));
    }
    case 'sequence': {
      const at = pattern.items.findLastIndex(isLookBehind);
      const items = pattern.items.map((item) => (isLookBehind(item) ? item.inside : item));
      return fc.tuple(...items.slice(Math.max(0, at)).map(textsOf)).map((parts) => parts.join(''));
    }
    case 'choice':
      return fc.oneof(...pattern.branches.map(textsOf));
    case 'repetition': {
      const { item, min, max } = pattern;
      const maxLength = Math.min(max, min + 2);
      return fc.array(textsOf(item), { minLength: min, maxLength }).map((parts) => parts.join(''));
    }
    default:
      return fc.constant('');
  }
}

describe.each(packNames())('%s', (pack) => {
  it.each(Object.entries(loadPack(pack).rules))(
    '%s has a keyword in every text that it matches',
    (name, rule) => {
      // Those of the others come from their names.
      if (!('match' in rule)) return;
      const { match, keywords } = rule;
      if (keywords === undefined || KEYWORD_IS_CONDITION.includes(name)) return;
      const expression = compileExpression(match);
      const parsed = parseExpression(expression);
      if (parsed === undefined) return;
      fc.assert(
        fc.property(textsOf(parsed.pattern), (text) => {
          expression.lastIndex = 0;
          if (!expression.test(text)) return;
          const found = keywords.filter((keyword) => text.toLowerCase().includes(keyword.toLowerCase()));
          expect(found).not.toEqual([]);
        }),
        { numRuns: propertyRuns(8) },
      );
    },
  );
});
