import fs from 'node:fs';
import { afterEach, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { UNSURE_CHARACTERS } from '../../../operators/files/follow/truncated-event.ts';
import { parseConfig } from '../../../src/config/parse-config.ts';
import { registerPlugin, unregisterPlugin } from '../../../src/config/registry.ts';
import { Manager } from '../../../src/engine/manager.ts';
import { type Logger, silentLogger } from '../../../src/sdk/context.ts';
import type { CollectedEvent } from '../../../src/sdk/events.ts';
import { eventually } from '../../support/eventually.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const folder = tempFolder();
const LEAST = 2 * UNSURE_CHARACTERS;
const SECRET = 'AKIA0123456789ABCDEF';
let manager: Manager | undefined;
afterEach(() => {
  manager?.stop();
  unregisterPlugin('forward', 'keep');
});

/** What a pipeline with a mask, and a processor that may fail behind it, makes of a file. */
async function masked(
  text: string,
  lines: number,
  settings: object = {},
  logger: Logger = silentLogger,
): Promise<CollectedEvent[]> {
  fs.writeFileSync(folder('in'), text);
  const events: CollectedEvent[] = [];
  registerPlugin('forward', 'keep', {
    get_config_schema: () => z.looseObject({ plugin: z.string() }),
    forward: ({ event }: { event: CollectedEvent }) => void events.push(event),
  });
  const config = await parseConfig({
    collectors: { in: { plugin: 'file', paths: [folder('in')], backfill: true, ...settings } },
    processors: { mask: { plugin: 'regex_mask', rules: { KEY: 'AKIA[0-9A-Z]{16}' } } },
    forwarders: { out: { plugin: 'keep' } },
    pipelines: { main: { collect: 'in', process: 'mask', forward: 'out', restart: false } },
    host_config: {},
  });
  manager = new Manager(config, { once: true, logger });
  manager.start();
  await eventually(() => expect(events.length).toBe(lines));
  return events;
}

const lineOf = (event: CollectedEvent | undefined) => String(event?.data.line);

describe('the file collector, with long lines', () => {
  it('passes a line of 10 MB whole, masked, and its neighbours', async () => {
    const long = `${'x'.repeat(5_000_000)} ${SECRET} ${'y'.repeat(5_000_000)}`;
    const settings = { max_line_bytes: 16 * 1024 ** 2 };
    const events = await masked(`before\n${long}\nafter ${SECRET}\n`, 3, settings);
    expect([lineOf(events[0]), lineOf(events[2])]).toEqual(['before', 'after <:KEY:>']);
    expect(lineOf(events[1]).length).toBe(long.length - SECRET.length + '<:KEY:>'.length);
    expect(lineOf(events[1])).toContain(' <:KEY:> ');
    expect(events.some((event) => 'truncated' in event)).toBe(false);
  });

  it('says of a line that it is cut, where it is', async () => {
    const warnings: string[] = [];
    const logger = { ...silentLogger, warn: (message: string) => void warnings.push(message) };
    const long = `${'x'.repeat(LEAST)}y`;
    await masked(
      `before\n${long}\n${'z\n'.repeat(5)}${`${long}\n`.repeat(4)}`,
      11,
      { max_line_bytes: LEAST },
      logger,
    );
    const end = 7 + long.length + 1;
    expect(warnings).toHaveLength(3);
    expect(warnings[0]).toBe(
      `main: a line of ${folder('in')} (bytes 7 to ${end}) was cut: it is longer than \`max_line_bytes\`, ` +
        'unfinished lines took more than `--read-memory`, or its file was truncated below it; the rest is lost, and its event says `truncated: true`',
    );
  });

  it.each([0, 1, 7, 19, 20, 21])(
    'shows nothing of a secret that the cut goes through, %i characters before its end',
    async (into) => {
      const length = SECRET.length + 1;
      const secrets = `${SECRET} `.repeat(40_000 / length);
      // So that one lies on the cut, with text of the longest kind before: masked secrets are shorter.
      const start = 'z'.repeat(LEAST - Math.floor(30_000 / length) * length - into);
      const events = await masked(`before\n${start}${secrets}\nafter\n`, 3, { max_line_bytes: LEAST });
      const line = lineOf(events[1]);
      expect(events[1]).toMatchObject({ truncated: true });
      expect(line.length).toBeGreaterThan(0);
      expect(/AKI|[0-9]/.test(line)).toBe(false);
      expect([lineOf(events[0]), lineOf(events[2])]).toEqual(['before', 'after']);
    },
  );

  it('shows nothing at all where masks made so little of the line that its end could be in it', async () => {
    const events = await masked(`${`${SECRET} `.repeat(40_000)}\nafter\n`, 2, { max_line_bytes: LEAST });
    expect(/AKI|[0-9]/.test(lineOf(events[0]))).toBe(false);
    expect(events[0]?.data.source).toBe(folder('in'));
  });

  it('cuts no character in two', async () => {
    const events = await masked(`${'😀'.repeat(LEAST)}\nafter\n`, 2, { max_line_bytes: LEAST + 1 });
    expect(lineOf(events[0])).not.toMatch(/\ufffd|[\ud800-\udbff]$/);
    expect(lineOf(events[1])).toBe('after');
  });
});
