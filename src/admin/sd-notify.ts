import { execFile } from 'node:child_process';
import { interval, Subscription } from 'rxjs';
import { counted } from '../../operators/internal.ts';
import type { Logger } from '../sdk/context.ts';
import { safeReason } from '../sdk/errors.ts';
import { printable } from '../sdk/printable.ts';
import type { PipelineHealth } from '../sdk/status.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** Characters of a status: `systemctl status` shows one line. */
const LONGEST_STATUS = 300;
/** Milliseconds that `systemd-notify` may take. */
const PATIENCE = 5000;

/**
 * Tells systemd that the process is ready, what it does, and that it is alive, if systemd asks for it with
 * `NOTIFY_SOCKET`. That is a datagram socket, which Node.js does not support, so the program `systemd-notify`, which comes
 * with systemd, sends the messages. The unit needs `NotifyAccess=all` for it.
 */
export class SystemdNotifier {
  readonly #isAsked: boolean;
  readonly #watchdogMs: number | undefined;
  readonly #logger: Logger;
  readonly #watchdog = new Subscription();
  #status = '';
  #hasFailed = false;

  constructor(logger: Logger, env: Env = process.env) {
    this.#logger = logger;
    this.#isAsked = (env.NOTIFY_SOCKET ?? '') !== '';
    const isOurs = env.WATCHDOG_PID === undefined || env.WATCHDOG_PID === String(process.pid);
    const ms = Number(env.WATCHDOG_USEC) / 1000;
    this.#watchdogMs = isOurs && ms > 0 ? ms : undefined;
  }

  /** All pipelines have been started. From now on the watchdog is told that the event loop is not blocked. */
  ready(): void {
    this.#send('READY=1');
    if (!this.#isAsked || this.#watchdogMs === undefined || this.#watchdog.closed) return;
    // Half of the time, as sd_watchdog_enabled(3) recommends.
    const alive = interval(this.#watchdogMs / 2).subscribe(() => this.#send('WATCHDOG=1'));
    this.#watchdog.add(alive);
  }

  /** What `systemctl status` shows. Sent only when it has changed. */
  status(pipelines: readonly PipelineHealth[]): void {
    const status = statusText(pipelines);
    if (status === this.#status) return;
    this.#status = status;
    this.#send(`STATUS=${status}`);
  }

  stopping(): void {
    this.#send('STOPPING=1');
  }

  close(): void {
    this.#watchdog.unsubscribe();
  }

  #send(message: string): void {
    if (!this.#isAsked) return;
    execFile('systemd-notify', [message], { timeout: PATIENCE }, (error) => {
      if (error === null || this.#hasFailed) return;
      this.#hasFailed = true;
      this.#logger.warn(`systemd cannot be notified by the program systemd-notify: ${safeReason(error)}`);
    });
  }
}

/** `2 pipelines, no problems`, or the problems. */
function statusText(pipelines: readonly PipelineHealth[]): string {
  const unhealthy = pipelines.filter(({ problems }) => problems.length > 0);
  const count = pipelines.length;
  if (unhealthy.length === 0) return `${counted(count, 'pipeline')}, no problems`;
  const text = unhealthy.map(({ pipeline, problems }) => `${pipeline}: ${problems.join(', ')}`).join('; ');
  // Another line would be another assignment.
  return printable(text).slice(0, LONGEST_STATUS);
}
