import { describe, expect, it } from '@jest/globals';
import { compileMaskRules } from '../../operators/masks/compile-mask-rules.ts';
import type { MaskRule } from '../../operators/masks/mask-rule.ts';
import { createRedactor } from '../../plugins/masks/redact-masking.ts';
import { Random } from '../../plugins/pack-tests/templates.ts';
import { loadPack, packNames } from '../../plugins/packs/load-packs.ts';
import { RedactProcessConfig } from '../../plugins/process/redact.ts';
import { threadMs } from '../../plugins/time-limits/thread-time.ts';
import { folderWith, runCli } from '../support/cli.ts';
import { rulesOf } from './packs.ts';
import { validSample } from './samples.ts';

const LENGTH = 500_000;
const repeated = (unit: string, length = LENGTH) => unit.repeat(Math.ceil(length / unit.length));

it('reads a long text that looks like the start of a token at each place, instead of withholding it', async () => {
  const text = `${'eyJ'.repeat(1_300_000)}\n`;
  const cwd = folderWith({ 'a.log': text });
  const { code, stdout, stderr } = await runCli(['redact', 'a.log'], { cwd });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toBe(text);
});

it.each([
  'token: ',
  'xsrf: ',
  '{"password":{',
  '{"password":{"id":"reques',
  '"geheimnis":{',
  '"password",',
  ']"password":"value",',
  '"passwords":["c',
  '--password ',
  'ENV DB_PASSWORD x',
  'PuTTY-User-Key-File-3: ',
])('reads a long text of %j in the time that it may take', (unit) => {
  const config = RedactProcessConfig.parse({ plugin: 'redact' });
  const redactor = createRedactor(config, { now: () => 0, onMask: () => {} });
  // Half of what a fast machine can do in that time: were it quadratic, it would take a minute.
  expect(() => redactor.maskText(repeated(unit, LENGTH / 2))).not.toThrow();
});

/** Texts that look like the start of what a rule finds. */
function unitsOf(pack: string, rule: MaskRule): string[] {
  const units = (rule.keywords ?? []).slice(0, 1).flatMap((keyword) => [`${keyword}: `, `"${keyword}":{"`]);
  const { matches } = loadPack(pack).rules[rule.name.slice(pack.length + 1)]?.tests ?? { matches: [] };
  for (const template of matches.slice(0, 1)) {
    const { text, spans } = validSample(template, rule, new Random(41));
    const [[start] = [0]] = spans;
    units.push(text.slice(0, start + 6));
  }
  return units;
}

describe.each(packNames())('rules of %s', (pack) => {
  it('take time in proportion to the length of such a text', () => {
    const slow: string[] = [];
    for (const rule of rulesOf([pack], 'low')) {
      const { mask } = compileMaskRules([rule]);
      const timeOf = (text: string) => {
        const before = threadMs();
        mask(text);
        return threadMs() - before;
      };
      for (const unit of unitsOf(pack, rule)) {
        const long = timeOf(repeated(unit, 120_000));
        // Quadratic: four times the length takes sixteen times as long.
        if (long > 250 && long > 10 * timeOf(repeated(unit, 30_000))) slow.push(`${rule.name}: ${unit}`);
      }
    }
    expect(slow).toEqual([]);
  });
});
