import { describe, expect, it } from '@jest/globals';
import { PRESETS, type PresetName } from '../../../plugins/multiline/presets.ts';
import multiline from '../../../plugins/process/multiline.ts';
import { testPipeline } from '../../../src/testing/index.ts';

const issuesOf = (settings: object) => {
  const parsed = multiline.get_config_schema().safeParse({ plugin: 'multiline', ...settings });
  return parsed.success ? [] : parsed.error.issues.map(({ message }) => message);
};

/** What the runtimes print, between two lines of a log. */
const TRACES: Readonly<Record<PresetName, string>> = {
  java: `java.lang.IllegalStateException: cannot charge card
\tat com.example.Checkout.charge(Checkout.java:42)
\tat java.base/java.lang.Thread.run(Thread.java:833)
\tSuppressed: java.io.IOException: close
\t\tat com.example.Db.close(Db.java:9)
Caused by: java.sql.SQLException: connection refused
\tat com.example.Db.open(Db.java:11)
\t... 12 common frames omitted`,
  node: `TypeError [ERR_INVALID_ARG_TYPE]: The "path" argument must be of type string
    at Object.open (node:fs:573:10)
    at async main (file:///app/main.mjs:3:1)
  [cause]: Error: inner
      at inner (file:///app/main.mjs:9:9)
    at last (file:///app/main.mjs:1:1) {
  code: 'ERR_INVALID_ARG_TYPE'
}`,
  python: `Traceback (most recent call last):
  File "/app/main.py", line 3, in charge
    raise KeyError('card')
KeyError: 'card'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/app/main.py", line 9, in <module>
    charge()
app.errors.ChargeError: cannot charge`,
  go: `panic: runtime error: invalid memory address or nil pointer dereference
[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x104]

goroutine 1 [running]:
main.charge(0x0)
\t/app/main.go:12 +0x1d
main.main()
\t/app/main.go:7 +0x2c
exit status 2`,
  ruby: `app.rb:3:in 'charge': cannot charge (RuntimeError)
\tfrom app.rb:7:in 'block in <main>'
\tfrom app.rb:6:in 'each'`,
  dotnet: `Unhandled exception. System.InvalidOperationException: cannot charge
 ---> System.IO.IOException: disk full
   at App.Db.Open() in /app/Db.cs:line 9
   --- End of inner exception stack trace ---
   at App.Program.Main() in /app/Program.cs:line 7`,
  php: `PHP Fatal error:  Uncaught Exception: cannot charge in /app/main.php:3
Stack trace:
#0 /app/main.php(9): charge()
#1 {main}
  thrown in /app/main.php on line 3`,
  rust: `thread 'main' panicked at src/main.rs:2:5:
cannot charge
note: run with \`RUST_BACKTRACE=1\` environment variable to display a backtrace`,
};

async function joined(settings: object, lines: readonly string[]): Promise<unknown[]> {
  return (await processed({ join: { plugin: 'multiline', ...settings } }, lines)).map(({ line }) => line);
}

/** The data of the events that leave a pipeline with these processors. */
async function processed(processors: Readonly<Record<string, object>>, lines: readonly string[]) {
  return (await runOf(processors, lines)).events('out').map(({ data }) => data);
}

function runOf(processors: Readonly<Record<string, object>>, lines: readonly string[]) {
  const values = Object.fromEntries(lines.map((line, index) => [String.fromCodePoint(0x61 + index), line]));
  return testPipeline(
    {
      collectors: { log: { plugin: 'file', paths: ['/app.log'] } },
      processors,
      forwarders: { out: { plugin: 'noop' } },
      pipelines: { main: { collect: 'log', process: Object.keys(processors), forward: 'out' } },
      host_config: {},
    },
    { collect: { log: { marbles: `(${Object.keys(values).join('')}|)`, values } } },
  );
}

describe('multiline', () => {
  it.each(Object.keys(PRESETS) as PresetName[])('knows the stack traces of %s', async (preset) => {
    const lines = ['ready', ...TRACES[preset].split('\n'), 'still here', 'done'];
    expect(await joined({ preset }, lines)).toEqual(['ready', TRACES[preset], 'still here', 'done']);
  });

  it.each<[PresetName, string]>([
    [
      'node',
      'AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:\n\n1 !== 2\n\n    at x (y.js:1:2) {\n  code: 1\n}',
    ],
    ['node', 'AssertionError: not equal\n+ actual - expected\n\n+ 1\n- 2\n    at x (y.js:1:2)'],
    ['java', 'a.B: Error: bad bean:\n\n  reason: x\n\tat a.B.c(B.java:1)'],
    ['python', '2026-11-23 ERROR Traceback (most recent call last):\n  File "a.py", line 1\nX: y'],
    [
      'python',
      '  + Exception Group Traceback (most recent call last):\n  |   File "a.py", line 1\n  | X: y (1 sub-exception)',
    ],
  ])('%s: keeps a trace together with its message', async (preset, trace) => {
    expect(await joined({ preset }, ['a', ...trace.split('\n'), 'b'])).toEqual(['a', trace, 'b']);
  });

  it('counts the lines that became a part of another event', async () => {
    const trace = TRACES.java.split('\n');
    const { stats } = await runOf({ join: { plugin: 'multiline', preset: 'java' } }, ['a', ...trace, 'b']);
    const joined = trace.length - 1;
    expect(stats).toMatchObject({ collected: joined + 3, joined, forwarded: { out: 3 }, dropped: {} });
  });

  it('joins the traces of several languages, and no other lines', async () => {
    const lines = ['a', ...TRACES.java.split('\n'), ...TRACES.ruby.split('\n'), 'b'];
    expect(await joined({ preset: ['ruby', 'java'] }, lines)).toEqual(['a', TRACES.java, TRACES.ruby, 'b']);
  });

  it.each([
    [{ start: '^\\d{4}-' }, ['2026-01 a', ' b', 'c', '2026-02 d'], ['2026-01 a\n b\nc', '2026-02 d']],
    [{ continue: '^\\s' }, ['a', ' b', 'c', 'd'], ['a\n b', 'c', 'd']],
    [{ continue: '^\\s' }, [' b', ' c', 'd'], [' b\n c', 'd']],
  ])('%j', async (settings, lines, expected) => {
    expect(await joined(settings, lines)).toEqual(expected);
  });

  it.each([
    [{}, 'expected exactly one of `start`, `continue` and `preset`'],
    [{ start: 'a', continue: 'b' }, 'expected exactly one of `start`, `continue` and `preset`'],
    [{ start: 'a', lead: 1 }, '`lead` is for stack traces: expected a `preset` of a language with it'],
    [{ preset: 'cri', lead: 1 }, '`lead` is for stack traces: expected a `preset` of a language with it'],
    [{ start: '(' }, expect.stringMatching(/^a valid regular expression \(/)],
    [{ start: '(?i)^(a+)+$' }, expect.stringContaining('exponential time')],
    [{ preset: ['cri', 'java'] }, expect.any(String)],
  ])('refuses %j', (settings, message) => {
    expect(issuesOf(settings)).toEqual([message]);
  });
});

/** A line of a container that the runtime has cut in the middle of a secret, among lines of its other stream. */
const KEY = `AKIA${'Q3ZK7WLMP2XYZT4R'}`;
const docker = (stream: string, log: string) => JSON.stringify({ log, stream, time: '2026-11-23T00:00:01Z' });
const CUT = {
  cri: [
    '2026-11-23T00:00:00Z stdout F first',
    `2026-11-23T00:00:01Z stdout P login with ${KEY.slice(0, 9)}`,
    '2026-11-23T00:00:01Z stderr P Caused ',
    `2026-11-23T00:00:02Z stdout P ${KEY.slice(9, 15)}`,
    '2026-11-23T00:00:02Z stderr F by: refused',
    `2026-11-23T00:00:03Z stdout F ${KEY.slice(15)} done`,
    '2026-11-23T00:00:04Z stdout F last',
  ],
  docker: [
    docker('stdout', 'first\n'),
    docker('stdout', `login with ${KEY.slice(0, 9)}`),
    docker('stderr', 'Caused '),
    docker('stdout', KEY.slice(9, 15)),
    docker('stderr', 'by: refused\n'),
    docker('stdout', `${KEY.slice(15)} done\n`),
    docker('stdout', 'last\n'),
  ],
};

describe('multiline of lines of containers', () => {
  it.each([
    ['cri', 'cri', (line: string) => line],
    ['docker', 'json', (line: string) => `${line}\n`],
  ] as const)('%s: a secret that the runtime has cut is masked', async (preset, format, ended) => {
    const events = await processed(
      {
        whole: { plugin: 'multiline', preset },
        container: { plugin: 'parse', format, timestamp: 'time' },
        secrets: { plugin: 'redact' },
      },
      CUT[preset],
    );
    const field = preset === 'cri' ? 'line' : 'log';
    const lines = events.map((data) => data[field]);
    expect(lines).toEqual(
      ['first', 'Caused by: refused', 'login with <:aws-access-key-id:> done', 'last'].map(ended),
    );
    expect(events.map(({ stream }) => stream)).toEqual(['stdout', 'stderr', 'stdout', 'stdout']);
    if (preset === 'cri') expect(events.map(({ partial }) => partial)).toEqual(Array(4).fill(false));
  });

  it('cri: leaves at once with its last part, and after a minute without', async () => {
    const run = await testPipeline(
      {
        collectors: { log: { plugin: 'file', paths: ['/app.log'] } },
        processors: { whole: { plugin: 'multiline', preset: 'cri' } },
        forwarders: { out: { plugin: 'noop' } },
        pipelines: { main: { collect: 'log', process: 'whole', forward: 'out' } },
        host_config: {},
      },
      {
        collect: {
          log: {
            marbles: '(ab) 60s (c) 9s |',
            values: {
              a: '2026-11-23T00:00:01Z stdout P one ',
              b: '2026-11-23T00:00:01Z stdout F two',
              c: '2026-11-23T00:00:02Z stdout P three',
            },
          },
        },
      },
    );
    expect(run.events('out').map(({ data }) => data.line)).toEqual([
      '2026-11-23T00:00:01Z stdout F one two',
      '2026-11-23T00:00:02Z stdout P three',
    ]);
  });

  it('docker: a line that ends with a backslash and an n is not whole', async () => {
    const lines = [docker('stdout', 'C:\\n'), docker('stdout', 'ew\n'), docker('stdout', '\n')];
    expect(await joined({ preset: 'docker' }, lines)).toEqual([
      docker('stdout', 'C:\\new\n'),
      docker('stdout', '\n'),
    ]);
  });

  it('stack traces on stdout and stderr of a container do not mix', async () => {
    const events = await processed(
      {
        container: { plugin: 'parse', format: 'cri' },
        traces: { plugin: 'multiline', preset: 'java' },
      },
      [
        '2026-11-23T00:00:01Z stderr F java.io.IOException: one',
        '2026-11-23T00:00:01Z stdout F java.io.IOException: two',
        '2026-11-23T00:00:01Z stderr F \tat a.A.a(A.java:1)',
        '2026-11-23T00:00:01Z stdout F \tat b.B.b(B.java:2)',
      ],
    );
    expect(events.map(({ line }) => line)).toEqual([
      'java.io.IOException: one\n\tat a.A.a(A.java:1)',
      'java.io.IOException: two\n\tat b.B.b(B.java:2)',
    ]);
  });
});

it('leaves a line alone on which the expressions of a preset take too long', async () => {
  const line = 'x.rb:1:in `: ('.repeat(4000);
  expect(await joined({ preset: 'ruby' }, ['before', line, 'after'])).toEqual(['before', line, 'after']);
});
