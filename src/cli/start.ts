import module from 'node:module';
import { isAbsolute, join } from 'node:path';
import { version } from '../version.ts';

/** Runs the command line that the process was started with. */
export async function start(): Promise<void> {
  const args = process.argv.slice(2);
  // Answered before anything else is loaded: scripts ask for it often.
  if (args.length === 1 && (args[0] === '--version' || args[0] === '-V')) {
    process.stdout.once('error', ({ code }: NodeJS.ErrnoException) => {
      if (code === 'EPIPE') return;
      process.stderr.write(`millrace: cannot write to standard output: ${code}\n`);
      process.exitCode = 1;
    });
    process.stdout.write(`${version()}\n`);
    return;
  }
  const releaseSignals = holdSignals();
  keepCompiledCode();
  const { main } = await import('./main.ts');
  await main(args, releaseSignals);
}

/**
 * Lets Node keep what V8 compiles for the next start. In a folder of the user: in the system's temporary one, which is
 * Node's default, another user could put code there first.
 */
function keepCompiledCode(): void {
  // Node has it since 22.1; the types are those of Node 20.
  const { enableCompileCache } = module as { enableCompileCache?: (folder: string) => unknown };
  const { XDG_CACHE_HOME = '', HOME = '' } = process.env;
  const base = [XDG_CACHE_HOME, join(HOME, '.cache')].find(isAbsolute);
  if (base !== undefined) enableCompileCache?.(join(base, 'millrace'));
}

/**
 * Holds back signals that arrive before a command listens for them, because they would end the process while it
 * starts. The first listener of a signal gets it once. Call the result to stop: a signal that is still held then has
 * its default effect.
 */
function holdSignals(): () => void {
  const releases = (['SIGHUP', 'SIGINT', 'SIGTERM'] as const).map((signal) => {
    let isHeld = false;
    const hold = () => {
      isHeld = true;
    };
    const release = () => {
      process.off(signal, hold);
      process.off('newListener', handOver);
      if (!isHeld) return;
      isHeld = false;
      if (process.listenerCount(signal) > 0) process.emit(signal, signal);
      else process.kill(process.pid, signal);
    };
    const handOver = (event: string | symbol) => {
      // Node emits this before it adds the listener.
      if (event === signal) void Promise.resolve().then(release);
    };
    process.on(signal, hold);
    process.on('newListener', handOver);
    return release;
  });
  return () => {
    for (const release of releases) release();
  };
}
