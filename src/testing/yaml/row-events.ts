import type { RowExpectation } from '../../config/tests/expectations.ts';
import { timeText } from '../draw/value-text.ts';
import { assign } from './assignment.ts';
import { type Mismatch, mismatch, mismatchText, valueText, written } from './matcher.ts';
import { countedEvents, eventLines, type Finding, type ReceivedEvent, whatCame } from './received.ts';

type Received = readonly ReceivedEvent[];

const isLike = (wanted: unknown, { event }: ReceivedEvent) => mismatch(written(wanted), event) === undefined;

export function checkCount(count: NonNullable<RowExpectation['count']>, received: Received): Finding[] {
  const { at_least = 0, at_most = Number.POSITIVE_INFINITY } =
    typeof count === 'number' ? { at_least: count, at_most: count } : count;
  if (received.length >= at_least && received.length <= at_most) return [];
  const bounds = [
    ...(at_least > 0 ? [`at least ${at_least}`] : []),
    ...(at_most < Number.POSITIVE_INFINITY ? [`at most ${at_most}`] : []),
  ];
  const wanted =
    typeof count === 'number'
      ? countedEvents(count)
      : `${bounds.join(' and ')} ${(at_most < Number.POSITIVE_INFINITY ? at_most : at_least) === 1 ? 'event' : 'events'}`;
  const message = `expected ${wanted}, ${received.length === 0 ? 'none' : received.length} came`;
  return [{ path: ['count'], message, details: whatCame(received) }];
}

/** These and no others, in any order. */
export function checkExactly(matchers: readonly unknown[], received: Received): Finding[] {
  if (matchers.length > 0 && received.length === 0) {
    return [{ path: ['exactly'], message: `expected ${countedEvents(matchers.length)}, none came` }];
  }
  const assigned = assign(matchers, received, isLike);
  const taken = new Set(assigned);
  const spare = received.filter((_, index) => !taken.has(index));
  const findings = [...matchers.entries()]
    .filter(([index]) => assigned[index] === undefined)
    .map(
      ([index, wanted]): Finding => ({
        path: ['exactly', index],
        message: `no event is like ${valueText(wanted)}`,
        details: nearestText(wanted, spare),
      }),
    );
  if (findings.length > 0 || spare.length === 0) return findings;
  const message = `${countedEvents(spare.length)} came that ${spare.length === 1 ? 'is' : 'are'} not in the list`;
  return [{ path: ['exactly'], message, details: eventLines(spare) }];
}

/** These, in this order, and no others: what a list stands for. */
export function checkList(matchers: readonly unknown[], received: Received): Finding[] {
  const index = matchers.findIndex((wanted, position) => {
    const got = received[position];
    return got === undefined || !isLike(wanted, got);
  });
  if (index !== -1) {
    const got = received[index];
    const wanted = valueText(matchers[index]);
    if (got === undefined) {
      const message = `expected ${countedEvents(matchers.length)}, ${received.length === 0 ? 'none' : received.length} came; the first that is missing: ${wanted}`;
      return [{ path: [index], message, details: whatCame(received) }];
    }
    const found = mismatch(written(matchers[index]), got.event) as Mismatch;
    const message = `event ${index + 1}, at ${timeText(got.at)}, is not like ${wanted}: ${mismatchText(found)}`;
    return [{ path: [index], message, details: whatCame(received) }];
  }
  const spare = received.slice(matchers.length);
  if (spare.length === 0) return [];
  const message =
    matchers.length === 0
      ? `expected no event, ${countedEvents(spare.length)} came`
      : `${countedEvents(spare.length)} came behind the last of the list`;
  return [{ path: [], message, details: eventLines(spare) }];
}

/** These, in this order; others may come between. */
export function checkInOrder(matchers: readonly unknown[], received: Received): Finding[] {
  let next = 0;
  for (const [index, wanted] of matchers.entries()) {
    const found = received.findIndex((event, position) => position >= next && isLike(wanted, event));
    if (found !== -1) {
      next = found + 1;
      continue;
    }
    const before = received.findIndex((event) => isLike(wanted, event));
    const last = received[next - 1];
    const behind =
      last === undefined
        ? ''
        : ` behind ${valueText(matchers[index - 1])}, which came at ${timeText(last.at)},`;
    const message = `no event${behind} is like ${valueText(wanted)}`;
    const details =
      before === -1
        ? nearestText(wanted, received)
        : `It came at ${timeText((received[before] as ReceivedEvent).at)}: the order is another.\n${whatCame(received)}`;
    return [{ path: ['in_order', index], message, details }];
  }
  return [];
}

/** Every event is like each of the matchers. Nothing is said of no events at all, so that is a finding too. */
export function checkAll(matchers: readonly unknown[], received: Received): Finding[] {
  if (received.length === 0) return [nothingSeen('all')];
  return matchers.flatMap((wanted, index) => {
    const wrong = received.filter((event) => !isLike(wanted, event));
    const [first] = wrong;
    if (first === undefined) return [];
    const found = mismatch(written(wanted), first.event) as Mismatch;
    const message = `${wrong.length} of ${countedEvents(received.length)} ${wrong.length === 1 ? 'is' : 'are'} not like ${valueText(wanted)}; the first, at ${timeText(first.at)}: ${mismatchText(found)}`;
    return [{ path: itemPath('all', matchers, index), message, details: eventLines(wrong) }];
  });
}

function nothingSeen(assertion: string): Finding {
  const message = `no event came, so \`${assertion}\` has looked at nothing; for that write \`count: 0\``;
  return { path: [assertion], message, isVacuous: true };
}

/** For each of the matchers there is an event like it. */
export function checkAny(matchers: readonly unknown[], received: Received): Finding[] {
  return matchers.flatMap((wanted, index) => {
    if (received.some((event) => isLike(wanted, event))) return [];
    const message = `no event is like ${valueText(wanted)}`;
    return [{ path: itemPath('any', matchers, index), message, details: nearestText(wanted, received) }];
  });
}

/** No event is like any of the matchers. As with `checkAll`, some event has to come, unless none is wanted. */
export function checkNone(
  matchers: readonly unknown[],
  received: Received,
  isNoneWanted: boolean,
): Finding[] {
  if (received.length === 0 && !isNoneWanted) return [nothingSeen('none')];
  return matchers.flatMap((wanted, index) => {
    const wrong = received.filter((event) => isLike(wanted, event));
    if (wrong.length === 0) return [];
    const message = `${wrong.length} of ${countedEvents(received.length)} ${wrong.length === 1 ? 'is' : 'are'} like ${valueText(wanted)}`;
    return [{ path: itemPath('none', matchers, index), message, details: eventLines(wrong) }];
  });
}

/** The path of one of several matchers; a single one may stand without a list. */
export function itemPath(assertion: string, items: readonly unknown[], index: number): (string | number)[] {
  return items.length === 1 ? [assertion] : [assertion, index];
}

function nearestText(wanted: unknown, received: Received): string {
  const compared = received.flatMap((candidate) => {
    const found = mismatch(written(wanted), candidate.event);
    return found === undefined ? [] : [{ candidate, found }];
  });
  const [nearest] = compared.sort((a, b) => b.found.matched - a.found.matched);
  if (nearest === undefined) return 'Nothing came.';
  const { candidate, found } = nearest;
  return `The nearest came at ${timeText(candidate.at)}: ${mismatchText(found)}\n${whatCame(received)}`;
}
