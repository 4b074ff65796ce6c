import { afterEach, describe, expect, it } from '@jest/globals';
import { firstValueFrom, of } from 'rxjs';
import { openDiskBuffer } from '../../src/buffer/disk-buffer.ts';
import type { EventBuffer } from '../../src/buffer/event-buffer.ts';
import { silentLogger } from '../../src/sdk/context.ts';
import type { Rows } from '../../src/sdk/rows.ts';
import { tempFolder } from '../support/temp-folder.ts';

const folder = tempFolder();
let buffer: EventBuffer | undefined;

afterEach(async () => {
  await buffer?.close().forEach(() => {});
  buffer = undefined;
});

/** What is read of a record of so many events. */
async function record(events: number): Promise<Rows> {
  buffer = await firstValueFrom(
    openDiskBuffer({
      folder: folder('buffer'),
      maxBytes: 1024 * 1024,
      whenFull: 'wait',
      logger: silentLogger,
      onDropped: () => {},
      onFull: () => {},
    }),
  );
  const lines = Array.from({ length: events }, (_, n) => `{"data":{"n":${n}}}\n`).join('');
  await buffer.functions.forwardJsonLines?.(Buffer.from(lines));
  return (await firstValueFrom(buffer.read({ room: 1, room$: of(1) }))).rows;
}

const numbers = ({ events }: Rows) => events.map(({ data }) => data.n);
const places = (rows: Rows) =>
  Array.from({ length: rows.size }, (_, position) => Number(rows.idAt?.(position).split('-').at(-1)));

describe('the names of events that are read from a buffer', () => {
  it('stay the same in parts of parts', async () => {
    const rows = await record(20);
    const odd = rows.slice(3, 17).select((position) => position % 2 === 0);
    const part = odd.slice(1, 6).select((position) => position !== 2);
    expect(numbers(part)).toEqual([5, 7, 11, 13]);
    expect(places(part)).toEqual([5, 7, 11, 13]);
  });

  it('cost no more after many partial failures of a call, each of which leaves a part of the last part', async () => {
    let rows = await record(3);
    for (let failures = 0; failures < 20_000; failures++) rows = rows.slice(rows.size - 2, rows.size);
    expect(places(rows)).toEqual([1, 2]);
  });
});
