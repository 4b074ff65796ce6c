import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import type { PresetName } from '../../../plugins/multiline/presets.ts';
import { upToDateBuild } from '../../support/build.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const temp = tempFolder();

const LINE_BYTES = 5e6;
const MIB = 2 ** 20;

/** How lines and traces begin that each preset knows. Long lines repeat them. */
const PARTS: Readonly<Record<PresetName, readonly string[]>> = {
  java: [
    'java.io.IOException: x',
    'a.',
    'A$Exception$',
    'Caused by: ',
    '\tat a.',
    'nested exception is:\t',
    'Exception [',
    '... 1 ',
  ],
  node: ['Error [X]: ', '/a.js:1', '[Error] {', 'Aa', 'DOMException [', '    at ', '  ^', '(node:1) '],
  python: [
    'Traceback (most recent call last):',
    'ы.<',
    'a.Error',
    '  File "x", line 1',
    'x:1: Warning: ',
    '  | ',
    'Fatal Python error: ',
  ],
  go: [
    'panic: ',
    'goroutine 1 [',
    'main.f(',
    'a.b/',
    '\t/a.go:1 ',
    'runtime: ',
    '(0x1)',
    '==================',
  ],
  ruby: [
    'x.rb:1:in `',
    "x.rb:1:in 'a': ",
    'A::',
    'Error (',
    '\tfrom x.rb:1:in `',
    ":1:in `rescue in a'",
    'x: --> ',
  ],
  dotnet: [
    'System.Exception: ',
    'A.B+C`1[',
    'Exception (0x1',
    ' ---> ',
    '   at ',
    'Unhandled exception. ',
    'File name: ',
  ],
  php: ['PHP Fatal error: ', ' in /a:1', '#0 ', '{"exception":"[object] (', 'A\\Exception: ', '  thrown in '],
  rust: ["thread 'a' panicked at ", "thread '", 'ERROR ', 'Error: ', 'Caused by:', '   0: ', 'note: '],
};
/** What may be in front of a line. */
const PREFIXES = [
  '2026-11-25T10:00:00Z ',
  'Nov 25 10:00:00 a b',
  '<13>1 a ',
  'web-1 ',
  '[pod/',
  '[',
  ' ',
  '\x1b[31m',
  '#011',
];

it.each(Object.keys(PARTS) as PresetName[])(
  '%s: lines of 5 MB take bounded time and memory, whatever they repeat',
  async (preset) => {
    const bin = await upToDateBuild();
    const config = temp(`${preset}.yaml`);
    const input = temp(`${preset}.log`);
    writeFileSync(
      config,
      `
collectors: { log: { plugin: file, paths: [${input}], backfill: true } }
processors: { traces: { plugin: multiline, preset: ${preset} } }
forwarders: { out: { plugin: noop } }
pipelines: { main: { collect: log, process: traces, forward: out } }
host_config: {}
`,
    );
    // Each of them after the first line of a trace.
    const lines = [...PARTS[preset], ...PREFIXES].flatMap((part) => [
      PARTS[preset][0] as string,
      part.repeat(LINE_BYTES / part.length),
    ]);
    writeFileSync(input, `${lines.join('\n')}\n`);
    const onExit = `process.on('exit', () => console.error('\\nrss', process.resourceUsage().maxRSS))`;
    const started = performance.now();
    const { status, stderr } = spawnSync(
      process.execPath,
      [
        '--max-old-space-size=512',
        '--import',
        `data:text/javascript,${encodeURIComponent(onExit)}`,
        bin,
        'run',
        config,
        '--once',
        '--no-state',
      ],
      { encoding: 'utf8', maxBuffer: 64 * MIB },
    );
    expect([status, stderr.slice(-2000)]).toEqual([0, expect.any(String)]);
    // On a quiet machine: 2 s and 210 MB.
    expect(performance.now() - started).toBeLessThan(60_000);
    expect((Number(/^rss (\d+)$/m.exec(stderr)?.[1]) * 1024) / MIB).toBeLessThan(1200);
  },
);
