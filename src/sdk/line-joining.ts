import type { CollectedEvent } from './events.ts';

/**
 * Which lines belong together. Lines are joined with lines of the same source only: of the same `data.source`, or the
 * same tag, and of the same `data.stream` (`stdout`, `stderr`), if events have one. A state is any value but undefined;
 * the engine keeps it for each source and stream.
 */
export interface LineJoining {
  /** The line of an event; undefined for an event that is passed on as it is. */
  lineOf(event: CollectedEvent): string | undefined;
  /** The first of several events, with all lines in place of its own. They are joined by LF, or as `join` does. */
  withLine(event: CollectedEvent, lines: string): CollectedEvent;
  /** The state of a line that others may follow; undefined for one that stands alone, which then leaves at once. */
  begin(line: string): unknown;
  /** The state of a line that belongs to the lines before it; undefined for one that does not. */
  next(state: unknown, line: string): unknown;
  /** Whether an event whose last line has this state leaves at once. Default: it waits for further lines. */
  readonly isComplete?: (state: unknown) => boolean;
  /**
   * Whether a line with this state belongs to the lines before it only if a later line says so, by a state for which this
   * is false. If none does, the lines that wait for it are looked at again, from the first one, as if they came then.
   * Default: every line with a state belongs to those before it.
   */
  readonly isPending?: (state: unknown) => boolean;
  /** Whether the lines that wait in this state belong to those before them when this line follows, which does not. */
  readonly keepsPending?: (state: unknown, line: string) => boolean;
  /** One line of several. Default: they are joined by LF. */
  readonly join?: (lines: readonly string[]) => string;
  /**
   * Whether a line may end inside a character that the next one continues. The lines then hold the bytes of such a
   * character as lone surrogates, U+DC80 to U+DCFF, which are decoded once the lines are joined.
   */
  readonly joinsBytes?: boolean;
  /** The stream of a line, if the line tells it: lines of other streams may lie between those of one event. */
  readonly streamOf?: (line: string) => string | undefined;
  /** True if the line of an event is `data.line`, so that events of lines need not be created. */
  readonly readsLines: boolean;
  /** Whether one of these lines, with LF between them, may have a state. Where none does, `begin` is not called. */
  readonly mayBegin?: (lines: string) => boolean;
  /** The most lines of an event, and the most bytes. */
  readonly maxLines: number;
  readonly maxBytes: number;
  /** Seconds after its first line at which an event leaves, whatever may follow. */
  readonly seconds: number;
}
