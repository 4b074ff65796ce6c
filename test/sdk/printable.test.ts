import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { printable, printableJson, printableLines } from '../../src/sdk/printable.ts';

/** What ends lines, steers a terminal, is invisible, or changes the direction of text. */
const DANGEROUS =
  '\u0000\u0007\b\u000b\f\r\u001b\u007f\u0085\u009b\u00ad\u061c\u200b\u200d\u200e\u2028\u2029\u202e\u2066\ufeff\u{e0041}';
const isDangerous = (text: string) => /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u.test(text);

describe('printable', () => {
  it('leaves nothing that a terminal acts upon, and one line', () => {
    expect(isDangerous(printable(`${DANGEROUS}\n\t`))).toBe(false);
    expect(printable('a\u001b[2J\u009b\u202eb\n\r\t\u{e0041}')).toBe(
      'a\\u001b[2J\\u009b\\u202eb\\n\\r\\t\\u{e0041}',
    );
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => !isDangerous(printable(text))));
  });

  it('leaves all other text as it is', () => {
    expect(printable('é 日本 عربى 👍🏽 «x» \\n')).toBe('é 日本 عربى 👍🏽 «x» \\n');
  });
});

describe('printableLines', () => {
  it('leaves line breaks and tabs', () => {
    expect(printableLines('a\n\tb\r\n\u2028')).toBe('a\n\tb\\u000d\n\\u2028');
  });
});

describe('printableJson', () => {
  it('gives JSON of the same value without what a terminal acts upon', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.boolean(), (text, indented) => {
        const value = { [text]: [text, DANGEROUS] };
        const json = printableJson(JSON.stringify(value, null, indented ? 2 : undefined));
        expect(isDangerous(json.replaceAll('\n', ''))).toBe(false);
        expect(JSON.parse(json)).toEqual(value);
      }),
    );
  });
});
