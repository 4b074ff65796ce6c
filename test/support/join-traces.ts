import { Subject } from 'rxjs';
import { LineBlock } from '../../operators/files/follow/line-block.ts';
import multiline from '../../plugins/process/multiline.ts';
import type { Batch } from '../../src/engine/batches.ts';
import { Delivery } from '../../src/engine/delivery.ts';
import { joinStage } from '../../src/engine/join-stage.ts';
import { Observers } from '../../src/engine/observer.ts';
import { LineEvents } from '../../src/sdk/line-events.ts';
import type { LineJoining } from '../../src/sdk/plugin.ts';

/** The events that `multiline` makes of lines that come at once, in batches of bytes of at most `most` lines. */
export function joinTraces(settings: object, lines: readonly string[], most = lines.length): unknown[] {
  const parsed = multiline.get_config_schema().safeParse({ plugin: 'multiline', ...settings });
  if (!parsed.success) throw new Error(parsed.error.issues[0]?.message);
  const joining = multiline.joinLines?.({ ctx: { config: parsed.data } as never }) as LineJoining;
  const source$ = new Subject<Batch>();
  const left: unknown[] = [];
  source$
    .pipe(
      joinStage({
        place: { kind: 'process', name: 'multiline' },
        observer: new Observers([]),
        joining,
        isWindowFull: () => false,
        onFailure: (_, __, error) => {
          throw error;
        },
      }),
    )
    .subscribe((batch) => left.push(...batch.rows.events.map(({ data }) => data.line)));
  for (let start = 0; start < lines.length; start += most) {
    const part = lines.slice(start, start + most);
    const block = new LineBlock(Buffer.from(`${part.join('\n')}\n`), part.length);
    const envelope = {
      timestamp: '2026-11-25T10:00:00.000Z',
      source: 'a.log',
      backfill: false,
      isTruncated: false,
    };
    source$.next({ rows: new LineEvents(block, envelope), delivery: new Delivery(part.length, () => {}) });
  }
  source$.complete();
  return left;
}
