import { describe, expect, it } from '@jest/globals';
import { entropyByHand } from '../../bench/hand-loops.ts';
import { logLines, structuredLines, THREE_RULES } from '../../bench/log-generator.ts';
import { LOOPS, type LoopName } from '../../bench/loops/index.ts';
import { structured } from '../../bench/loops/structured.ts';
import { masksInTurn } from '../../bench/reference.ts';
import { THIRTY_RULES } from '../../bench/thirty-rules.ts';
import { entropyMasker, regexMasker } from '../../operators/index.ts';

const lines = [...logLines(2000)];
const plain = lines.map(masksInTurn(THREE_RULES));

describe('what is compared does the same', () => {
  it.each(Object.keys(LOOPS) as LoopName[])('the loop %s makes events of the masked lines', (name) => {
    const events = LOOPS[name](`${lines.join('\n')}\n`, '/var/log/"app".log').split('\n');
    expect(events.pop()).toBe('');
    expect(events.map((event) => JSON.parse(event))).toEqual(
      plain.map((line) => ({
        timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
        data: { line, source: '/var/log/"app".log' },
        backfill: true,
      })),
    );
  });

  it('the structured loop parses, filters and masks strings at any depth', () => {
    const documents = [...structuredLines(100)];
    const events = structured(`${documents.join('\n')}\n`, 'app.ndjson')
      .trimEnd()
      .split('\n');
    const mask = masksInTurn(THREE_RULES);
    const expected = documents
      .map((document) =>
        JSON.parse(document, (_, value) => (typeof value === 'string' ? mask(value) : value)),
      )
      .filter(({ level }) => level !== 'DEBUG');
    expect(events.map((event) => JSON.parse(event).data)).toEqual(
      expected.map((data) => ({ source: 'app.ndjson', ...data })),
    );
  });

  it('regexMasker masks three rules as the plain way does', () => {
    const mask = regexMasker({ rules: THREE_RULES });
    expect(lines.map((line) => mask(line))).toEqual(plain);
  });

  it('regexMasker masks thirty rules as the plain way does', () => {
    const mask = regexMasker({ rules: THIRTY_RULES });
    expect(lines.map((line) => mask(line))).toEqual(lines.map(masksInTurn(THIRTY_RULES)));
  });

  it('entropyMasker masks what the loop by hand does', () => {
    const mask = entropyMasker();
    expect(lines.map((line) => mask(line))).toEqual(lines.map(entropyByHand));
  });
});
