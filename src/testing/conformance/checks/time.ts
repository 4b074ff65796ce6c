import { counted } from '../../../../operators/internal.ts';
import { ALL_KINDS, type Check, demand } from '../check.ts';
import { collected, handled, observe } from '../observe.ts';
import { openCopy } from '../open-copy.ts';
import type { Subject } from '../subject.ts';
import { type ClockUse, watchClocks } from '../watch-clocks.ts';

const HINT =
  'take the time from RxJS (timer, delay, asyncScheduler.now(), isoNow()) and return an Observable; if the plugin talks to the outside, say so with the option time: "real"';

/** Virtual time governs what a plugin does. */
export const TIME_CHECKS: readonly Check[] = [
  {
    name: 'time: it runs in virtual time',
    kinds: ALL_KINDS,
    async run(subject) {
      if (!subject.isVirtual) return 'it works in real time, as the option says';
      let open = 0;
      const uses = await watchClocks(async () => {
        open = await runAll(subject);
      });
      demand(uses.length === 0, `it used real time: ${uses.map(placeOf).join('; ')}. Instead, ${HINT}`);
      demand(
        open === 0,
        `${counted(open, 'run')} ${open === 1 ? 'was' : 'were'} not done after an hour of virtual time: virtual time does not govern promises. Instead, ${HINT}`,
      );
      return undefined;
    },
  },
];

function placeOf({ api, place }: ClockUse): string {
  return `${api} at ${place}`;
}

/** Runs the entry function for all that there is; returns how many runs do not end. Collectors need not end. */
async function runAll(subject: Subject): Promise<number> {
  const ctx = subject.context();
  if (subject.kind === 'collect') {
    const { values, end } = await observe(subject, () => collected(subject, ctx));
    return end === 'open' && values.length === 0 ? 1 : 0;
  }
  let open = 0;
  for (const event of subject.events) {
    const { end } = await observe(subject, () => handled(subject, ctx, openCopy(event)), {
      limit: Number.POSITIVE_INFINITY,
    });
    if (end === 'open') open++;
  }
  return open;
}
