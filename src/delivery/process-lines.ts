import type { LineEvents, LineMapping } from '../models/index.ts';
import { type Batch, type Delivery, LineBatch } from './delivery.ts';
import type { ProcessStageOptions } from './process-stage.ts';

/** Runs a processor over lines without making events of them, but of those that it fails on. */
export function processLines(
  lines: LineEvents,
  { map, addsVerbatim }: LineMapping,
  delivery: Delivery,
  onFailure: ProcessStageOptions['onFailure'],
): readonly Batch[] {
  const done: string[] = [];
  for (let i = 0; i < lines.size; i++) {
    try {
      done.push(map(lines.lines[i] as string));
    } catch (error) {
      onFailure(lines.eventAt(i), delivery, error);
    }
  }
  if (done.length === 0) return [];
  return [new LineBatch(lines.with(done, lines.areVerbatim && addsVerbatim), delivery)];
}
