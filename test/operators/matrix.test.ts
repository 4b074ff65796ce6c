import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import * as operators from '../../operators/index.ts';
import { ROOT } from '../support/build.ts';

/** Exports that take no source. Those that create one are tested by what they call and when. */
const NOT_OPERATORS = [
  ['CircuitOpenError', 'ExpressionError', 'InFlightWindow', 'MaskError'],
  ['backoffDelay', 'compileExpression', 'entropyIndex', 'maskEvent', 'maskStrings', 'withChildren'],
  ['entropyMasker', 'loadPlannedSearch', 'redactor', 'regexMasker'],
  ['fromEventEmitter', 'longTimer', 'poll', 'pullFrom'],
].flat();

const folder = join(ROOT, 'test/operators');
const tests = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts'))
  .map((name) => readFileSync(join(folder, name), 'utf8'))
  .join('\n');

it('is there for every operator', () => {
  const exported = Object.entries(operators)
    .filter(([name, value]) => typeof value === 'function' && !NOT_OPERATORS.includes(name))
    .map(([name]) => name);
  const tested = (name: string) => new RegExp(`(?:testOperator(?:<.*>)?\\(|name: )'${name}\\b`).test(tests);
  expect(exported.filter((name) => !tested(name))).toEqual([]);
});
