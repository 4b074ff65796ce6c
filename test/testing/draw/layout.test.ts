import { describe, expect, it } from '@jest/globals';
import { wrapText } from '../../../src/graph/words.ts';
import { changesBetween, changesText } from '../../../src/testing/draw/changes.ts';
import { columnWidths, gridOf, panelsOf, type Ruler } from '../../../src/testing/draw/grid.ts';
import { layoutOf } from '../../../src/testing/draw/layout.ts';
import { settingsTexts } from '../../../src/testing/draw/settings-texts.ts';
import { gapText, timeText } from '../../../src/testing/draw/value-text.ts';
import type { Trace, TraceMark, TraceRow } from '../../../src/testing/index.ts';

const event = (data: object, timestamp = '') => ({ timestamp, data: data as Record<string, unknown> });

const mark = (at: number, letter: string, data: object = { value: letter }): TraceMark => ({
  kind: 'event',
  at,
  letter,
  event: event(data),
});

const row = (kind: TraceRow['place']['kind'], name: string, marks: readonly TraceMark[]): TraceRow => ({
  place: { kind, name },
  plugin: 'noop',
  settings: {},
  marks,
});

const trace = (
  rows: readonly TraceRow[],
  states: Trace['states'] = [{ at: 0, state: 'running' }],
): Trace => ({
  pipeline: 'main',
  rows,
  states,
});

const names = (drawn: Trace, index: number) =>
  [...(layoutOf(drawn).rows[index]?.cells.values() ?? [])].map(({ glyphs }) =>
    glyphs.map(({ text }) => text).join(' '),
  );

const labels = (times: readonly number[]) =>
  layoutOf(
    trace([
      row(
        'collect',
        'web',
        times.map((at) => mark(at, 'a')),
      ),
    ]),
  ).columns.map(({ label }) => label);

describe('the axis', () => {
  it('has a column for each time, and says which gaps are left out', () => {
    const { columns } = layoutOf(
      trace([row('collect', 'web', [mark(3, 'a'), mark(3.4, 'b'), mark(3_600_004, 'c')])]),
    );
    expect(columns.map(({ label, pause }) => [label, pause])).toEqual([
      ['0', undefined],
      ['3ms', undefined],
      ['1h4ms', '1h'],
    ]);
  });

  it('writes a short gap late in a run as the difference', () => {
    expect(labels([999, 2000, 2250, 5000])).toEqual(['0', '999ms', '2s', '+250ms', '5s']);
  });

  it('keeps the bursts of a run with hundreds of events apart', () => {
    const times = [0, 1, 2].flatMap((hour) => Array.from({ length: 50 }, (_, i) => hour * 3_600_000 + i));
    expect(labels(times).filter((label) => label.includes('…'))).toEqual([
      '4ms…47ms',
      '1h3ms…1h47ms',
      '2h3ms…2h47ms',
    ]);
  });

  it('collapses restarts too, if there are hundreds', () => {
    const states = Array.from({ length: 400 }, (_, i) => ({
      at: i * 1000,
      state: i % 2 === 0 ? ('running' as const) : ('backing_off' as const),
    }));
    expect(layoutOf(trace([], states)).columns.length).toBeLessThan(20);
  });
});

describe('names of events', () => {
  it('tell what was changed, at which stage', () => {
    const drawn = trace([
      row('collect', 'web', [mark(0, 'a', { line: 'k-1' }), mark(1, 'a', { line: 'k-1' })]),
      row('process', 'mask', [mark(0, 'a', { line: '*' }), mark(1, 'a', { line: '*' })]),
      row('process', 'tag', [mark(0, 'a', { line: '*', n: 1 }), mark(1, 'a', { line: '*', n: 2 })]),
    ]);
    expect([0, 1, 2].map((i) => names(drawn, i))).toEqual([
      ['a', 'a'],
      ['a′', 'a′'],
      ['a″', 'a‴'],
    ]);
    expect(layoutOf(drawn).legend.lines).toEqual([
      { names: ['a'], text: 'line: "k-1"', stage: undefined },
      { names: ['a′'], text: 'line: "k-1" → "*"', stage: 'mask' },
      { names: ['a″'], text: '+ n: 1', stage: 'tag' },
      { names: ['a‴'], text: '+ n: 2', stage: 'tag' },
    ]);
  });

  it('keep events apart that go by the same letter', () => {
    const drawn = trace([
      row('collect', 'web', [mark(0, 'a', { line: 'GET / k-1' })]),
      row('collect', 'api', [mark(0, 'a', { line: 'hello' })]),
      row('process', 'mask', [mark(0, 'a', { line: 'GET / *' }), mark(0, 'a', { line: 'hello' })]),
    ]);
    expect([0, 1, 2].flatMap((i) => names(drawn, i))).toEqual(['a', 'a₂', 'a′ a₂']);
  });

  it('say the same of many events once', () => {
    const letters = [...'abcdefgh'];
    const drawn = trace([
      row(
        'collect',
        'web',
        letters.map((letter, i) => mark(i, letter)),
      ),
      row(
        'process',
        'tag',
        letters.map((letter, i) => mark(i, letter, { value: letter, host: 'h' })),
      ),
    ]);
    expect(layoutOf(drawn).legend.lines).toEqual([
      { names: ['a′', 'b′', 'c′', 'd′', 'e′', '…', 'h′'], text: '+ host: "h"', stage: 'tag' },
    ]);
  });
});

describe('the end of a collector', () => {
  it('comes after what the window held back', () => {
    const marks: TraceMark[] = [mark(0, 'a'), { kind: 'end', at: 0 }, mark(3000, 'b')];
    const [web] = layoutOf(trace([row('collect', 'web', marks)])).rows;
    expect([...(web?.cells.values() ?? [])].map(({ glyphs }) => glyphs.map(({ kind }) => kind))).toEqual([
      ['event'],
      ['event', 'end'],
    ]);
    expect(web?.segments).toEqual([{ from: 0, to: 1, isOpen: false }]);
  });
});

describe('changesText', () => {
  const text = (before: object, after: object) =>
    changesText(changesBetween(event(before, '1'), event(after, '2')));

  it.each([
    [{ a: 1 }, { a: 2 }, 'a: 1 → 2'],
    [{ a: 1 }, { a: 1, b: 2 }, '+ b: 2'],
    [{ a: 1, b: 2 }, { a: 1 }, '− b'],
    [{ a: { b: ['x', 'y'] } }, { a: { b: ['x', 'z'] } }, 'a.b[1]: "y" → "z"'],
    [{ a: 'x'.repeat(60) }, { a: `${'x'.repeat(60)}!` }, 'a: "…xxxxxxxx" → "…xxxxxxxx!"'],
    [{ a: '"' }, { a: '\n' }, 'a: "\\"" → "\\n"'],
    [{}, { a: 1, b: 2, c: 3, d: 4, e: 5, f: 6 }, '+ a: 1, + b: 2, + c: 3, + d: 4, … 2 more'],
  ])('%j, %j: %s', (before, after, expected) => {
    expect(text(before, after)).toBe(expected);
  });
});

describe('settingsTexts', () => {
  const texts = (settings: Record<string, unknown>) =>
    settingsTexts(settings).map((setting) => setting.replaceAll('\u00a0', ' '));

  it.each([
    [{ paths: ['a', 'b'], one: ['a'] }, ['paths: [a, b]', 'one: a']],
    [{ rules: { A: 'x', B: 'y' } }, ['rules: {A: x, B: y}']],
    [{ off: false, none: null, empty: [], zero: 0 }, ['zero: 0']],
    [{ delimeter: ' ' }, ["delimeter: ' '"]],
    [{ long: 'x'.repeat(99) }, [`long: ${'x'.repeat(99)}`]],
    [{ long: 'x'.repeat(999) }, [`long: ${'x'.repeat(240)} …`]],
    [{ when: 'data.n > 10 && '.repeat(20) }, [`when: '${'data.n > 10 && '.repeat(14)}data.n > 10 …`]],
  ])('%j', (settings, expected) => {
    expect(texts(settings)).toEqual(expected);
  });
});

describe('texts of times', () => {
  it.each([
    [0, '0', '0ms'],
    [999, '999ms', '999ms'],
    [61_001, '1m1.001s', '1m'],
    [5_400_000, '1h30m', '1.5h'],
    [90_061_001, '1d1h1m1.001s', '1d'],
    [45_300, '45.3s', '45s'],
  ])('%i ms', (ms, exact, gap) => {
    expect([timeText(ms), gapText(ms)]).toEqual([exact, gap]);
  });
});

describe('panelsOf', () => {
  const column = { lead: 2, width: 8, first: 8, state: undefined };
  const spans = (columns: number, available: number) =>
    panelsOf(
      Array.from({ length: columns }, () => column),
      available,
    ).map(({ from, to }) => [from, to]);

  it('keeps everything in one panel that fits', () => {
    expect(spans(3, 40)).toEqual([[0, 2]]);
  });

  it('makes several about equally wide', () => {
    expect(spans(5, 40)).toEqual([
      [0, 2],
      [3, 4],
    ]);
  });

  it('puts a column that is too wide in a panel of its own', () => {
    expect(spans(2, 5)).toEqual([
      [0, 0],
      [1, 1],
    ]);
  });
});

describe('gridOf', () => {
  const RULER: Ruler = { label: () => 10, cell: () => 10, lead: () => 2, state: () => 10 };
  const states: Trace['states'] = [
    { at: 0, state: 'running' },
    { at: 2, state: 'backing_off' },
    { at: 4000, state: 'running' },
  ];
  const drawn = trace(
    [
      row('collect', 'web', [mark(0, 'a'), { kind: 'error', at: 2 }, mark(4000, 'b'), mark(4001, 'c')]),
      row('process', 'mask', [mark(0, 'a'), mark(4001, 'c')]),
    ],
    states,
  );

  /** The grids of the run, so many columns in each. */
  const grids = (columns: number) => {
    const layout = layoutOf(drawn);
    const widths = columnWidths(layout, RULER);
    return panelsOf(widths, columns * 12).map((panel) => gridOf(layout, panel, widths));
  };

  it('has the exact time in the first column of each panel, and the difference in others', () => {
    expect(grids(4).map(({ columns }) => columns.map(({ time }) => time))).toEqual([
      ['0', '2ms', '4s', '+1ms'],
    ]);
    expect(grids(1).map(({ columns }) => columns.map(({ time }) => time))).toEqual([
      ['0'],
      ['2ms'],
      ['4s'],
      ['4.001s'],
    ]);
  });

  it('cuts states, lines and cells at the ends of its panel', () => {
    const parts = grids(1).map((grid) => ({
      states: grid.states.map(({ state, from, to }) => [state, from, to]),
      rails: grid.rows.map(({ stage, rails }) => [stage.name, ...rails.map(({ from, to }) => [from, to])]),
      cells: grid.rows.map(({ cells }) => cells.map((cell) => cell?.glyphs.map(({ text }) => text).join())),
    }));
    const { states: inLast } = parts.at(-1) as (typeof parts)[number];
    // The run goes on at its end.
    expect(inLast).toEqual([['running', undefined, undefined]]);
    expect(parts[0]).toEqual({
      states: [['running', 0, undefined]],
      rails: [
        ['web', [0, undefined]],
        ['mask', [0, undefined]],
      ],
      cells: [['a'], ['a']],
    });
    expect(parts[1]).toEqual({
      states: [['backing_off', 0, undefined]],
      rails: [
        ['web', [undefined, 0]],
        ['mask', [undefined, 0]],
      ],
      cells: [[''], [undefined]],
    });
  });
});

describe('wrapText', () => {
  it.each([
    ['one two three', 7, ['one two', 'three']],
    ['abcdefgh', 3, ['abc', 'def', 'gh']],
    ['日本語', 4, ['日本', '語']],
    ['', 5, ['']],
  ])('%s, %i', (text, width, expected) => {
    expect(wrapText(text, width)).toEqual(expected);
  });
});
