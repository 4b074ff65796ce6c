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
      'pseudonyms',
      'pullFrom',
      'rateLimit',
      'redact',
      'redactJson',
      'redactStream',
      'redactor',
      'regexMask',
      'regexMasker',
      'restartWithBackoff',
      'restorePseudonyms',
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
      'AcknowledgedPositions',
      'FileAppender',
      'MemoryBudget',
      'NumberedFiles',
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
  it('has nothing at its top level but its faces and what they export', () => {
    const internal = ['internal', 'internal-files', 'internal-masks', 'internal-redact'].map(
      (face) => `operators/${face}.ts`,
    );
    const exported = ['operators/index.ts', 'operators/node.ts', ...internal].flatMap((entry) => [
      entry,
      ...sourceFile(entry).imports.map(({ specifier }) => importedPath(entry, specifier)),
    ]);
    const topLevel = sourceFiles('operators').filter(({ path }) => /^operators\/[^/]+$/.test(path));
    expect(topLevel.map(({ path }) => path).filter((path) => !exported.includes(path))).toEqual([]);
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
