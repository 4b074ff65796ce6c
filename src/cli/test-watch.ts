import { spawn } from 'node:child_process';
import { dirname, resolve } from 'node:path';
import {
  concat,
  debounce,
  defer,
  filter,
  firstValueFrom,
  merge,
  Observable,
  repeat,
  switchMap,
  take,
  takeUntil,
  tap,
  timer,
} from 'rxjs';
import { ProblemLog } from '../config/config-error.ts';
import { readConfigFile } from '../config/read-files.ts';
import { isMapping } from '../sdk/checks/problem.ts';
import { isModulePath } from '../sdk/import-module.ts';
import type { TestOptions } from './commands.ts';
import { changesIn, configFiles } from './config-files.ts';
import { counted } from './format.ts';
import { noticesIn } from './notices.ts';
import { signalExitCode, stopSignals } from './signals.ts';

/** Editors write a file in several steps. */
const SETTLED_MS = 100;
/** What tests are made of. Results that are written beside them must not start another run. */
const SOURCES = /\.(?:ya?ml|[cm]?[jt]s|json)$/;

/**
 * Runs the tests, and again whenever a file in one of their folders has changed. Each run is a process of its own,
 * because Node loads a plugin's module only once. Ends on SIGINT or SIGTERM with the last run's exit code.
 */
export async function watchTests(args: readonly string[], options: TestOptions): Promise<number> {
  const notify = await noticesIn(options.logFormat);
  let last: number | undefined;
  const run$ = defer(() => watchedFolders(args)).pipe(
    switchMap((folders) => {
      const again$ = merge(...folders.map(changesIn)).pipe(
        filter((name) => SOURCES.test(name)),
        debounce(() => timer(SETTLED_MS)),
        take(1),
      );
      const run = testProcess().pipe(
        tap((code) => {
          last = code ?? last;
          const message = `watching ${counted(folders.length, 'folder')}; Ctrl-C ends`;
          notify({ level: 'info', text: `\n${message}\n`, message });
        }),
      );
      // The next change ends a run that is still going on.
      return concat(run, new Observable<never>()).pipe(takeUntil(again$));
    }),
    repeat(),
  );
  const signal = await firstValueFrom(
    new Observable<Parameters<typeof signalExitCode>[0]>((subscriber) => {
      const runs = run$.subscribe({ error: (error) => subscriber.error(error) });
      runs.add(stopSignals().subscribe(subscriber));
      return runs;
    }),
  );
  return last ?? signalExitCode(signal);
}

/** One run without `--watch`; emits its exit code, or null if a signal ended it. Unsubscribing ends it. */
function testProcess(): Observable<number | null> {
  const args = [...process.execArgv, ...process.argv.slice(1).filter((arg) => arg !== '--watch')];
  return new Observable((subscriber) => {
    const child = spawn(process.execPath, args, { stdio: 'inherit' });
    child.on('error', (error) => subscriber.error(error));
    child.on('close', (code) => {
      subscriber.next(code);
      subscriber.complete();
    });
    return () => child.kill();
  });
}

/** The folders of the files, of the configurations that they test, and of modules that are named by a path. */
async function watchedFolders(args: readonly string[]): Promise<string[]> {
  const folders = new Set<string>();
  const left = (await configFiles(args)).map((file) => resolve(file));
  for (const file of left) {
    const base = dirname(file);
    folders.add(base);
    const source = await readConfigFile(file, process.env, new ProblemLog());
    const { config, ...sections } = source?.value ?? {};
    const tested = [config].flat().flatMap((name) => (typeof name === 'string' ? resolve(base, name) : []));
    left.push(...tested.filter((path) => !left.includes(path)));
    for (const { plugin } of Object.values(sections).flatMap(entriesOf)) {
      if (typeof plugin === 'string' && isModulePath(plugin)) folders.add(dirname(resolve(base, plugin)));
    }
  }
  return [...folders];
}

function entriesOf(section: unknown): Record<string, unknown>[] {
  return isMapping(section) ? Object.values(section).filter(isMapping) : [];
}
