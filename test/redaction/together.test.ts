import fs from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { createRedactor } from '../../plugins/masks/redact-masking.ts';
import { RedactProcessConfig } from '../../plugins/process/redact.ts';
import { ROOT } from '../support/build.ts';

const newRedactor = (config: object) =>
  createRedactor(RedactProcessConfig.parse({ plugin: 'redact', ...config }), {
    now: () => 0,
    onMask: () => {},
  });

/** Rules of other packs mask values in front of others, in lines together and one by one. */
const CONFIGS = [
  {},
  { packs: ['all'], confidence: 'low' },
  { packs: ['pii/contact', 'pii/person', 'pii/network'] },
  { packs: ['secrets/context'], rules: { NUMBER: '[0-9]{3,}' } },
];
/** Lines that have nearly everything that rules look for. */
const folder = join(ROOT, 'test/redaction/realistic');
const lines = fs
  .readdirSync(folder)
  .filter((name) => name.endsWith('.txt'))
  .flatMap((name) => fs.readFileSync(join(folder, name), 'utf8').split('\n'))
  .map((line) => line.replace(/⟦([^⟧]*)⟧/g, 'Zebr4-Lamp9kQ').replace(/^[-=] /, ''))
  .filter((line) => line.length > 10 && line.length < 1000 && !line.includes('\0'));
const LINES_TOGETHER = 12;

it('finds keys after letters that are longer in lower case', () => {
  const line = `${'İ'.repeat(20)} sunucu client_secret=Zebr4-Lamp9kQ`;
  const masked = `${'İ'.repeat(20)} sunucu client_secret=<:password:>`;
  const redactor = newRedactor({});
  expect(redactor.maskText(line)).toBe(masked);
  expect(redactor.many('a.log')?.map(`${line}\nplain`)).toBe(`${masked}\nplain`);
});

it('masks lines together as it masks each of them, whichever other redactors see the same lines', () => {
  const all = CONFIGS.map((config) => {
    const redactor = newRedactor(config);
    const many = redactor.many('a.log');
    redactor.maskText('x');
    return { redactor, many, config, masked: 0 };
  });
  for (let at = 0; at < lines.length; at += LINES_TOGETHER) {
    const some = lines.slice(at, at + LINES_TOGETHER);
    for (const entry of all) {
      const { redactor, many } = entry;
      let together: string;
      try {
        together = many?.map(some.join('\n')) ?? '';
      } catch {
        // These lines are masked one by one.
        continue;
      }
      const alone = some.map((line) => redactor.maskText(line));
      expect({ lines: some, masked: together.split('\n') }).toEqual({ lines: some, masked: alone });
      if (together !== some.join('\n')) entry.masked++;
    }
  }
  for (const { masked } of all) expect(masked).toBeGreaterThan(5);
}, 120_000);
