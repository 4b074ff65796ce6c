const SIGNALS = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const;

/**
 * Keeps the signals that arrive before a command listens for them, which would end the process while it starts. The
 * first listener of a signal gets it once. The result ends this: a signal that is still kept then does what it does
 * without a listener.
 */
export function holdSignals(): () => void {
  const releases = SIGNALS.map((signal) => {
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
      // Node tells of a listener before it adds it.
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
