import { setTimeout as delay } from 'node:timers/promises';

/**
 * Waits until `check`, or its promise, returns without throwing (or returns other than false); rethrows its error after
 * `ms`. A busy machine may need a minute for what otherwise takes a second, so the limit is only for what never comes.
 */
export async function eventually(check: () => unknown, ms = 300_000): Promise<void> {
  const end = performance.now() + ms;
  for (;;) {
    try {
      if ((await check()) !== false) return;
      if (performance.now() > end) throw new Error(`not within ${ms} ms: ${check}`);
    } catch (error) {
      if (performance.now() > end) throw error;
    }
    await delay(5);
  }
}
