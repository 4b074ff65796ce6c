import fs from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { tempFolder } from '../support/temp-folder.ts';
import { problems } from './helpers.ts';

const config = (paths: string[], main: object = {}, others: object = {}) => ({
  collectors: { log: { plugin: 'file', paths } },
  forwarders: {
    out: { plugin: 'disk', path: 'out', filename: 'events.jsonl' },
    dumps: { plugin: 'disk', path: 'dumps' },
    witness: { plugin: 'test', path: 'out/witness' },
    none: { plugin: 'noop' },
  },
  pipelines: { main: { collect: 'log', forward: 'none', ...main }, ...others },
  host_config: {},
});

describe('a pipeline that reads what it writes', () => {
  it.each([
    [['out/*'], { forward: 'out' }, 'out'],
    [['./out/../out/events.jsonl'], { forward: 'out' }, 'out'],
    [[resolve('out/*.jsonl')], { forward: ['none', 'out'] }, 'out'],
    [['other', '**/*.json'], { forward: 'dumps' }, 'dumps'],
    [['out/*'], { forward: 'witness' }, 'witness'],
    [['out/*'], { delivery: { dead_letter: 'out' } }, 'out'],
  ])('is refused: %j by %j', (paths, main, name) => {
    expect(problems(config(paths, main))).toEqual([
      expect.stringMatching(
        new RegExp(
          `^pipelines\\.main\\.collect\\[0\\]: \`log\` reads what \`${name}\` of the same pipeline writes`,
        ),
      ),
    ]);
  });

  it('is not one that reads beside it, or what another pipeline writes', () => {
    expect(problems(config(['out/*.log', 'events.jsonl'], { forward: 'out' }))).toEqual([]);
    const other = { collect: 'ticks', forward: 'out' };
    const collectors = { ticks: { plugin: 'test' }, log: { plugin: 'file', paths: ['out/*'] } };
    expect(problems({ ...config([], {}, { other }), collectors })).toEqual([]);
  });
});

describe('an output that has another path', () => {
  const at = tempFolder();
  const through = (paths: string[], filename?: string) => ({
    collectors: { log: { plugin: 'file', paths } },
    forwarders: { out: { plugin: 'disk', path: at('out'), ...(filename === undefined ? {} : { filename }) } },
    pipelines: { main: { collect: 'log', forward: 'out' } },
    host_config: {},
  });
  const OWN = [
    expect.stringContaining(
      '`log` reads what `out` of the same pipeline writes, by its path or by a hard or symbolic link to it, and',
    ),
  ];

  it.each([
    ['a hard link', fs.linkSync],
    ['a symbolic link', fs.symlinkSync],
  ])('is known by %s to it, named or found by a glob', (_, link) => {
    fs.mkdirSync(at('out'));
    fs.mkdirSync(at('logs'));
    fs.writeFileSync(at('out/events.jsonl'), '');
    link(at('out/events.jsonl'), at('logs/app.log'));
    expect(problems(through([at('logs/app.log')], 'events.jsonl'))).toEqual(OWN);
    expect(problems(through([at('logs/*.log')], 'events.jsonl'))).toEqual(OWN);
    expect(problems(through([at('logs/*.txt')], 'events.jsonl'))).toEqual([]);
  });

  it('is known by a link to its folder, or above it, before it is there', () => {
    fs.mkdirSync(at('out'));
    fs.symlinkSync(at('out'), at('logs'));
    fs.symlinkSync(at(), at('here'));
    for (const filename of ['events.jsonl', undefined]) {
      expect(problems(through([at('logs/*.json*')], filename))).toEqual(OWN);
      expect(problems(through([at('here/o*/*')], filename))).toEqual(OWN);
      expect(problems(through([at('logs/*.log')], filename))).toEqual([]);
    }
    expect(problems(through([at('logs/events.jsonl')], 'events.jsonl'))).toEqual(OWN);
  });

  it('is known by the folder that its own path leads to', () => {
    fs.mkdirSync(at('real'));
    fs.symlinkSync(at('real'), at('out'));
    expect(problems(through([at('real/*')], 'events.jsonl'))).toEqual(OWN);
  });

  it('is not another file of the same name or content', () => {
    fs.mkdirSync(at('out'));
    fs.mkdirSync(at('logs'));
    for (const folder of ['out', 'logs']) fs.writeFileSync(join(at(folder), 'events.jsonl'), 'a\n');
    expect(problems(through([at('logs/*')], 'events.jsonl'))).toEqual([]);
  });
});

describe('a ring of pipelines', () => {
  const NAMES = ['a', 'b', 'c'];
  /** Each pipeline reads the folder of its name, and writes to those that are given. */
  const ring = (outputs: Record<string, object>) => ({
    collectors: Object.fromEntries(
      NAMES.map((name) => [`in-${name}`, { plugin: 'file', paths: [`${name}/*`] }]),
    ),
    forwarders: {
      none: { plugin: 'noop' },
      ...Object.fromEntries(
        NAMES.map((name) => [`to-${name}`, { plugin: 'disk', path: name, filename: 'x.jsonl' }]),
      ),
    },
    pipelines: Object.fromEntries(
      Object.entries(outputs).map(([name, output]) => [name, { collect: `in-${name}`, ...output }]),
    ),
    host_config: {},
  });

  it.each([
    [{ a: { forward: 'to-b' }, b: { forward: ['none', 'to-a'] } }, 'to-a', 'b', '`a` → `b` → `a`'],
    [
      { a: { forward: 'to-b' }, b: { forward: 'to-c' }, c: { forward: 'to-a' } },
      'to-a',
      'c',
      '`a` → `b` → `c` → `a`',
    ],
    [
      { a: { forward: 'to-b' }, b: { forward: 'none', delivery: { dead_letter: 'to-a' } } },
      'to-a',
      'b',
      '`a` → `b` → `a`',
    ],
  ])('is refused, once and with its way: %#', (outputs, forwarder, from, way) => {
    expect(problems(ring(outputs))).toEqual([
      `pipelines.a.collect[0]: \`in-a\` reads what \`${forwarder}\` of pipeline \`${from}\` writes, by its path or by a hard or ` +
        'symbolic link to it, which comes from ' +
        `this pipeline: ${way}, and each event would become another one, without end; write to a folder that no path ` +
        'of the collector names',
    ]);
  });

  it('is found where it begins behind other pipelines', () => {
    const [problem, ...others] = problems(
      ring({ a: { forward: 'to-b' }, b: { forward: 'to-c' }, c: { forward: ['to-b'] } }),
    );
    expect(others).toEqual([]);
    expect(problem).toContain('pipelines.b.collect[0]');
    expect(problem).toContain('`b` → `c` → `b`');
  });

  it('is none while one of its pipelines is disabled, nor are pipelines in a row', () => {
    const back = { forward: 'to-a', enabled: false };
    expect(problems(ring({ a: { forward: 'to-b' }, b: back }))).toEqual([]);
    expect(
      problems(ring({ a: { forward: ['to-b', 'to-c'] }, b: { forward: 'to-c' }, c: { forward: 'none' } })),
    ).toEqual([]);
  });
});
