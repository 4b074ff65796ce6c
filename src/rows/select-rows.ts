import type { RouteCondition } from '../sdk/config.ts';
import type { CollectedEvent } from '../sdk/events.ts';
import type { LineEvents } from '../sdk/line-events.ts';
import type { Rows } from '../sdk/rows.ts';
import { processLines } from './process-lines.ts';

/** The rows for which a condition holds, and the positions of the others. */
interface Selection {
  readonly selected: Rows;
  readonly excluded: readonly number[];
  /** Where the condition cannot be evaluated, and why. */
  readonly failures: readonly (readonly [position: number, error: unknown])[];
}

/** Evaluates a condition for each row. */
export function selectRows(rows: Rows, condition: RouteCondition): Selection {
  const { lines } = rows;
  const { holdsForLine, holdsInText } = condition;
  if (lines !== undefined && holdsForLine !== undefined) return selectLines(lines, holdsForLine, holdsInText);
  const { events } = rows;
  const excluded: number[] = [];
  const failures: [number, unknown][] = [];
  const isSelected = (position: number): boolean => {
    try {
      if (condition.holds(events[position] as CollectedEvent)) return true;
      excluded.push(position);
    } catch (error) {
      failures.push([position, error]);
    }
    return false;
  };
  return { selected: rows.select(isSelected), excluded, failures };
}

function selectLines(
  lines: LineEvents,
  keeps: (line: string) => boolean,
  keepsIn: RouteCondition['holdsInText'],
): Selection {
  const map = (line: string) => (keeps(line) ? line : undefined);
  let excluded: readonly number[] = [];
  const failures: [number, unknown][] = [];
  const selected = processLines(
    lines,
    { map, keeps, keepsIn },
    {
      failed: (index, error) => failures.push([index, error]),
      dropped: (_, indexes) => {
        excluded = indexes();
      },
    },
  );
  return { selected, excluded, failures };
}
