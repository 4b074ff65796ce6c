import type { CollectedEvent, LineEvents, LineMapping } from '../models/index.ts';
import { type Batch, type Delivery, UnmadeBatch } from './delivery.ts';
import type { ProcessStageOptions } from './process-stage.ts';

/** Runs a processor over lines without making events of them, but of those that it fails on. */
export function processLines(
  lines: LineEvents,
  { map, addsVerbatim }: LineMapping,
  delivery: Delivery,
  onFailure: ProcessStageOptions['onFailure'],
): readonly Batch[] {
  const { lines: texts, areVerbatim } = lines.texts;
  const done: string[] = [];
  for (let i = 0; i < texts.length; i++) {
    try {
      done.push(map(texts[i] as string));
    } catch (error) {
      onFailure(lines.events[i] as CollectedEvent, delivery, error);
    }
  }
  if (done.length === 0) return [];
  return [new UnmadeBatch(lines.with(done, areVerbatim && addsVerbatim), delivery)];
}
