// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references to environment variables are the subject
import { resolve } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { describeValue } from '../../../src/sdk/checks/describe.ts';
import { withhold, withholdingLogger, withholdLong } from '../../../src/sdk/checks/shown-values.ts';

const LONG = `${'long "secret" '.repeat(8)}end`;

describe('withhold', () => {
  const used = [
    { name: 'A', value: 'secret' },
    { name: 'B', value: 'secret-2' },
    { name: 'C', value: 'a' },
    { name: 'DIR', value: './logs//app/' },
    { name: 'LONG', value: LONG },
    { name: 'EMPTY', value: '' },
  ];

  it.each([
    ['a secret-2, a secret: data', '${C} ${B}, ${C} ${A}: data'],
    ['cannot read ./logs//app/x.log', 'cannot read ${DIR}x.log'],
    ['cannot read logs/app/x.log', 'cannot read ${DIR}/x.log'],
    [JSON.stringify({ key: LONG }), '{"key":"${LONG}"}'],
    [`found ${describeValue(`x${LONG}`)} … or so`, 'found the string "x${LONG}…" … or so'],
  ])('%s', (text, shown) => expect(withhold(text, used)).toBe(shown));

  it('leaves the names in references', () => {
    const named = [
      { name: 'A', value: 'B' },
      { name: 'B', value: 'A' },
    ];
    expect(withhold('A, B and ABBA', named)).toBe('${B}, ${A} and ABBA');
  });
});

describe('withholdLong', () => {
  it.each([
    ['/srv/customer-acme/*.log', 'cannot read /srv/customer-acme/a.log', 'cannot read ${V}/a.log'],
    ['/srv/customer-acme/a*.log', 'cannot list /srv/customer-acme: EACCES', 'cannot list ${V}: EACCES'],
    ['/srv/*.log', 'cannot read /srv/a.log of /srv2', 'cannot read ${V}/a.log of /srv2'],
    ['/srv/customer-acme/app.log', 'cannot list /srv/customer-acme: EACCES', 'cannot list ${V}: EACCES'],
    ['./in//acme/app.log', 'cannot read in/acme/app.log.1', 'cannot read ${V}.1'],
    ['/srv/app.log', 'cannot list /srv: EACCES', 'cannot list /srv: EACCES'],
    ['../s3cret/a.log', `cannot read ${resolve('../s3cret/a.log')}`, 'cannot read ${V}'],
    ['../s3cret/*.log', `cannot read ${resolve('../s3cret/a.log')}`, 'cannot read ${V}/a.log'],
    ['../../', 'a path: /, ../..', 'a path: /, ${V}'],
    ['*/*.log', 'a path: ./a/b.log', 'a path: ./a/b.log'],
  ])('finds the paths that %s stands for', (value, text, shown) => {
    expect(withholdLong(text, [{ name: 'V', value }])).toBe(shown);
  });

  it('leaves what may be anything', () => {
    const used = [
      { name: 'N', value: '5' },
      { name: 'PORT', value: '8080' },
    ];
    expect(withholdLong('attempt 5 at port 8080', used)).toBe('attempt 5 at port ${PORT}');
  });
});

describe('withholdingLogger', () => {
  it('withholds values at any depth of the fields, and leaves names, numbers and what cannot be shown', () => {
    const lines: unknown[] = [];
    const log = (...line: unknown[]) => lines.push(line);
    const logger = withholdingLogger({ error: log, warn: log, info: log, debug: log }, [
      { name: 'TOKEN', value: 'hunter2' },
    ]);
    const circle: Record<string, unknown> = {};
    circle.self = circle;
    logger.error('with hunter2');
    logger.warn('hunter2', { pipeline: 'hunter2', bytes: 12, path: '/hunter2/a' });
    logger.info('x', { deep: [{ hunter2: new URL('http://hunter2.example') }], none: undefined });
    logger.debug('x', circle);
    expect(lines).toEqual([
      ['with ${TOKEN}', undefined],
      ['${TOKEN}', { pipeline: 'hunter2', bytes: 12, path: '/${TOKEN}/a' }],
      ['x', { deep: [{ '${TOKEN}': 'http://${TOKEN}.example/' }], none: undefined }],
      ['x', { fields: '(not serialisable)' }],
    ]);
  });
});
