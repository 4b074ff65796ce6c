import type { Cell } from './cells.ts';
import type { Column } from './columns.ts';
import { type Lane, type Layout, type LayoutRow, type Segment, type StateSpan, stagesIn } from './layout.ts';

/** How much room things take, in characters or pixels. */
export interface Ruler {
  /** A time on the axis, with the room beside it. */
  label(text: string): number;
  /** What happened at a stage at one time, with the room beside it. */
  cell(cell: Cell): number;
  /** The gap before a column. */
  lead(column: Column): number;
  /** The name of a state that begins in a column of this width. */
  state(state: StateSpan['state'], width: number): number;
}

/** What a column needs, in characters or pixels. */
interface ColumnWidths {
  /** Before the column: the gap since the one before it. */
  readonly lead: number;
  readonly width: number;
  /** Its width as the first column of a panel. */
  readonly first: number;
  /** The label of the state that begins here. */
  readonly state: number | undefined;
}

/** Columns that stand side by side; a picture that is too wide is broken into several. */
export interface Panel {
  readonly from: number;
  /** The last column of it. */
  readonly to: number;
  /** Where each column starts, counted from the panel's first. */
  readonly x: readonly number[];
  readonly width: number;
}

/** A panel as a grid of cells: what stands in it and where, for a painter that only paints. */
export interface Grid {
  readonly columns: readonly GridColumn[];
  readonly states: readonly (GridSpan & {
    readonly state: StateSpan['state'];
    /** Whether no other state follows. */
    readonly isFinal: boolean;
  })[];
  readonly rows: readonly GridRow[];
  readonly areas: readonly GridArea[];
  readonly width: number;
  readonly isFirst: boolean;
  readonly isLast: boolean;
}

interface GridColumn {
  readonly x: number;
  readonly width: number;
  /** What the axis says. */
  readonly time: string;
  /** In words, the gap before it that is too long to be drawn. */
  readonly pause: string | undefined;
}

/** From one column to another one of the same panel. */
interface GridSpan {
  /** Undefined if it starts in an earlier panel. */
  readonly from: number | undefined;
  /** Undefined if it goes on at the end of the panel. */
  readonly to: number | undefined;
  /** Whether it still goes on when the run ends. */
  readonly isOpen: boolean;
}

interface GridRow {
  readonly stage: LayoutRow;
  readonly rails: readonly (GridSpan & {
    /** The columns that have a gap before them which is cut out. */
    readonly pauses: readonly number[];
  })[];
  /** One for each column. */
  readonly cells: readonly (Cell | undefined)[];
}

/** A part of a {@link Lane}. */
interface GridArea extends Lane {
  /** The highest number of the whole run. */
  readonly top: number;
  /** The number before the first column. */
  readonly before: number;
}

/** The room that each column needs: its time, and all that happened in it. */
export function columnWidths({ columns, rows, states }: Layout, ruler: Ruler): ColumnWidths[] {
  return columns.map((column, i) => {
    const cells = rows.flatMap((row) => row.cells.get(i) ?? []).map((cell) => ruler.cell(cell));
    const first = Math.max(ruler.label(column.exact), ...cells);
    const state = states.find(({ from }) => from === i);
    return {
      lead: i === 0 ? 0 : ruler.lead(column),
      width: Math.max(ruler.label(column.label), ...cells),
      first,
      state: state === undefined ? undefined : ruler.state(state.state, first),
    };
  });
}

/**
 * Puts columns side by side, no panel wider than `available`, if a single column fits. Several panels are made
 * about equally wide.
 */
export function panelsOf(columns: readonly ColumnWidths[], available: number): Panel[] {
  const panels = filled(columns, available);
  let narrowest = 1;
  for (let widest = available; narrowest < widest; ) {
    const middle = Math.floor((narrowest + widest) / 2);
    if (filled(columns, middle).length > panels.length) narrowest = middle + 1;
    else widest = middle;
  }
  return filled(columns, narrowest);
}

function filled(columns: readonly ColumnWidths[], available: number): Panel[] {
  const panels: Panel[] = [];
  let state = 0;
  for (let from = 0; from < columns.length; ) {
    const panel = fill(columns, from, available, state);
    panels.push(panel);
    for (const column of columns.slice(from, panel.to + 1)) state = column.state ?? state;
    from = panel.to + 1;
  }
  return panels;
}

function fill(columns: readonly ColumnWidths[], from: number, available: number, current: number): Panel {
  const x: number[] = [];
  let end = 0;
  // Where the label of the state ends: the next state must not begin before it.
  let stateEnd = current;
  for (const { lead, width: usual, first, state } of columns.slice(from)) {
    const width = x.length === 0 ? first : usual;
    const start = Math.max(end + lead, state === undefined || x.length === 0 ? 0 : stateEnd);
    const labelEnd = state === undefined ? stateEnd : start + state;
    if (x.length > 0 && Math.max(start + width, labelEnd) > available) break;
    x.push(start);
    end = start + width;
    stateEnd = labelEnd;
  }
  return { from, to: from + x.length - 1, x, width: Math.max(end, stateEnd) };
}

/** What stands in a panel. */
export function gridOf(layout: Layout, panel: Panel, widths: readonly ColumnWidths[]): Grid {
  const { columns, states, lanes } = layout;
  const inPanel = columns.slice(panel.from, panel.to + 1);
  const spanOf = ({ from, to, isOpen }: Segment): GridSpan => ({
    from: from < panel.from ? undefined : from - panel.from,
    to: to > panel.to || isOpen ? undefined : to - panel.from,
    isOpen,
  });
  return {
    width: panel.width,
    isFirst: panel.from === 0,
    isLast: panel.to === columns.length - 1,
    columns: inPanel.map(({ exact, label, pause }, i) => ({
      x: panel.x[i] as number,
      width: widths[panel.from + i]?.[i === 0 ? 'first' : 'width'] as number,
      time: i === 0 ? exact : label,
      pause,
    })),
    states: states
      .filter(
        // One that ends where the panel begins is not in it. The last one goes on after its column.
        (state) =>
          state.from <= panel.to &&
          (state.from >= panel.from || state.to > panel.from || state === states.at(-1)),
      )
      .map((state) => ({ ...spanOf(state), state: state.state, isFinal: state === states.at(-1) })),
    rows: stagesIn(layout, panel).map((stage) => ({
      stage,
      rails: stage.segments
        .filter(({ from, to, isOpen }) => from <= panel.to && (to >= panel.from || isOpen))
        .map((segment) => ({
          ...spanOf(segment),
          pauses: inPanel.flatMap(({ pause }, i) => {
            const column = panel.from + i;
            return pause !== undefined && column > segment.from && column <= segment.to ? i : [];
          }),
        })),
      cells: inPanel.map((_, i) => stage.cells.get(panel.from + i)),
    })),
    areas: lanes.map(({ name, levels }) => ({
      name,
      top: Math.max(1, ...levels.map(({ most }) => most)),
      before: levels[panel.from - 1]?.after ?? 0,
      levels: levels.slice(panel.from, panel.to + 1),
    })),
  };
}
