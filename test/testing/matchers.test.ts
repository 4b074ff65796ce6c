import { describe, expect, it } from '@jest/globals';
import { alignedRows } from '../../src/testing/aligned-rows.ts';
import { testPipeline } from '../../src/testing/index.ts';
import { parseMarbleRow } from '../../src/testing/marbles.ts';
import { millraceMatchers } from '../../src/testing/matchers.ts';

expect.extend(millraceMatchers);

const run = await testPipeline(
  {
    collectors: { web: { plugin: 'file', paths: ['/var/log/web.log'] } },
    processors: { secrets: { plugin: 'regex_mask', rules: { KEY: 'k-[0-9]+' } } },
    forwarders: { archive: { plugin: 'noop' } },
    pipelines: { main: { collect: 'web', process: 'secrets', forward: 'archive' } },
    host_config: {},
  },
  { collect: { web: { marbles: 'a-(bc) 5s d|', values: { a: 'one', b: 'k-1', c: 'two', d: 'k-2' } } } },
);
const values = { a: 'one', b: '<:KEY:>', c: 'two', d: '<:KEY:>' };

/** What a failed expectation says. */
function failure(expectation: () => void): string {
  try {
    expectation();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('the expectation holds');
}

describe('toForward', () => {
  it('holds for the same events at the same times, with or without the end of the run', () => {
    expect(run).toForward('archive', 'a-(bc) 5s d', values);
    expect(run).toForward('archive', 'a-(bc) 5s d|', values);
    expect(run).not.toForward('archive', 'a-(bc) 5s -d', values);
  });

  it('shows two aligned rows and the first value that differs', () => {
    expect(failure(() => expect(run).toForward('archive', 'a-(bc) 5s d', { ...values, b: 'k-1' }))).toBe(
      `toForward archive

Expected: a-(bc) 5s d
Received: a-(dc) 5s d

At 2ms, the first event that differs (- expected b, + received d):
  {
-   "line": "k-1"
+   "line": "<:KEY:>",
+   "source": "/var/log/web.log"
  }`,
    );
  });

  it('tells of a time that differs', () => {
    expect(failure(() => expect(run).toForward('archive', 'a-(bc) 1s d', values))).toContain(
      'was expected at 1006ms, but came at 5006ms.',
    );
  });

  it('tells of an event too few or too many', () => {
    expect(failure(() => expect(run).toForward('archive', 'a-(bc) 5s d 1s a', values))).toContain(
      'a was expected at 6007ms, but nothing more came',
    );
    expect(failure(() => expect(run).toForward('archive', 'a-(bc)', values))).toContain(
      'came at 5006ms, but nothing more was expected',
    );
  });

  it('tells of an end that differs', () => {
    expect(failure(() => expect(run).toForward('archive', 'a-(bc) 5s d#', values))).toBe(
      'toForward archive: all events are as expected, but the run was to be failed at 5007ms, and was completed at 5007ms',
    );
  });
});

describe('toEqualMarbles', () => {
  it('compares any row', () => {
    expect(run.left('web')).toEqualMarbles('a-(bc) 5s d', { a: 'one', b: 'k-1', c: 'two', d: 'k-2' });
    expect(failure(() => expect(run.left('web')).toEqualMarbles('-'))).toContain('Expected: ------');
  });
});

describe('alignedRows', () => {
  const row = (text: string) => parseMarbleRow(text).entries;

  it('keeps one axis for both rows', () => {
    expect(alignedRows(row('a-b'), row('-ab(cd)'))).toMatch(/^Expected: a-b----\nReceived: -ab\(cd\)\n/);
  });

  it('says that there are no events', () => {
    expect(alignedRows(row('-'), row('-'))).toBe(
      'Expected: (no events)\nReceived: (no events)\n\nThe rows are the same.',
    );
  });
});
