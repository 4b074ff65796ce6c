import { describe, expect, it } from '@jest/globals';
import pc from 'picocolors';
import { type PipelineResult, summaryText } from '../../src/cli/summary.ts';
import type { PipelineStats } from '../../src/sdk/status.ts';

const plain = pc.createColors(false);

const stats = (some: Partial<PipelineStats> = {}): PipelineStats => ({
  collected: 0,
  forwarded: {},
  dropped: {},
  dead_lettered: 0,
  masked: {},
  retries: 0,
  given_up: 0,
  rejected: 0,
  in_flight: 0,
  backlog_bytes: undefined,
  lost_bytes: 0,
  lost_files: 0,
  truncations: 0,
  joined: 0,
  ...some,
});

const result = (some: Partial<PipelineResult> = {}): PipelineResult => ({
  pipeline: 'web',
  state: 'completed',
  stats: stats(),
  elapsedMs: 840,
  forwarders: ['archive'],
  masks: false,
  stdinLeft: undefined,
  reason: undefined,
  ...some,
});

describe('summaryText', () => {
  it('takes names that every object has, as those of forwarders and rules', () => {
    const names = ['constructor', 'valueOf', '__proto__'];
    const text = summaryText(
      [result({ forwarders: names, stats: stats({ masked: Object.fromEntries([['toString', 2]]) }) })],
      plain,
    );
    expect(text).toMatch(/^ {4}__proto__ +0$/m);
    expect(text).toMatch(/^ {4}constructor +0$/m);
    expect(text).toMatch(/^ {4}toString +2$/m);
    expect(text).not.toMatch(/function|native/);
  });

  it('shows what a quiet pipeline did, in five lines', () => {
    expect(summaryText([result()], plain)).toBe(
      [
        '',
        'web  completed after 840 ms',
        '  in         0  events, 0/s',
        '  out',
        '    archive  0',
        '  dropped    0',
        '',
      ].join('\n'),
    );
  });

  it('takes names of Object.prototype for names', () => {
    const text = summaryText(
      [result({ stats: stats({ masked: { constructor: 1 } }), forwarders: ['toString'], masks: true })],
      plain,
    );
    expect(text).toMatch(/^ {4}constructor +1$/m);
    expect(text).toMatch(/^ {4}toString +0$/m);
  });

  it('sorts counters, the largest first, and puts all numbers into one column', () => {
    const busy = stats({
      collected: 2_000_000,
      masked: { ipv4: 12, email: 1000, token: 12 },
      forwarded: { archive: 1_999_990, screen: 5 },
      dropped: { filtered: 3, processor_failed: 7 },
      dead_lettered: 2,
      retries: 1,
      given_up: 4,
      in_flight: 6,
    });
    const text = summaryText(
      [
        result({ stats: busy, elapsedMs: 4000, forwarders: ['screen', 'archive'], masks: true }),
        result({ pipeline: 'api', state: 'failed', reason: 'no such file' }),
      ],
      plain,
    );
    expect(text).toBe(`
web  completed after 4.0 s
  in                  2,000,000  events, 500,000/s
  masked                  1,024  values
    email                 1,000
    ipv4                     12
    token                    12
  out
    archive           1,999,990
    screen                    5
  dropped                    10
    processor_failed          7  a processor failed on them
    filtered                  3  filtered out by a processor
  dead-lettered               2
  retries                     1  of forwarders
  given up                    4  still in flight when it was stopped
  in flight                   6  not delivered when it ended

api  failed after 840 ms: no such file
  in                          0  events, 0/s
  out
    archive                   0
  dropped                     0
`);
  });

  it('says that a mask had nothing to do', () => {
    expect(summaryText([result({ masks: true })], plain)).toContain('masked     0  values');
  });

  it('keeps escape sequences in names from the terminal', () => {
    expect(summaryText([result({ pipeline: 'a\u001b[2J' })], plain)).toContain('a\\u001b[2J');
  });

  it('is coloured where colours are', () => {
    const text = summaryText([result({ state: 'failed' })], pc.createColors(true));
    expect(text).toContain('\u001b[31mfailed\u001b[39m');
  });
});
