import { createRequire } from 'node:module';
import { describe, expect, it } from '@jest/globals';
import { drawSvg } from '../../../src/testing/draw/draw-svg.ts';
import { TROUBLE, textWidth } from '../../../src/testing/draw/svg-elements.ts';
import { traces } from './runs.ts';

const { DOMParser } = createRequire(import.meta.url)('@xmldom/xmldom');

interface XmlElement {
  readonly textContent: string;
  readonly tagName: string;
  readonly nodeType: number;
  readonly childNodes?: ArrayLike<XmlElement>;
  getAttribute(name: string): string | null;
}
interface XmlDocument {
  readonly documentElement: XmlElement;
  getElementsByTagName(name: string): ArrayLike<XmlElement>;
}

/** The document; what is not well-formed throws. */
function parsed(xml: string): XmlDocument {
  const refuse = (message: string) => {
    throw new Error(message);
  };
  const errorHandler = { warning: refuse, error: refuse, fatalError: refuse };
  return new DOMParser({ errorHandler }).parseFromString(xml, 'image/svg+xml');
}

interface Box {
  readonly words: string;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** Where words stand, by all that moves them; as wide as the drawing reckons. */
function textBoxes(element: XmlElement, x = 0, y = 0): Box[] {
  const moves = [
    ...(element.getAttribute('transform') ?? '').matchAll(/translate\((-?[\d.]+)[ ,](-?[\d.]+)\)/g),
  ];
  const left = moves.reduce((sum, [, dx]) => sum + Number(dx), x);
  const top = moves.reduce((sum, [, , dy]) => sum + Number(dy), y);
  if (element.tagName !== 'text') {
    return Array.from(element.childNodes ?? []).flatMap((child) =>
      child.nodeType === 1 ? textBoxes(child, left, top) : [],
    );
  }
  const words = element.textContent;
  const size = Number.parseFloat(element.getAttribute('font-size') ?? '12');
  const isMono = (element.getAttribute('font-family') ?? '').includes('mono');
  // Of a text of several sizes, the smaller parts are reckoned too wide, which is no matter here.
  const width = textWidth(words, Math.min(size, 12), isMono) * 0.9;
  const anchor = element.getAttribute('text-anchor') === 'middle' ? width / 2 : 0;
  const start = left + Number(element.getAttribute('x') ?? 0) - anchor;
  const base =
    top + Number(element.getAttribute('y') ?? 0) + (element.getAttribute('dy') === null ? 0 : size * 0.35);
  return words.trim() === ''
    ? []
    : [{ words, left: start, right: start + width, top: base - size * 0.7, bottom: base }];
}

function overlaps(a: Box, b: Box): boolean {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

function textsOf(xml: string): string[] {
  return Array.from(parsed(xml).getElementsByTagName('text'), ({ textContent }) => textContent);
}

describe('drawSvg', () => {
  describe.each(Object.entries(traces))('of %s', (_, trace) => {
    it('is well-formed, of finite size, and the same every time', async () => {
      const svg = await drawSvg(trace());
      const { documentElement } = parsed(svg);
      expect(Number(documentElement.getAttribute('width'))).toBeGreaterThanOrEqual(800);
      expect(Number(documentElement.getAttribute('width'))).toBeLessThanOrEqual(880);
      expect(Number(documentElement.getAttribute('height'))).toBeGreaterThan(100);
      expect(svg).not.toMatch(/NaN|undefined|Infinity|="[^"]*\d\.\d{3}/);
      // Shown at its own width, all of it can be read.
      const sizes = [...svg.matchAll(/font-size="([\d.]+)/g)].map(([, size]) => Number(size));
      expect(Math.min(...sizes)).toBeGreaterThanOrEqual(11);
      expect(await drawSvg(trace())).toBe(svg);
    });
  });

  it('has a title and a description for those who do not see it', async () => {
    const document = parsed(await drawSvg(traces.masked(), { title: 'Keys are masked' }));
    expect(document.documentElement.getAttribute('role')).toBe('img');
    expect(document.getElementsByTagName('title')[0]?.textContent).toBe('Keys are masked');
    expect(document.getElementsByTagName('desc')[0]?.textContent).toBe(
      'completed after 5.004s · 3 collected · delivered: archive 3',
    );
  });

  it('escapes titles, settings, letters and values', async () => {
    const title = `<script>"&'\n${String.fromCharCode(0)}`;
    const svg = await drawSvg(traces.hostile(), { title });
    expect(parsed(svg).getElementsByTagName('script')).toHaveLength(0);
    expect(textsOf(svg)).toEqual(
      expect.arrayContaining([
        `<script>"&'\\n\\u0000`,
        '<',
        '&',
        'line: "k-1<&\\"\\n\\u001b[31m\\u202e"',
        'line: "]]>"',
      ]),
    );
  });

  it('shows stages, times, states and changes', async () => {
    expect(textsOf(await drawSvg(traces.masked()))).toEqual([
      'main',
      'completed after 5.004s · 3 collected · delivered: archive 3',
      ...['0', '2ms', '5.003s', '5s', '+1ms', 'running', 'completed'],
      'collect web: file   paths: /var/log/web.log',
      ...['a', 'b', 'c'],
      'secrets: regex_mask   rules: KEY',
      ...['a', 'b′', 'c′'],
      'forward archive: disk   path: /data   filename: a.jsonl',
      ...['a', 'b′', 'c′'],
      ...['a', 'line: "one"', 'b', 'line: "user k-123"'],
      ...['b′', 'line: "user k-123" → "user <:KEY:>"   (secrets)'],
      ...['c', 'n: 3, key: "k-9"', 'c′', 'key: "k-9" → "<:KEY:>"   (secrets)'],
      'the collector completed',
      'time is not to scale, and long pauses are cut out',
    ]);
  });

  it.each([
    ['retries and their waits', traces.fanOut, ['1', '314ms', '2', '3ms']],
    ['restarts', traces.restarts, ['backing off', 'the collector failed']],
    ['drops and their reasons', traces.drops, ['failed', 'gave up']],
    ['the dead letter', traces.deadLetter, ['dead letter letters: noop']],
    ['collapsed events', traces.many, ['e…r ×14', '2.4s…49.7s']],
    ['collapsed retries', traces.neverDelivered, ['733…1459 ×727', '41ms…60s']],
  ])('shows %s', async (_, trace, words) => {
    expect(textsOf(await drawSvg(trace()))).toEqual(expect.arrayContaining(words));
  });

  it.each(Object.entries(traces).filter(([name]) => name !== 'hostile'))(
    'has no words over others, and none outside of the card: %s',
    async (_, trace) => {
      const svg = await drawSvg(trace());
      const boxes = textBoxes(parsed(svg).documentElement);
      const width = Number(parsed(svg).documentElement.getAttribute('width'));
      expect(boxes.length).toBeGreaterThan(5);
      expect(boxes.filter(({ left, right }) => left < 0 || right > width)).toEqual([]);
      const over = boxes.flatMap((a, i) =>
        boxes.slice(i + 1).flatMap((b) => (overlaps(a, b) ? [[a, b]] : [])),
      );
      expect(over).toEqual([]);
    },
  );

  it('would find words over others', () => {
    const box = { words: 'a', left: 0, right: 10, top: 0, bottom: 10 };
    expect(overlaps(box, { ...box, left: 5, right: 15 })).toBe(true);
    expect(overlaps(box, { ...box, left: 10, right: 15 })).toBe(false);
  });

  it('draws what a processor drops on purpose in grey, and what is lost in red', async () => {
    const meant = await drawSvg(traces.filtered());
    expect(textsOf(meant)).toContain('dropped on purpose (filtered)');
    expect(meant).not.toContain(TROUBLE);
    expect(await drawSvg(traces.drops())).toContain(TROUBLE);
  });

  it('has the arrow of a dead letter beside it where the mark of a retry is below', async () => {
    const svg = await drawSvg(traces.storm());
    const arrows = [...svg.matchAll(/translate\(([\d.]+) ([\d.]+)\)"><path d="M 0 -6 V 6/g)];
    expect(arrows.length).toBeGreaterThan(0);
    // A marble has a radius of 15.
    expect(arrows.some(([, x]) => Number(x) > 15)).toBe(true);
  });

  it('shows what is in flight and what waits in the buffer as areas', async () => {
    const svg = await drawSvg(traces.outage());
    expect(textsOf(svg)).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^in flight, at most 2$/),
        expect.stringMatching(/^waiting for room, at most \d+$/),
      ]),
    );
    const areas = [...svg.matchAll(/<path d="(M [^"]* Z)" fill/g)].map(([, d]) => d as string);
    const numbers = areas.flatMap((d) => [...d.matchAll(/H ([\d.]+)/g)].map(([, x]) => Number(x)));
    expect(areas.length).toBeGreaterThanOrEqual(2);
    expect(Math.max(...numbers)).toBeLessThanOrEqual(1000);
    expect(textsOf(await drawSvg(traces.masked())).join()).not.toContain('in flight');
  });

  it('is dark where the reader prefers that', async () => {
    expect(await drawSvg(traces.masked())).toContain('@media (prefers-color-scheme: dark)');
  });

  it('refuses what is not well-formed, so that the tests above mean something', () => {
    expect(() => parsed('<svg><g></svg>')).toThrow();
    expect(() => parsed('<svg>&nope;</svg>')).toThrow();
  });
});
