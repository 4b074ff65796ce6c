import { EventEmitter } from 'node:events';
import fs from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import * as sdkLogs from '@opentelemetry/sdk-logs';
import * as sdkTrace from '@opentelemetry/sdk-trace-base';
import * as rxjs from 'rxjs';
import * as zod from 'zod';
import * as operators from '../operators/index.ts';
import * as nodeOperators from '../operators/node.ts';
import * as redactForAi from '../redact/ai.ts';
import * as redact from '../redact/index.ts';
import * as redactForNode from '../redact/node.ts';
import * as redactForOtel from '../redact/otel.ts';
import * as millrace from '../src/index.ts';
import * as plugin from '../src/sdk/index.ts';
import * as testing from '../src/testing/index.ts';
import { ROOT } from './support/build.ts';
import { examplesOf } from './support/docstrings.ts';
import { runExample, type Scope } from './support/run-example.ts';
import { sourceFiles } from './support/sources.ts';
import { tempFolder } from './support/temp-folder.ts';

/*
 * Examples of docstrings are run. They may use the names of rxjs, zod's `z`, the SDKs of OpenTelemetry, `millrace/operators`,
 * `millrace/operators/node`, `millrace/testing`, `millrace/plugin`, `millrace`, the file's own exports, Node's `fs`, `EventEmitter` and `Readable`, and `folder`: an
 * empty folder.
 *
 *     f(1); // 2                              the value, as JavaScript; on the next lines if it is long
 *     await promise; // 2                     likewise
 *     of(1, 2).pipe(f()); // 2, 4             all values of an Observable, which must complete
 *     interval(10); // 0 at 10 ms, 1 at 20 ms, …   with their times; Observables run in virtual time
 *     EMPTY; // nothing
 *
 * Prose stands on lines before the statement, or after an empty line.
 */

/** Exported functions without an example, each with the reason. */
const WITHOUT_EXAMPLE: Readonly<Record<string, string>> = {
  ConfigError: 'thrown by parseConfig and loadConfig, never made by a program',
  CircuitOpenError: 'an error of circuitBreaker, never made by a program',
  ExpressionError: 'thrown by compileExpression, never made by a program',
  MillraceError: 'the base of errors; those that a program makes are PluginErrors',
  MaskError: 'thrown by masks, never made by a program',
};

const globals: Scope = {
  ...rxjs,
  z: zod.z,
  ...sdkLogs,
  ...sdkTrace,
  fs,
  EventEmitter,
  Readable,
  ...operators,
  ...nodeOperators,
  ...testing,
  ...plugin,
  ...millrace,
  ...redact,
  ...redactForNode,
  ...redactForAi,
  ...redactForOtel,
};
const files = sourceFiles('operators', 'plugins', 'redact', 'src')
  .map(({ path, text }) => ({ path, examples: examplesOf(text) }))
  .filter(({ examples }) => examples.length > 0);

describe.each(files)('the examples of $path', ({ path, examples }) => {
  const folder = tempFolder();

  it.each(examples)('are true: $name, line $line', async (example) => {
    const own: Scope = await import(join(ROOT, path));
    await runExample(example, { ...globals, ...own, folder: folder() });
  });
});

describe('every exported function and class', () => {
  const documented = new Set(files.flatMap(({ examples }) => examples.map(({ name }) => name)));
  const exported = Object.entries({
    ...operators,
    ...nodeOperators,
    ...redact,
    ...redactForNode,
    ...redactForAi,
    ...redactForOtel,
    ...millrace,
  })
    .filter(([, value]) => typeof value === 'function')
    .map(([name]) => name);

  it('has an example', () => {
    const missing = exported.filter((name) => !documented.has(name) && !(name in WITHOUT_EXAMPLE));
    expect(missing).toEqual([]);
  });

  it('has one, or a reason to have none, not both', () => {
    const stale = Object.keys(WITHOUT_EXAMPLE).filter(
      (name) => documented.has(name) || !exported.includes(name),
    );
    expect(stale).toEqual([]);
  });
});

describe('an example', () => {
  const fails = (code: string) => expect(runExample({ code }, globals)).rejects;
  const holds = (code: string) => expect(runExample({ code }, globals)).resolves.toBeUndefined();

  it('holds for values of all kinds', async () => {
    await holds('const a = 1;\na + 1; // 2');
    await holds("({ a: [1, 'x, y'] });\n// {\n//   a: [1, 'x, y'],\n// }");
    await holds('await Promise.resolve([1, 2]); // [1, 2]');
    await holds("/a(b)/g; // /a(b)/g\nconst window = 'https://x';\nwindow; // 'https://x'");
    await holds('// prose\nif (true) {\n  void 0;\n}\n1; // 1\n\n// more prose');
  });

  it('holds for Observables, in virtual time', async () => {
    await holds('of(1, 2); // 1, 2');
    await holds('EMPTY; // nothing');
    await holds('interval(3_600_000); // 0 at 1 h, 1 at 2 h, …');
    await holds("timer(86_400_000).pipe(map(() => ['a', 'b'])); // ['a', 'b'] at 1 d");
  });

  it('fails if it is not true', async () => {
    await fails('1 + 1; // 3').toThrow('1 + 1; // 3');
    await fails('of(1, 2); // 1').toThrow();
    await fails('of(1); // 1, 2').toThrow();
    await fails('timer(10); // 0 at 11 ms').toThrow();
    await fails('interval(10); // 0 at 10 ms').toThrow();
    await fails('NEVER; // nothing').toThrow();
    await fails("throwError(() => new Error('no')); // 1").toThrow('no');
    await fails('missing(); // 1').toThrow('missing is not defined');
  });

  it('fails if it claims nothing, or in prose', async () => {
    await fails('of(1);').toThrow('this example claims nothing');
    await fails('of(1); // emits one').toThrow('not a value: `emits one`');
    await fails('of(1').toThrow('a statement that does not end');
  });
});
