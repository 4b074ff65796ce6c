import { describe, expect, it } from '@jest/globals';
import * as operators from '../../operators/index.ts';
import * as nodeOperators from '../../operators/node.ts';
import {
  importedPath,
  type SourceFile,
  sourceFile,
  sourceFiles,
  withoutComments,
} from '../support/sources.ts';

/** Files that are parts of others, and are no use alone. */
const INTERNAL = [
  'operators/byte-length.ts', // how batchBy weighs
  'operators/check-options.ts', // what options may be
  'operators/counted.ts', // numbers in messages
  'operators/fifo.ts', // the queue behind mapping operators
  'operators/hash-to-unit.ts', // how sampleRate chooses
  'operators/masks/lines-masker.ts',
  'operators/lru-map.ts', // the keys that dedupe, rateLimit and sampleFirst remember
  'operators/plain-form.ts', // a step of maskStrings
  'operators/masks/python-escapes.ts', // steps of compileExpression
  'operators/masks/python-syntax.ts',
  'operators/serial-jobs.ts', // the order of FileAppender and NumberedFiles
  'operators/steady-clock.ts', // time that nobody can set
  'operators/subscribe-for.ts', // what these operators have in common
  'operators/token-bucket.ts',
];

/** An entry and all files that it imports, types included: what a bundler or a type checker opens. */
function closure(path: string): SourceFile[] {
  const found = new Map<string, SourceFile>();
  const visit = (next: string) => {
    if (found.has(next)) return;
    const file = sourceFile(next);
    found.set(next, file);
    for (const { specifier } of file.imports) {
      const imported = importedPath(next, specifier);
      if (imported !== undefined) visit(imported);
    }
  };
  visit(path);
  return [...found.values()];
}

const packagesOf = (files: readonly SourceFile[]) =>
  [...new Set(files.flatMap(({ imports }) => imports.map(({ specifier }) => specifier)))]
    .filter((specifier) => !specifier.startsWith('.'))
    .sort();

describe('millrace/operators', () => {
  it('exports these names and no others', () => {
    expect(Object.keys(operators)).toEqual([
      'CircuitOpenError',
      'DEFAULT_ALPHABET',
      'ExpressionError',
      'InFlightWindow',
      'MaskError',
      'backoffDelay',
      'batchBy',
      'bufferUntilIdle',
      'childEvents',
      'circuitBreaker',
      'compileExpression',
      'dedupe',
      'delayRange',
      'entropyIndex',
      'entropyMask',
      'entropyMasker',
      'fromEventEmitter',
      'gatherMap',
      'inFlight',
      'loadPlannedSearch',
      'longTimer',
      'maskEvent',
      'maskStrings',
      'orderedMap',
      'poll',
      'pullFrom',
      'rateLimit',
      'regexMask',
      'regexMasker',
      'restartWithBackoff',
      'retryWithBackoff',
      'sampleFirst',
      'sampleRate',
      'untilAborted',
      'withChildren',
    ]);
  });

  it('runs in a browser: imports rxjs and a parser of expressions, and names no global of Node', () => {
    const files = closure('operators/index.ts');
    expect(packagesOf(files)).toEqual(['@eslint-community/regexpp', 'rxjs']);
    const withNode = files.filter(({ text }) =>
      /\b(?:Buffer|process|global)\b[.(]/.test(withoutComments(text)),
    );
    expect(withNode.map(({ path }) => path)).toEqual([]);
  });
});

describe('millrace/operators/node', () => {
  it('exports these names and no others', () => {
    expect(Object.keys(nodeOperators)).toEqual([
      'FileAppender',
      'MemoryBudget',
      'NumberedFiles',
      'SettledPositions',
      'followFiles',
      'fromNodeStream',
      'readMemory',
      'writeToStream',
    ]);
  });

  it('imports rxjs, Node, and what follows files', () => {
    const packages = packagesOf(closure('operators/node.ts'));
    expect(packages.filter((name) => !name.startsWith('node:'))).toEqual(['rxjs', 'tail', 'tinyglobby']);
  });
});

describe('operators/', () => {
  it('has each file in one of the two, or is a known part of another', () => {
    const exported = ['operators/index.ts', 'operators/node.ts'].flatMap((entry) => [
      entry,
      ...sourceFile(entry).imports.map(({ specifier }) => importedPath(entry, specifier)),
    ]);
    const others = sourceFiles('operators')
      .map(({ path }) => path)
      .filter(
        (path) => !/^operators\/(?:bytes|file-lines|output|regex)\//.test(path) && !exported.includes(path),
      );
    expect(others).toEqual(INTERNAL);
  });

  it('imports nothing of the engine', () => {
    const engine = sourceFiles('operators').flatMap(({ path, imports }) =>
      imports
        .map(({ specifier }) => importedPath(path, specifier))
        .filter((imported) => imported !== undefined && !imported.startsWith('operators/')),
    );
    expect(engine).toEqual([]);
  });
});
