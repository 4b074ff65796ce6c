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
};

async function joined(settings: object, lines: readonly string[]): Promise<unknown[]> {
  const values = Object.fromEntries(lines.map((line, index) => [String.fromCodePoint(0x61 + index), line]));
  const run = await testPipeline(
    {
      collectors: { log: { plugin: 'file', paths: ['/app.log'] } },
      processors: { join: { plugin: 'multiline', ...settings } },
      forwarders: { out: { plugin: 'noop' } },
      pipelines: { main: { collect: 'log', process: 'join', forward: 'out' } },
      host_config: {},
    },
    { collect: { log: { marbles: `(${Object.keys(values).join('')}|)`, values } } },
  );
  return run.events('out').map(({ data }) => data.line);
}

describe('multiline', () => {
  it.each(Object.keys(PRESETS) as PresetName[])('knows the stack traces of %s', async (preset) => {
    const lines = ['ready', ...TRACES[preset].split('\n'), 'still here', 'done'];
    expect(await joined({ preset }, lines)).toEqual(['ready', TRACES[preset], 'still here', 'done']);
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
    [{}, 'one of `start`, `continue` and `preset`'],
    [{ start: 'a', continue: 'b' }, 'one of `start`, `continue` and `preset`'],
    [{ start: '(' }, expect.stringMatching(/^a valid regular expression \(/)],
    [{ start: '(?i)^(a+)+$' }, expect.stringContaining('busy for ever')],
  ])('refuses %j', (settings, message) => {
    expect(issuesOf(settings)).toEqual([message]);
  });
});
