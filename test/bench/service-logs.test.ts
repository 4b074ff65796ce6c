import { writeFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { joined } from '../../bench/lines-of.ts';
import { runToEnd, sizeOf } from '../../bench/measure/run-command.ts';
import { redactPeers } from '../../bench/peers/redact-peers.ts';
import {
  applicationLines,
  base64Lines,
  proseLines,
  SECRET_MARK,
  webLines,
} from '../../bench/service-logs.ts';
import { redactor } from '../../operators/index.ts';
import { resolvePackRules } from '../../plugins/packs/load-packs.ts';
import { tempFolder } from '../support/temp-folder.ts';

const temp = tempFolder();
const DEFAULT_PACKS = ['secrets/keys', 'secrets/providers', 'secrets/context'];
const LOGS = { webLines, applicationLines, proseLines };

describe('the logs of services', () => {
  for (const [name, linesOf] of Object.entries(LOGS)) {
    const lines = [...linesOf(4000)];

    it(`are the same each time, and begin the same whatever their length: ${name}`, () => {
      expect(lines).toHaveLength(4000);
      expect([...linesOf(100)]).toEqual(lines.slice(0, 100));
    });

    it(`have few secrets, all of which the default packs mask: ${name}`, () => {
      const secrets = lines.filter((line) => line.includes(SECRET_MARK));
      expect(secrets.length).toBeGreaterThan(5);
      expect(secrets.length).toBeLessThan(100);
      const mask = redactor({ rules: resolvePackRules(DEFAULT_PACKS) });
      expect(secrets.map((line) => mask(line)).filter((line) => line.includes(SECRET_MARK))).toEqual([]);
    });
  }

  it('have fields as applications log them', () => {
    for (const line of applicationLines(200))
      expect(Object.keys(JSON.parse(line)).length).toBeGreaterThan(11);
  });

  it('have long lines of base64', () => {
    const [first = '', second = ''] = base64Lines(2, 10_000);
    expect([first.length, second.length]).toEqual([10_000, 10_000]);
    expect(first).toMatch(/^[A-Za-z0-9+/]+$/);
    expect(first).not.toBe(second);
  });
});

describe('the programs beside the command', () => {
  it('run over such a log to its end', async () => {
    const input = temp('in.log');
    writeFileSync(input, [...joined(webLines(500))].join(''));
    for (const peer of redactPeers) {
      if ('missing' in peer.find()) continue;
      const stdout = temp('out.log');
      await runToEnd({ ...peer.command(input, temp('')), stdout });
      if (peer.writesLines) expect(sizeOf(stdout)).toBeGreaterThan(0.9 * sizeOf(input));
    }
  });
});
