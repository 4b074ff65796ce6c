import { describe, expect, it } from '@jest/globals';
import { drawText } from '../../../src/testing/draw/draw-text.ts';
import type { Trace } from '../../../src/testing/index.ts';
import { traces } from './runs.ts';

/** The drawing, set off by a line break at its start. */
const drawn = (trace: Trace, options?: Parameters<typeof drawText>[1]) => `\n${drawText(trace, options)}`;

const ESCAPE = String.fromCharCode(27);

describe('drawText', () => {
  it('shows what a mask changed', () => {
    expect(drawn(traces.masked(), { title: 'Keys are masked' })).toBe(`
Keys are masked
completed after 5.004s · 3 collected · delivered: archive 3

  0  2ms ┄5s┄ 5.003s +1ms
  ▸ running          ▸ completed
collect web: file
        paths: /var/log/web.log
  a──b───┄┄┄┄─c──────│
┌──────────────────────────────────┐
│ secrets: regex_mask   rules: KEY │
└──────────────────────────────────┘
  a──b′──┄┄┄┄─c′──────
forward archive: disk   path: /data
        filename: a.jsonl
  a──b′──┄┄┄┄─c′──────

a   line: "one"
b   line: "user k-123"
b′  line: "user k-123" → "user <:KEY:>"   (secrets)
c   n: 3, key: "k-9"
c′  key: "k-9" → "<:KEY:>"   (secrets)
│   the collector completed
`);
  });

  it('shows delays and children', () => {
    expect(drawn(traces.children())).toBe(`
main
completed after 14.001s · 2 collected · delivered: archive 6

  0  ┄1s┄ 1s ┄2s┄ 3s ┄1s┄ 4s ┄6s┄ 10.001s +1ms     +999ms ┄2s┄ 13.001s ┄1s┄ 14.001s
  ▸ running                                                                 ▸ completed
collect web: file   paths: /var/log/web.log
  a──┄┄┄┄────┄┄┄┄────┄┄┄┄────┄┄┄┄─b───────│
┌───────────────────────────────────────────────────────────────────────────────────────┐
│ secrets: regex_mask   rules: KEY                                                      │
└───────────────────────────────────────────────────────────────────────────────────────┘
  a′─┄┄┄┄────┄┄┄┄────┄┄┄┄────┄┄┄┄─b───────────────────────┄┄┄┄─────────┄┄┄┄──
┌───────────────────────────────────────────────────────────────────────────────────────┐
│ children: test   delay: 1   child_events_count: 2                                     │
└───────────────────────────────────────────────────────────────────────────────────────┘
  ───┄┄┄┄─a′─┄┄┄┄─a″─┄┄┄┄─a‴─┄┄┄┄──────────────────b──────┄┄┄┄─b′──────┄┄┄┄─b″
forward archive: disk   path: /data   filename: a.jsonl
  ───┄┄┄┄─a′─┄┄┄┄─a″─┄┄┄┄─a‴─┄┄┄┄──────────────────b──────┄┄┄┄─b′──────┄┄┄┄─b″

a      n: 1, key: "k-77"
a′     key: "k-77" → "<:KEY:>"   (secrets)
a″ b′  + children-child-count: 1   (children)
a‴ b″  + children-child-count: 2   (children)
│      the collector completed
`);
  });

  it('shows a slow and a failing forwarder, and the window that they fill', () => {
    expect(drawn(traces.fanOut())).toBe(`
main
completed after 6s · 4 collected, 2 retried · delivered: archive 4, live 4

  0         314ms   317ms  ┄2.7s┄ 3s     ┄3s┄ 6s
  ▸ running                                   ▸ completed
collect web: file   paths: /var/log/web.log
  (ab)─────────────────────┄┄┄┄┄┄─(cd│)
┌─────────────────────────────────────────────────────────┐
│ secrets: regex_mask   rules: KEY                        │
└─────────────────────────────────────────────────────────┘
  (ab)─────────────────────┄┄┄┄┄┄─(cd)───┄┄┄┄──
forward archive: disk   path: /data   filename: a.jsonl
  ─────────────────────────┄┄┄┄┄┄─(ab)───┄┄┄┄─(cd)
                                  1 call      1 call
forward live: stdout
  ↻1────────↻2──────(ab)───┄┄┄┄┄┄─(cd)───┄┄┄┄──
  314ms     3ms     1 call        1 call

↻   an attempt failed; the next one after the time below
│   the collector completed
`);
  });

  it('shows errors, and restarts after backing off', () => {
    expect(drawn(traces.restarts())).toBe(`
main
completed after 3h801ms · 6 collected · delivered: archive 6

  0    1ms ┄1h┄ 1h1ms          +720ms +1ms 1h723ms        +77ms +1ms ┄2h┄ 3h801ms
  ▸ running     ▸ backing_off  ▸ running   ▸ backing_off  ▸ running       ▸ completed
collect web: file   paths: /var/log/web.log
  a────────┄┄┄┄─#              b───────────#              c──────────┄┄┄┄─│
collect api: beacons   beacons: *
  x────│                       x──────│                   x─────│
┌─────────────────────────────────────────────────────────────────────────────────────┐
│ secrets: regex_mask   rules: KEY                                                    │
└─────────────────────────────────────────────────────────────────────────────────────┘
  (ax)─────┄┄┄┄──              (bx)─────────              (cx)───────┄┄┄┄──
forward archive: disk   path: /data   filename: a.jsonl
  (ax)─────┄┄┄┄──              (bx)─────────              (cx)───────┄┄┄┄──

#   the collector failed
│   the collector completed
`);
  });

  it('shows the dead letter', () => {
    expect(drawn(traces.deadLetter())).toBe(`
main
completed after 316ms · 3 collected, 1 retried, 1 dead-lettered · delivered: archive 2

  0  2ms   3ms 4ms     316ms
  ▸ running            ▸ completed
collect web: file
        paths: /var/log/web.log
  a──b─────c───│
┌──────────────────────────────────┐
│ secrets: regex_mask   rules: KEY │
└──────────────────────────────────┘
  a──b′────c────────────
forward archive: disk   path: /data
        filename: a.jsonl
  a──↻1────────────────(↓b′ c)
     314ms
dead letter letters: noop
  ─────────────────────b′

b   line: "k-1"
b′  line: "k-1" → "<:KEY:>"   (secrets)
↻   an attempt failed; the next one after the time below
↓   to the dead letter: "the test lets this forwarder fail"
│   the collector completed
`);
  });

  it('shows what was dropped, and why', () => {
    expect(drawn(traces.drops())).toBe(`
main
completed after 3ms · 3 collected, 2 dropped · delivered: archive 1

  0      1ms     2ms 3ms
  ▸ running          ▸ completed
collect web: file
        paths: /var/log/web.log
  a──────b───────c───│
┌──────────────────────────────────┐
│ secrets: regex_mask   rules: KEY │
└──────────────────────────────────┘
  ✗a─────b───────c────
  failed
forward archive: disk   path: /data
        filename: a.jsonl
  ───────✗b──────c────
         gave up

a   at: Uint8Array(1) [ 0 ]
✗   dropped (failed: processor_failed, gave up: forwarder_failed)
│   the collector completed
`);
  });

  it('fits a day of virtual time on a page', () => {
    expect(drawn(traces.day())).toBe(`
main
completed after 20h6ms · 6 collected · delivered: archive 6

  0 ┄4h┄ 4h1ms ┄4h┄ 8h2ms ┄4h┄ 12h3ms ┄4h┄ 16h4ms ┄4h┄ 20h5ms +1ms
  ▸ running                                                   ▸ completed
collect web: file   paths: /var/log/web.log
  a─┄┄┄┄─b─────┄┄┄┄─c─────┄┄┄┄─d──────┄┄┄┄─e──────┄┄┄┄─f──────│
forward archive: disk   path: /data   filename: a.jsonl
  a─┄┄┄┄─b─────┄┄┄┄─c─────┄┄┄┄─d──────┄┄┄┄─e──────┄┄┄┄─f───────

│   the collector completed
`);
  });

  it('collapses 500 events, and says how many', () => {
    expect(drawn(traces.many())).toBe(`
main
completed after 51.9s · 500 collected · delivered: archive 500

  0     100ms     200ms     300ms     400ms…1.7s     +100ms     +100ms     2s
  ▸ running
collect web: file   paths: /var/log/web.log
  a─────b─────────c─────────d─────────e…r×14─────────s──────────t──────────u──
┌────────────────────────────────────────────────────────────────────────────────────┐
│ slow: test   delay: 2                                                              │
└────────────────────────────────────────────────────────────────────────────────────┘
  ─────────────────────────────────────────────────────────────────────────a──
forward archive: disk   path: /data   filename: a.jsonl
  ─────────────────────────────────────────────────────────────────────────a──

      2.1s     +100ms     2.3s     2.4s…49.7s     +100ms     +100ms 49.901s     +99ms
  ▸ running
collect web: file
  ────v────────w──────────x────────y…d×474────────e──────────f──────│
┌────────────────────────────────────────────────────────────────────────────────────┐
│ slow: test                                                                         │
└────────────────────────────────────────────────────────────────────────────────────┘
  ────b────────c──────────d────────e…j×474────────k──────────l──────────────────m─────
forward archive: disk
  ────b────────c──────────d────────e…j×474────────k──────────l──────────────────m─────

      50.1s     50.2s     50.3s…51.6s     +100ms     +100ms     51.9s
  ▸ running                                                     ▸ completed
┌────────────────────────────────────────────────────────────────────────────────────┐
│ slow: test                                                                         │
└────────────────────────────────────────────────────────────────────────────────────┘
  ────n─────────o─────────p…c×14──────────d──────────e──────────f
forward archive: disk
  ────n─────────o─────────p…c×14──────────d──────────e──────────f

│   the collector completed
`);
  });

  it('collapses thousands of retries of a run that does not end', () => {
    expect(drawn(traces.neverDelivered())).toBe(`
main
still running at 23h59m19.925s · 1 collected, 2916 retried · delivered: archive 0

  0     1ms     314ms   317ms ┄1.1s┄ 1.372s ┄3.9s┄ 5.296s…5h50m12.218s
  ▸ running
collect web: file   paths: /var/log/web.log
  a─────│
┌─────────────────────────────────────────────────────────────────────────┐
│ secrets: regex_mask   rules: KEY                                        │
└─────────────────────────────────────────────────────────────────────────┘
  a───────────────────────────┄┄┄┄┄┄────────┄┄┄┄┄┄─────────────────────
forward archive: disk   path: /data   filename: a.jsonl
  ↻1────────────↻2──────↻3────┄┄┄┄┄┄─↻4─────┄┄┄┄┄┄─↻5…732×728──────────
  314ms         3ms     1.1s         3.9s          165ms…60s

  ┄26s┄ 5h50m38.264s…12h48.182s ┄10s┄ 12h58.134s…17h53m54.841s
  ▸ running
┌─────────────────────────────────────────────────────────────────────────┐
│ secrets: regex_mask                                                     │
└─────────────────────────────────────────────────────────────────────────┘
  ┄┄┄┄┄─────────────────────────┄┄┄┄┄──────────────────────────
forward archive: disk
  ┄┄┄┄┄─↻733…1459×727───────────┄┄┄┄┄─↻1460…2187×728───────────
        48ms…60s                      41ms…60s

  ┄48s┄ 17h54m42.669s…23h58m11.596s ┄53s┄ 23h59m4.247s ┄16s┄ 23h59m19.925s
  ▸ running
┌─────────────────────────────────────────────────────────────────────────┐
│ secrets: regex_mask                                                     │
└─────────────────────────────────────────────────────────────────────────┘
  ┄┄┄┄┄─────────────────────────────┄┄┄┄┄──────────────┄┄┄┄┄───────────────▸
forward archive: disk
  ┄┄┄┄┄─↻2188…2914×727──────────────┄┄┄┄┄─↻2915────────┄┄┄┄┄─↻2916─────────▸
        45ms…60s                          16s                57s

↻   an attempt failed; the next one after the time below
│   the collector completed
`);
  });

  it('escapes what a terminal would act upon', () => {
    expect(drawn(traces.hostile(), { title: `bell ${String.fromCharCode(7)}` })).toBe(String.raw`
bell \u0007
completed after 3ms · 3 collected · delivered: archive 3

  0  1ms 2ms 3ms
  ▸ running  ▸ completed
collect web: file
        paths: /var/log/web.log
  a──<───&───│
┌──────────────────────────────────┐
│ secrets: regex_mask   rules: <&" │
└──────────────────────────────────┘
  a′─<───&────
forward archive: disk   path: /data
        filename: a.jsonl
  a′─<───&────

a   line: "k-1<&\"\n\u001b[31m\u202e"
a′  line: "k-1<&\"\n\u001b[31m\u202e" → "<:<&\":>\u001b[31m\u202e"   (secrets)
<   line: "]]>"
&   line: "日本"
│   the collector completed
`);
  });

  it('breaks a run that is too wide into panels', () => {
    expect(drawn(traces.day(), { width: 40 })).toBe(`
main
completed after 20h6ms · 6 collected ·
delivered: archive 6

  0 ┄4h┄ 4h1ms ┄4h┄ 8h2ms ┄4h┄ 12h3ms
  ▸ running
collect web: file
        paths: /var/log/web.log
  a─┄┄┄┄─b─────┄┄┄┄─c─────┄┄┄┄─d──────
forward archive: disk   path: /data
        filename: a.jsonl
  a─┄┄┄┄─b─────┄┄┄┄─c─────┄┄┄┄─d──────

  ┄4h┄ 16h4ms ┄4h┄ 20h5ms +1ms
  ▸ running               ▸ completed
collect web: file
  ┄┄┄┄─e──────┄┄┄┄─f──────│
forward archive: disk
  ┄┄┄┄─e──────┄┄┄┄─f───────

│   the collector completed
`);
  });

  it.each([
    [15, '…   and 1 more event\n'],
    [16, '…   and 2 more events\n'],
  ])('counts what the legend of %i events leaves out', (count, expected) => {
    const marks = Array.from({ length: count }, (_, at) => {
      const letter = String.fromCharCode(97 + at);
      return { kind: 'event', at, letter, event: { timestamp: '', data: { n: at } } } as const;
    });
    const row = { place: { kind: 'collect', name: 'web' }, plugin: 'file', settings: {}, marks } as const;
    expect(drawText({ pipeline: 'main', rows: [row], states: [] })).toContain(expected);
  });

  describe.each(Object.entries(traces))('of %s', (_, trace) => {
    it.each([40, 60, 100, 200])('has no line over %i cells, and no spaces at the end of one', (width) => {
      const lines = drawText(trace(), { width }).split('\n');
      expect(lines.filter((line) => [...line].length > width)).toEqual([]);
      expect(lines.filter((line) => /\s$/.test(line))).toEqual([]);
    });

    it('is the same with colours, apart from them', () => {
      const coloured = drawText(trace(), { colours: true });
      expect(coloured).toContain(ESCAPE);
      expect(coloured.replaceAll(new RegExp(`${ESCAPE}\\[\\d+m`, 'g'), '')).toBe(drawText(trace()));
    });
  });

  it('draws a run in which nothing happened', () => {
    expect(drawText({ pipeline: 'empty', states: [], rows: [] })).toBe('empty\nidle after 0 · 0 collected\n');
  });

  it.each(Object.entries(traces))('names the state in each panel: %s', (_, trace) => {
    const panels = drawText(trace(), { width: 40 })
      .split('\n\n')
      .filter((part) => part.includes('forward '));
    expect(panels.length).toBeGreaterThan(0);
    for (const panel of panels) expect(panel.split('\n')[1]).toContain('▸ ');
  });

  it('paints what a processor drops on purpose faint, and what is lost as trouble', () => {
    const trouble = `${ESCAPE}[1m${ESCAPE}[31m✗`;
    expect(drawText(traces.filtered(), { colours: true })).not.toContain(trouble);
    expect(drawText(traces.drops(), { colours: true })).toContain(trouble);
  });
});
