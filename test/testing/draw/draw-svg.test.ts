import { createRequire } from 'node:module';
import { describe, expect, it } from '@jest/globals';
import { drawSvg } from '../../../src/testing/draw/index.ts';
import { traces } from './runs.ts';

// The parser that swirly itself brings along.
const { resolve } = createRequire(import.meta.url);
const { DOMParser } = createRequire(resolve('@swirly/renderer-node'))('@xmldom/xmldom');

interface XmlElement {
  readonly textContent: string;
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

function textsOf(xml: string): string[] {
  return Array.from(parsed(xml).getElementsByTagName('text'), ({ textContent }) => textContent);
}

describe('drawSvg', () => {
  describe.each(Object.entries(traces))('of %s', (_, trace) => {
    it('is well-formed, of finite size, and the same every time', async () => {
      const svg = await drawSvg(trace());
      const { documentElement } = parsed(svg);
      expect(Number(documentElement.getAttribute('width'))).toBeGreaterThanOrEqual(800);
      expect(Number(documentElement.getAttribute('width'))).toBeLessThanOrEqual(1100);
      expect(Number(documentElement.getAttribute('height'))).toBeGreaterThan(100);
      expect(svg).not.toMatch(/NaN|undefined|Infinity|="[^"]*\d\.\d{3}/);
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
      ...['c', 'b', 'a'],
      'secrets: regex_mask   rules: KEY',
      ...['c′', 'b′', 'a'],
      'forward archive: disk   path: /data   filename: a.jsonl',
      ...['c′', 'b′', 'a'],
      ...['a', 'line: "one"', 'b', 'line: "user k-123"'],
      ...['b′', 'line: "user k-123" → "user <:KEY:>"   (secrets)'],
      ...['c', 'n: 3, key: "k-9"', 'c′', 'key: "k-9" → "<:KEY:>"   (secrets)'],
      'the collector completed',
    ]);
  });

  it.each([
    ['retries and their waits', traces.fanOut, ['1', '314ms', '2', '3ms']],
    ['restarts', traces.restarts, ['backing off', 'the collector failed']],
    ['drops and their reasons', traces.drops, ['failed', 'gave up']],
    ['the dead letter', traces.deadLetter, ['dead letter letters: noop']],
    ['collapsed events', traces.many, ['e…d ×494', '400ms…49.7s']],
    ['collapsed retries', traces.neverDelivered, ['5…2914 ×2910', '41ms…60s']],
  ])('shows %s', async (_, trace, words) => {
    expect(textsOf(await drawSvg(trace()))).toEqual(expect.arrayContaining(words));
  });

  it('refuses what is not well-formed, so that the tests above mean something', () => {
    expect(() => parsed('<svg><g></svg>')).toThrow();
    expect(() => parsed('<svg>&nope;</svg>')).toThrow();
  });
});
