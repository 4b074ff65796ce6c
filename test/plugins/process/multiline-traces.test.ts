import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { PRESETS, type PresetName } from '../../../plugins/multiline/presets.ts';
import { ROOT } from '../../support/build.ts';
import { joinTraces } from '../../support/join-traces.ts';

const FOLDER = join(ROOT, 'test/fixtures/traces');
const NAMES = Object.keys(PRESETS) as PresetName[];

/** Traces as the runtimes print them: test/fixtures/traces/regenerate.mjs has recorded them. */
const RECORDED = NAMES.flatMap((preset) =>
  readdirSync(join(FOLDER, preset))
    .filter((file) => file.endsWith('.txt') && file !== 'version.txt')
    .map((file) => ({
      preset,
      file,
      trace: readFileSync(join(FOLDER, preset, file), 'utf8')
        .replaceAll('\r', '')
        .trimEnd(),
    })),
);

/** Traces that end with a message of several lines, after which only a record of the log shows that it has ended. */
const ENDS_WITH_MESSAGE = [
  'python/indented-message',
  'python/message-of-several-lines',
  'python/note',
  'python/notes-of-several-lines',
  'python/validation',
  'ruby/no-frames',
  'rust/anyhow-alone',
].map((name) => `${name}.txt`);

/** Two lines of a log in one of the usual formats. */
const LOGS: Readonly<Record<string, readonly [string, string]>> = {
  'time and level': ['2026-11-25 10:00:00 INFO before', '2026-11-25 10:00:01 INFO after'],
  JSON: ['{"level":"info","msg":"before"}', '{"level":"info","msg":"after"}'],
  logfmt: [
    'time=2026-11-25T10:00:00Z level=info msg=before',
    'time=2026-11-25T10:00:01Z level=info msg=after',
  ],
  'level first': ['INFO:root:before', 'INFO:root:after'],
  'level in brackets': ['[info] before', '[info] after'],
  logback: ['10:00:00.123 [main] INFO  c.a.Main - before', '10:00:01.123 [main] INFO  c.a.Main - after'],
  klog: ['I1125 10:00:00.000000       1 main.go:5] before', 'I1125 10:00:01.000000       1 main.go:5] after'],
  Apache: [
    '127.0.0.1 - - [25/Nov/2026:10:00:00 +0000] "GET / HTTP/1.1" 200 1',
    '127.0.0.1 - - [25/Nov/2026:10:00:01 +0000] "GET / HTTP/1.1" 200 1',
  ],
  'Go log': ['2026/11/25 10:00:00 before', '2026/11/25 10:00:01 after'],
  'Ruby logger': [
    'I, [2026-11-25T10:00:00.000000 #7]  INFO -- : before',
    'I, [2026-11-25T10:00:01.000000 #7]  INFO -- : after',
  ],
};

/** What is put in front of every line. */
const PREFIXES = {
  'docker logs --timestamps': '2026-11-25T10:00:00.123456789Z ',
  containerd: '2026-11-25T10:00:00.123456789+01:00 stderr F ',
  syslog: 'Nov 25 10:00:00 host app[12]: ',
  'syslog with a time of RFC 3339': '2026-11-25T10:00:00.123456+01:00 host app[12]: ',
  'syslog of RFC 5424': '<11>1 2026-11-25T10:00:00.123Z host app 12 - - ',
  'docker compose': 'web-1  | ',
  'kubectl logs --prefix': '[pod/web-6d4/app] ',
};

describe.each(NAMES)('the traces that %s prints', (preset) => {
  const recorded = RECORDED.filter((each) => each.preset === preset);
  const ended = recorded.filter(({ file }) => !ENDS_WITH_MESSAGE.includes(`${preset}/${file}`));

  it('are at least 12, and the version of the runtime is known', () => {
    expect(recorded.length).toBeGreaterThanOrEqual(12);
    expect(readFileSync(join(FOLDER, preset, 'version.txt'), 'utf8')).toMatch(/\d+\.\d+/);
  });

  it.each(Object.entries(LOGS))('are one event each in a log of the format "%s"', (_, [before, after]) => {
    for (const { file, trace } of recorded) {
      const events = [before, trace, after];
      const lines = events.join('\n').split('\n');
      expect([file, joinTraces({ preset }, lines)]).toEqual([file, events]);
      expect([file, joinTraces({ preset }, lines, 3)]).toEqual([file, events]);
      expect([file, joinTraces({ preset: NAMES }, lines)]).toEqual([file, events]);
    }
  });

  it('are one event each between lines of plain text', () => {
    for (const { file, trace } of ended) {
      const events = ['ready', trace, 'still here', 'done'];
      expect([file, joinTraces({ preset }, events.join('\n').split('\n'))]).toEqual([file, events]);
    }
  });

  it('are one event each, one after the other, with a line of the log between them', () => {
    const events = recorded.flatMap(({ trace }) => [LOGS['time and level']?.[0], trace]);
    expect(joinTraces({ preset, lines: 10_000 }, events.join('\n').split('\n'))).toEqual(events);
  });

  it.each(Object.entries(PREFIXES))('are one event each with the prefix of %s', (_, prefix) => {
    const prefixed = (text: string) => text.replace(/^/gm, prefix);
    for (const { file, trace } of recorded) {
      const events = ['INFO before', trace, 'INFO after'].map(prefixed);
      const lines = events.join('\n').split('\n');
      expect([file, joinTraces({ preset }, lines)]).toEqual([file, events]);
    }
  });

  it('are one event each with line breaks of Windows, and in colour', () => {
    const [before, after] = LOGS['time and level'] as [string, string];
    for (const { file, trace } of recorded) {
      for (const change of [
        (text: string) => text.replaceAll('\n', '\r\n'),
        (text: string) => text.replace(/^(\s*)(.+)$/gm, '$1\x1b[31m$2\x1b[0m'),
      ]) {
        const lines = [before, ...change(trace).split('\n'), after];
        const left = joinTraces({ preset }, lines).map((line) => String(line).replaceAll('\r', ''));
        expect([file, left]).toEqual([file, [before, change(trace).replaceAll('\r', ''), after]]);
      }
    }
  });

  it('are one event each with the line of the log before them, if that is wanted', () => {
    const [before, after] = LOGS['time and level'] as [string, string];
    for (const { file, trace } of recorded) {
      const lines = ['first', before, ...trace.split('\n'), after];
      const expected = ['first', `${before}\n${trace}`, after];
      // A record of the log announces itself.
      const isRecord = ['monolog.txt', 'monolog-previous.txt', 'http.txt'].includes(file);
      if (!isRecord) expect([file, joinTraces({ preset, lead: 1 }, lines)]).toEqual([file, expected]);
    }
  });
});

/** Programs that print their trace within a moment. */
const QUICK = {
  node: [
    process.execPath,
    'traces.js',
    [
      'uncaught-properties',
      'uncaught-string',
      'rejection-of-no-error',
      'caught-cause',
      'assertion',
      'dom-exception',
      'connection-refused',
    ],
  ],
  python: [
    'python3',
    'traces.py',
    ['three', 'unraised-cause', 'local-class', 'unicode-class', 'in-thread', 'indented-message'],
  ],
} as const;

describe.each(Object.entries(QUICK))('%s, as it is on this machine', (preset, [program, file, cases]) => {
  it.each(cases)('prints %s, which is one event', (name) => {
    const { stdout, stderr, error } = spawnSync(program, [file, name], {
      cwd: join(FOLDER, preset),
      encoding: 'utf8',
    });
    if (error !== undefined) {
      process.stderr.write(`a part of multiline-traces.test.ts is skipped: ${program} cannot be run\n`);
      return;
    }
    const trace = `${stdout}${stderr}`.trimEnd();
    expect(trace.split('\n').length).toBeGreaterThan(2);
    const events = ['2026-11-25 10:00:00 INFO before', trace, '2026-11-25 10:00:01 INFO after'];
    expect(joinTraces({ preset }, events.join('\n').split('\n'))).toEqual(events);
  });
});

/** Traces of libraries and of situations that the programs in the folder of recordings cannot bring about. */
const OTHERS: readonly (readonly [PresetName, string, string])[] = [
  ['java', 'no indentation', 'a.BException: x\n\tat a.B.c(B.java:1)\nCaused by: a.CException: x\n... 3 more'],
  ['node', 'the REPL', 'Uncaught:\nError: x\n    at f (/a.js:1:2)'],
  [
    'php',
    'a message that looks like another error',
    'PHP Fatal error:  Uncaught PDOException: SQLSTATE[42S02]: x\nError: y in /a.php:1\nStack trace:\n#0 {main}\n  thrown in /a.php on line 2',
  ],
  [
    'java',
    'Feign',
    'feign.FeignException$NotFound: [404 Not Found] during [GET] to [http://a/b] [A#b()]: [{"x":1}]\n\tat feign.A.b(A.java:1)',
  ],
  [
    'java',
    'a root cause first',
    'java.net.ConnectException: refused\n\tat a.B.c(B.java:1)\n\t... 4 common frames omitted\nWrapped by: a.LoadException: orders\n\tat a.B.d(B.java:2)',
  ],
  [
    'java',
    'RMI',
    'java.rmi.ServerException: RemoteException occurred in server thread; nested exception is: \n\tjava.rmi.RemoteException: x\n\tat a.B.c(B.java:1)',
  ],
  [
    'java',
    'mail',
    'java.lang.RuntimeException: javax.mail.SendFailedException: Invalid Addresses;\n  nested exception is:\na.smtp.AddressFailedException: 550 denied\n\n\tat a.B.c(B.java:1)\nCaused by: javax.mail.SendFailedException: Invalid Addresses;\n  nested exception is:\na.smtp.AddressFailedException: 550 denied\n\n\tat a.B.d(B.java:2)\n\t... 12 more',
  ],
  [
    'java',
    'a servlet',
    'javax.servlet.ServletException: x\n\tat a.B.c(B.java:1)\nroot cause\n\njava.lang.NullPointerException\n\tat a.B.d(B.java:2)',
  ],
  [
    'java',
    'Reactor',
    'java.lang.IllegalStateException: broke\n\tat a.B.c(B.java:1)\n\tSuppressed: reactor.core.publisher.FluxOnAssembly$OnAssemblyException: \nError has been observed at the following site(s):\n\t*__checkpoint ⇢ HTTP GET "/x"\n\t|_ checkpoint ⇢ y\nOriginal Stack Trace:\n\t\tat a.B.c(B.java:1)\n\t\tat a.B.d(B.java:2)',
  ],
  [
    'java',
    'Reactor, assembly',
    'java.lang.IndexOutOfBoundsException: more\n\tat a.B.c(B.java:1)\n\tSuppressed: reactor.core.publisher.FluxOnAssembly$OnAssemblyException: \nAssembly trace from producer [reactor.core.publisher.MonoSingle] :\n\treactor.core.publisher.Flux.single(Flux.java:1)\nError has been observed at the following site(s):\n\t*_____Flux.single ⇢ at a.B.c(B.java:1)\nOriginal Stack Trace:\n\t\tat a.B.c(B.java:1)',
  ],
  [
    'java',
    'coroutines',
    'java.lang.IllegalStateException: x\n\tat a.BKt.c(B.kt:1)\n\tat _COROUTINE._BOUNDARY._(CoroutineDebugging.kt:46)\n\t(Coroutine boundary)\n\tat a.BKt.d(B.kt:2)\nCaused by: java.lang.IllegalStateException: x\n\t... 9 more',
  ],
  [
    'java',
    'SQL',
    'org.h2.jdbc.JdbcSQLSyntaxErrorException: Syntax error in SQL statement:\nSELECT *\nFROM a\n\nWHERE; SQL statement:\nfailing10 [42001-197]\n\tat org.h2.A.b(A.java:1)\nCaused by: org.postgresql.util.PSQLException: ERROR: no relation\n  Position: 15\n\tat a.B.c(B.java:1)',
  ],
  [
    'java',
    'EclipseLink',
    'Exception [EclipseLink-4002] (Eclipse Persistence Services): org.eclipse.persistence.exceptions.DatabaseException\nInternal Exception: java.sql.SQLException: no\nError Code: 0\nCall: SELECT 1\n\tat a.B.c(B.java:1)',
  ],
  ['java', 'Clojure', 'clojure.lang.ExceptionInfo: declined {:card 7}\n\tat a$b.invoke(a.clj:1)'],
  ['java', 'Scala', 'scala.MatchError: 7 (of class java.lang.Integer)\n\tat a.B$.c(B.scala:1)'],
  [
    'java',
    'a log line',
    '2026-11-25 10:00:02 ERROR [main] a.B - failed: java.io.IOException: x\n\tat a.B.c(B.java:1)\n\tat a.B.d(B.java:2) ~[b.jar:1.0]',
  ],
  [
    'java',
    'frames without space',
    'java.lang.Exception: x\nat a.b.C.d(C.java:46)\nat java.base/a.B.c(Native Method)',
  ],
  ['java', 'names beyond ASCII', 'ru.магазин.ОшибкаException: нет\n\tat ru.A.b(A.java:1)'],
  [
    'dotnet',
    'three inner exceptions',
    'System.AggregateException: One or more errors occurred. (first) (second)\n ---> System.InvalidOperationException: first\n   at A.B() in /a.cs:line 8\n   --- End of inner exception stack trace ---\n   at A.Main() in /a.cs:line 12\n ---> (Inner Exception #1) System.ArgumentException: second\n   at A.C() in /a.cs:line 9<---\n\n ---> (Inner Exception #2) A.Declined: third\nof two lines\n   at A.D() in /a.cs:line 10<---',
  ],
  [
    'dotnet',
    'SQL Server',
    "Microsoft.Data.SqlClient.SqlException (0x80131904): Invalid object name 'a'.\n   at A.B()\nClientConnectionId:5e5e\nError Number:208,State:1,Class:16",
  ],
  [
    'dotnet',
    'a socket',
    'System.Net.Http.HttpRequestException: Connection refused (a:1)\n ---> System.Net.Sockets.SocketException (111): Connection refused\n   at A.B()\n   --- End of inner exception stack trace ---\n   at A.C()',
  ],
  [
    'dotnet',
    'Npgsql',
    'Npgsql.PostgresException (0x80004005): 23505: duplicate key\n\nDETAIL: Key (a)=(1) already exists.\n   at A.B()\n  Exception data:\n    Severity: ERROR\n    SqlState: 23505',
  ],
  [
    'dotnet',
    'Azure',
    'Azure.RequestFailedException: The blob does not exist.\nRequestId:1\nTime:2026-11-25T10:00:00Z\nStatus: 404 (Not there)\n\nHeaders:\nServer: x\n\n   at A.B()',
  ],
  [
    'dotnet',
    'WCF',
    'System.ServiceModel.FaultException`1[A.Fault]: x (Fault Detail is equal to A.Fault).\n\nServer stack trace: \n   at A.B()\n\nException rethrown at [0]: \n   at A.C()',
  ],
  [
    'dotnet',
    'an overflow',
    'Stack overflow.\nRepeat 24058 times:\n--------------------------------\n   at A.B()\n--------------------------------\n   at A.Main()',
  ],
  [
    'dotnet',
    'FailFast',
    'Process terminated. no way\n   at System.Environment.FailFast(System.String)\n   at A.Main()',
  ],
  [
    'dotnet',
    'German',
    'System.InvalidOperationException: x\n   bei A.B() in C:\\a.cs:Zeile 8.\n   bei A.C() in C:\\a.cs:Zeile 9.',
  ],
  [
    'dotnet',
    'async',
    'System.Exception: x\n   at A.B()\n--- End of stack trace from previous location where exception was thrown ---\n   at A.C()\n--- End of stack trace from previous location ---\n   at A.D()',
  ],
  [
    'python',
    'rich',
    '╭───── Traceback (most recent call last) ─────╮\n│ /a.py:1 in f │\n│ ❱ 1 x │\n╰──────────────╯\nValueError: x',
  ],
  [
    'python',
    'loguru',
    'Traceback (most recent call last):\n\n  File "a.py", line 1, in <module>\n    f()\n    └ <function f at 0x1>\n\n> File "a.py", line 2, in f\n    x\n\nValueError: x',
  ],
  [
    'python',
    'a log line',
    '2026-11-25 10:00:02 ERROR Traceback (most recent call last):\n  File "a.py", line 1, in f\n    x\nValueError: x',
  ],
  [
    'go',
    'a signal in cgo',
    'SIGSEGV: segmentation violation\nPC=0x7f m=0 sigcode=1 addr=0x0\nsignal arrived during cgo execution\n\ngoroutine 1 gp=0xc0 m=0 mp=0x5 [syscall]:\nruntime.cgocall(0x1, 0x2)\n\t/go/cgocall.go:1 +0x4b\nmain.main()\n\t/a.go:7 +0x1\n\nrax    0x0\nrip    0x7f',
  ],
  [
    'go',
    'a nil pointer',
    'panic: runtime error: invalid memory address or nil pointer dereference [recovered, repanicked]\n[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x1]\n\ngoroutine 1 [running]:\nmain.(*T[...]).f(...)\n\t/a.go:12 +0x1d\nexit status 2',
  ],
  [
    'go',
    'another thread',
    'fatal error: concurrent map read and map write\n\ngoroutine 6 [running]:\nmain.f()\n\t/a.go:1 +0x1\ncreated by main.main in goroutine 1\n\t/a.go:2 +0x2\n\ngoroutine 1 [running]:\n\tgoroutine running on other thread; stack unavailable',
  ],
  [
    'go',
    'elided frames',
    'panic: deep\n\ngoroutine 1 [running]:\nmain.f(0x1)\n\t/a.go:1 +0x1\n...34 frames elided...\nmain.main()\n\t/a.go:2 +0x2\n...additional frames elided...\ncreated by main.g\n\t/a.go:3 +0x3',
  ],
  [
    'go',
    'klog',
    'E1125 10:00:00.000000       1 runtime.go:79] Observed a panic: "x" (x)\ngoroutine 5 [running]:\na/b.f({0x1?, 0x2})\n\t/a.go:1 +0x1\npanic({0x1, 0x2})\n\t/p.go:1 +0x2',
  ],
  [
    'go',
    'gin',
    '2026/11/25 10:00:02 [Recovery] 2026/11/25 - 10:00:02 panic recovered:\nGET / HTTP/1.1\nHost: a\n\nx\n/a.go:12 (0x4a)\n\tmain: f()\n/b.go:3 (0x5b)\n\tmain: g()',
  ],
  ['go', 'zap', 'main.f\n\t/a.go:12\nruntime.main\n\t/go/proc.go:250'],
  ['go', 'echo', '{x} [PANIC RECOVER] x goroutine 7 [running]:\nmain.f()\n\t/a.go:1 +0x1'],
  [
    'ruby',
    'Ruby 3.4',
    "/a.rb:5:in 'Object#calc': undefined method 'foo' for nil (NoMethodError)\n\n    nil.foo\n       ^^^^\n\tfrom /a.rb:9:in '<main>'",
  ],
  [
    'ruby',
    'Rails',
    "ActiveRecord::RecordNotFound (Couldn't find Order with 'id'=7):\n  \napp/controllers/a.rb:12:in `show'\napp/b.rb:1:in `block in c'",
  ],
  [
    'ruby',
    'Rails, a cause',
    "ActiveRecord::StatementInvalid (PG::UndefinedTable: ERROR:  no relation\nLINE 1: SELECT 1\n        ^\n):\n  \nCauses:\nPG::UndefinedTable (ERROR:  no relation)\n  \napp/a.rb:12:in `show'",
  ],
  [
    'ruby',
    'Rails, a view',
    "ActionView::Template::Error (undefined method `x' for nil):\n    1: <h1>\n    2: <%= x %>\n  \napp/views/a.erb:2",
  ],
  [
    'ruby',
    'Rails logger',
    "F, [2026-11-25T10:00:02.000000 #7] FATAL -- : [ab12] Errno::ECONNREFUSED (refused):\nF, [2026-11-25T10:00:02.000000 #7] FATAL -- : [ab12]   \nF, [2026-11-25T10:00:02.000000 #7] FATAL -- : [ab12] app/a.rb:12:in `show'",
  ],
  [
    'node',
    'Node.js 14',
    '(node:7) UnhandledPromiseRejectionWarning: Error: x\n    at f (/a.js:1:2)\n(Use `node --trace-warnings ...` to show where the warning was created)',
  ],
  [
    'node',
    'a rejection that is no error',
    "node:internal/process/promises:288\n            triggerUncaughtException(err, true /* fromPromise */);\n            ^\n\n[UnhandledPromiseRejection: This error originated] {\n  code: 'ERR_UNHANDLED_REJECTION'\n}\n\nNode.js v20.0.0",
  ],
  [
    'php',
    'php-fpm',
    '[25-Nov-2026 10:00:02 UTC] PHP Fatal error:  Uncaught Exception: x in /a.php:3\nStack trace:\n#0 /a.php(9): f()\n#1 {main}\n  thrown in /a.php on line 3',
  ],
  [
    'php',
    'PHP 5',
    "PHP Fatal error:  Uncaught exception 'Exception' with message 'x' in /a.php:60\nStack trace:\n#0 [internal function]: A::{closure}()\n#1 {main}\n  thrown in /a.php on line 60",
  ],
  [
    'php',
    'xdebug',
    'PHP Warning:  Undefined variable $a in /a.php on line 3\nPHP Stack trace:\nPHP   1. {main}() /a.php:0\nPHP   2. f() /a.php:9',
  ],
  [
    'php',
    'Laravel',
    '[2026-11-25 10:00:02] production.ERROR: no card {"exception":"[object] (App\\\\Declined(code: 0): no card at /a.php:12)\n[stacktrace]\n#0 /a.php(59): f()\n#1 {main}\n"}',
  ],
  [
    'rust',
    'before 1.73',
    "thread 'main' panicked at 'no card', src/main.rs:2:5\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace",
  ],
  [
    'rust',
    'a record with causes',
    '2026-11-25T10:00:02Z ERROR shop: cannot start\n\nCaused by:\n    0: cannot read\n    1: not found',
  ],
  [
    'rust',
    'miette',
    'Error: a::b\n\n  × cannot read\n  ├─▶ not found\n   ╭─[a.toml:1:1]\n 1 │ x\n   · ┬\n   ╰────\n  help: write it',
  ],
];

describe('traces that are not recorded', () => {
  it.each(OTHERS)('%s: %s', (preset, _, trace) => {
    const events = ['2026-11-25 10:00:00 INFO before', trace, '2026-11-25 10:00:03 INFO after'];
    const lines = events.join('\n').split('\n');
    expect(joinTraces({ preset }, lines)).toEqual(events);
    expect(joinTraces({ preset: NAMES }, lines)).toEqual(events);
  });

  it('keeps the next trace apart', () => {
    const traces = [
      'java.io.IOException: x\n\tat a.B.c(B.java:1)',
      'java.io.IOException: y\n\tat a.B.c(B.java:1)',
      'Traceback (most recent call last):\n  File "a.py", line 1, in f\nValueError: x',
      'Traceback (most recent call last):\n  File "a.py", line 1, in f\nValueError: y',
      'panic: x\n\ngoroutine 1 [running]:\nmain.f()\n\t/a.go:1 +0x1',
      'panic: y\n\ngoroutine 1 [running]:\nmain.f()\n\t/a.go:1 +0x1',
      "a.rb:1:in `f': x (RuntimeError)\n\tfrom a.rb:2:in `<main>'",
      "a.rb:1:in `f': y (RuntimeError)\n\tfrom a.rb:2:in `<main>'",
      "thread 'main' panicked at a.rs:1:2:\nx\nnote: run with `RUST_BACKTRACE=1`",
      "thread 'main' panicked at a.rs:1:2:\ny\nnote: run with `RUST_BACKTRACE=1`",
      'TypeError: x\n    at f (/a.js:1:2)',
      'TypeError: y\n    at f (/a.js:1:2)',
      'PHP Fatal error:  Uncaught Exception: x in /a.php:3\nStack trace:\n#0 {main}\n  thrown in /a.php on line 3',
      'PHP Fatal error:  Uncaught Exception: y in /a.php:3\nStack trace:\n#0 {main}\n  thrown in /a.php on line 3',
    ];
    expect(joinTraces({ preset: NAMES }, traces.join('\n').split('\n'))).toEqual(traces);
  });

  it('keeps a message of several lines apart from the lines of a log that come without a frame', () => {
    const lines = [
      'java.io.IOException: x',
      'retrying',
      'in 5 s',
      '2026-11-25 10:00:00 INFO y',
      '\tat a.B.c(B.java:1)',
    ];
    expect(joinTraces({ preset: 'java' }, lines)).toEqual(lines);
  });

  it('gives up on a message of more than 100 lines', () => {
    const lines = [
      'java.io.IOException: x',
      ...Array.from({ length: 101 }, (_, n) => `line ${n}`),
      '\tat a.B.c(B.java:1)',
    ];
    expect(joinTraces({ preset: 'java' }, lines)).toEqual(lines);
  });
});

/** Lines of logs that have something of a trace. */
const LINES = [
  'Error: listen',
  'error: cannot connect, Exception: none',
  'Ready',
  'Note: see the manual',
  'com.acme.Main: started',
  'at noon',
  'runtime: ok',
  '==================',
  'goroutine pool: 7',
  'Caused by: the weather',
  'GET /errors 200',
  'ERROR only one line',
  'listening on http://0.0.0.0:8080',
  '/srv/app.js:12',
  '#1 in sales',
  'File name: x',
  'Traceback of the parcel',
  'note: bring a coat',
  '',
  'PHP Notice:  x in /a.php on line 3',
  'A::B (x)',
  '(node:7) Warning: x',
  'thread pool: 7',
  'Stack trace: none',
  'app.rb:3: warning: shadowing',
];

describe('lines of a log', () => {
  it.each(LINES)('%j stays alone between others, whatever the preset', (line) => {
    for (const preset of [...NAMES, NAMES]) {
      for (const [before, after] of [['done', 'started again'], ...Object.values(LOGS)] as [
        string,
        string,
      ][]) {
        expect(joinTraces({ preset }, [before, line, after])).toEqual([before, line, after]);
      }
    }
  });

  it('keeps the order and the number of lines, whatever they are', () => {
    const lines = [
      ...LINES,
      ...RECORDED.filter((_, index) => index % 9 === 0).flatMap(({ trace }) => trace.split('\n')),
    ];
    for (let shift = 1; shift < lines.length; shift += 7) {
      const mixed = lines.map((_, index) => lines[(index * shift) % lines.length] as string);
      expect(joinTraces({ preset: NAMES }, mixed, 5).join('\n').split('\n')).toEqual(mixed);
    }
  });
});

describe('lead', () => {
  it.each<[readonly string[], readonly string[]]>([
    [
      ['a', 'b', 'TypeError: x', '    at f (/a.js:1:2)', 'c'],
      ['a', 'b\nTypeError: x\n    at f (/a.js:1:2)', 'c'],
    ],
    [
      ['Error: failed', 'TypeError: x', '    at f (/a.js:1:2)'],
      ['Error: failed\nTypeError: x\n    at f (/a.js:1:2)'],
    ],
    // A record that ends with its exception announces itself.
    [
      ['a', '2026-11-25 10:00:00 ERROR TypeError: x', '    at f (/a.js:1:2)'],
      ['a', '2026-11-25 10:00:00 ERROR TypeError: x\n    at f (/a.js:1:2)'],
    ],
    [
      ['a', 'b'],
      ['a', 'b'],
    ],
  ])('%j', (lines, expected) => {
    expect(joinTraces({ preset: 'node', lead: 1 }, lines)).toEqual(expected);
  });
});
