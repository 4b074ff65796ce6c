import { describe, expect, it } from '@jest/globals';
import { createRedactor } from '../../plugins/masks/redact-masking.ts';
import { Random } from '../../plugins/pack-tests/templates.ts';
import { loadPack, packNames, packsOf } from '../../plugins/packs/load-packs.ts';
import { RedactProcessConfig } from '../../plugins/process/redact.ts';
import { maskOf, rulesOf } from './packs.ts';
import { validSample } from './samples.ts';

/*
 * With all packs on, no rule takes a part of what another one is meant to mask as a whole.
 */

const COUNT = 5;

const redactorOf = (packs: readonly string[]) =>
  createRedactor(RedactProcessConfig.parse({ plugin: 'redact', packs }), { now: () => 0, onMask: () => {} });

const samplesOf = (packs: readonly string[]) =>
  packs.flatMap((pack) =>
    rulesOf([pack]).flatMap((rule) => {
      const r = new Random(31);
      const templates = loadPack(pack).rules[rule.name.slice(pack.length + 1)]?.tests.matches ?? [];
      return templates.flatMap((template) =>
        Array.from({ length: COUNT }, () => ({ id: rule.name, ...validSample(template, rule, r) })),
      );
    }),
  );

/** Whether four characters of a value are left that the text does not have elsewhere. */
function isLeft(masked: string, text: string, [start, end]: readonly [number, number]): boolean {
  const rest = `${text.slice(0, start)}\n${text.slice(end)}`;
  const parts = Array.from({ length: end - start - 3 }, (_, i) => text.slice(start + i, start + i + 4));
  const kept = masked.replace(/<:[^:>]*:>/g, '\n');
  return parts.some((part) => kept.includes(part) && !rest.includes(part));
}

describe.each([['all'], [packNames().toReversed()]])('with the packs %s', (packs) => {
  const redactor = redactorOf([packs].flat());
  const samples = samplesOf([packs].flat().flatMap(packsOf));

  it('every example is masked as a whole, and personal data by its own rule', () => {
    const failed = samples.filter(({ id, text, spans }) => {
      const masked = redactor.maskText(text);
      const isOwn = masked.includes(maskOf(id)) || !id.startsWith('pii/');
      return !isOwn || spans.some((span) => isLeft(masked, text, span));
    });
    expect(failed.map(({ id, text }) => `${id}: ${text}`)).toEqual([]);
  });

  it.each([
    ['IBAN: DE89 3704 0044 0532 0130 00', 'IBAN: <:iban:>'],
    ['GB29 NWBK 6016 1331 9268 19, 0044 20 7946 0958', '<:iban:>, <:phone:>'],
    ['3704 4539 5787 6362 1486', '3704 <:card:>'],
  ])('%s', (text, masked) => {
    expect(redactor.maskText(text)).toBe(masked);
  });
});
