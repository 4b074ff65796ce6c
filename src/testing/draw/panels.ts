/** What the columns of a picture need, in characters or pixels. */
export interface ColumnWidths {
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
