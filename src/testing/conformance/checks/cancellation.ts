import type { Observable, Subscription } from 'rxjs';
import { counted } from '../../../../operators/internal.ts';
import type { PipelineRunContext } from '../../../sdk/context.ts';
import { MillraceError } from '../../../sdk/errors.ts';
import { isAsync } from '../../../sdk/plugin.ts';
import { activeResources, resourcesSince } from '../active-resources.ts';
import { ALL_KINDS, type Check, demand } from '../check.ts';
import { collected, handled, pause, virtually } from '../observe.ts';
import { openCopy } from '../open-copy.ts';
import type { Subject } from '../subject.ts';

const FEW_MS = 20;
const GRACE_MS = 400;

/** Checks that a plugin leaves nothing behind after it was stopped. */
export const CANCELLATION_CHECKS: readonly Check[] = [
  {
    name: 'cancellation: unsubscribing ends all work',
    kinds: ALL_KINDS,
    async run(subject) {
      const stop = new AbortController();
      const left = await interruptRun(
        subject,
        subject.context({ signal: stop.signal, ended: stop.signal }),
        (running) => {
          running.unsubscribe();
          // The engine does both. A generator that waits for something hears only of the signal.
          stop.abort();
        },
      );
      demandNothingLeft(left, 'after it was unsubscribed from');
      return undefined;
    },
  },
  {
    name: 'cancellation: a collector ends when ctx.signal is aborted',
    kinds: ['collect'],
    async run(subject) {
      const stop = new AbortController();
      const ctx = subject.context({ signal: stop.signal, ended: stop.signal });
      let isPulled = false;
      const left = await interruptRun(
        subject,
        ctx,
        () => stop.abort(),
        (returned) => {
          isPulled = !isAsync(returned);
        },
      );
      if (isPulled) return 'it returns an iterable, which the pipeline stops pulling from';
      // What a read under way brings may still come, if it takes real time.
      const isOver = left.isClosed && (left.late === 0 || !subject.isVirtual);
      demand(
        isOver,
        'it goes on after ctx.signal was aborted; complete then: pipe(takeUntil(fromEvent(ctx.signal, "abort"))), or leave the loop if ctx.signal.aborted',
      );
      demandNothingLeft({ ...left, late: 0 }, 'after ctx.signal was aborted');
      return undefined;
    },
  },
];

interface Left {
  /** Values after the end. */
  late: number;
  /** Actions that RxJS would still have run. */
  scheduled: number;
  /** Whether the run had ended by itself a moment after the end. */
  isClosed: boolean;
  /** What keeps the process alive. */
  open: readonly string[];
}

/** Starts a run, ends it while it is running, and returns what it leaves. */
async function interruptRun(
  subject: Subject,
  ctx: PipelineRunContext,
  end: (running: Subscription) => void,
  onReturned: (returned: unknown) => void = () => {},
): Promise<Left> {
  // What the runs of other checks have left may still be closing.
  await pause(FEW_MS);
  const before = activeResources();
  const left: Left = { late: 0, scheduled: 0, isClosed: false, open: [] };
  let isOver = false;
  const start = () =>
    work(subject, ctx, onReturned).subscribe({
      next: () => {
        if (isOver) left.late++;
      },
      error: () => {},
    });
  const finish = (running: Subscription) => {
    isOver = true;
    end(running);
  };
  let running: Subscription;
  if (subject.isVirtual) {
    running = virtually((scheduler) => {
      const subscription = start();
      // On the scheduler itself: an action of asyncScheduler's would be among those that are left.
      scheduler.schedule(() => {
        finish(subscription);
        left.scheduled = scheduler.actions.filter(({ closed }) => !closed).length;
      }, FEW_MS);
      return subscription;
    });
  } else {
    running = start();
    await pause(FEW_MS);
    finish(running);
  }
  const patience = subject.isVirtual ? FEW_MS : subject.patience;
  for (let waited = 0; waited < FEW_MS || (!running.closed && waited < patience); waited += FEW_MS) {
    await pause(FEW_MS);
  }
  left.isClosed = running.closed;
  running.unsubscribe();
  return { ...left, open: await stillOpen(before) };
}

function work(
  subject: Subject,
  ctx: PipelineRunContext,
  onReturned: (returned: unknown) => void,
): Observable<unknown> {
  if (subject.kind === 'collect') return collected(subject, ctx, onReturned);
  const [event] = subject.events;
  if (event === undefined)
    throw new MillraceError('MILLRACE_ARGUMENT', '`events` is empty; give at least one');
  return handled(subject, ctx, openCopy(event));
}

/** What came since and is still there; handles take a moment to close. */
async function stillOpen(before: readonly string[]): Promise<string[]> {
  let left = resourcesSince(before);
  for (let waited = 0; left.length > 0 && waited < GRACE_MS; waited += FEW_MS) {
    await pause(FEW_MS);
    left = resourcesSince(before);
  }
  return [...new Set(left)];
}

function demandNothingLeft({ late, scheduled, open }: Left, when: string): void {
  demand(
    late === 0,
    `it emitted ${counted(late, 'value')} ${when}; let new Observable(…) return what ends its work, or use RxJS operators`,
  );
  demand(
    scheduled === 0,
    `${scheduled} RxJS timers of it still run ${when}; unsubscribe from what it subscribed to`,
  );
  demand(open.length === 0, `it left this open ${when}: ${open.join(', ')}; clear timers, and close handles`);
}
