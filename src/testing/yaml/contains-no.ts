import { formatPath, isMapping, type Path } from '../../checks/problem.ts';
import type { CollectedEvent } from '../../sdk/events.ts';
import { toJson } from '../../sdk/serialise.ts';
import { expressionIn } from '../../sdk/tests-config.ts';
import { timeText } from '../draw/time-text.ts';
import { countedEvents, type Finding, type ReceivedEvent } from './received.ts';
import type { ItemPath } from './row-events.ts';
import { valueText } from './value-text.ts';

const CONTEXT = 24;

/** A timestamp of this form tells nothing but the time. */
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?$/;

/**
 * No event contains the texts, in any value or key at any depth. Only a timestamp that is a date and time is not
 * looked at. Without any event there is nothing that it could hold for, unless none is wanted.
 */
export function checkContainsNo(
  texts: readonly string[],
  received: readonly (ReceivedEvent & { readonly by?: string })[],
  path: ItemPath,
  isNoneWanted: boolean,
): Finding[] {
  if (received.length === 0 && !isNoneWanted) {
    const message =
      'there was no event to look at; if that is right, say so with `count: 0` or an empty list';
    return [{ path: ['contains_no'], message }];
  }
  return texts.flatMap((text, index) => {
    const found = received.flatMap((event) => {
      const place = findText(text, event.event);
      return place === undefined ? [] : [{ ...event, ...place }];
    });
    if (found.length === 0) return [];
    const contain = found.length === 1 ? 'contains' : 'contain';
    const lines = found.slice(0, 5).map(({ at, by, place, excerpt }) => {
      return `  ${timeText(at)}  ${by === undefined ? '' : `${by}  `}${place}: ${excerpt}`;
    });
    return [
      {
        path: path('contains_no', texts, index),
        message: `${found.length} of ${countedEvents(received.length)} ${contain} ${valueText(text)}`,
        details: [...lines, ...(found.length > 5 ? [`  … and ${found.length - 5} more`] : [])].join('\n'),
      },
    ];
  });
}

interface FoundText {
  readonly place: string;
  readonly excerpt: string;
}

function findText(text: string, whole: CollectedEvent): FoundText | undefined {
  const { timestamp, ...others } = whole;
  const event = DATE_TIME.test(String(timestamp)) ? others : whole;
  const expression = expressionIn(text);
  for (const { path, content, isKey } of textsIn(event, [])) {
    const excerpt = excerptAround(text, expression, content);
    if (excerpt !== undefined) return { place: `${isKey ? 'the key ' : ''}${formatPath(path)}`, excerpt };
  }
  // What reaches from one value into another, such as `"user":"ada"`.
  const excerpt = excerptAround(text, expression, toJson(event));
  return excerpt === undefined ? undefined : { place: 'as JSON', excerpt };
}

function excerptAround(text: string, expression: RegExp | undefined, content: string): string | undefined {
  const match = expression?.exec(content);
  const start = expression === undefined ? content.indexOf(text) : (match?.index ?? -1);
  return start === -1 ? undefined : excerptOf(content, start, match?.[0].length ?? text.length);
}

function* textsIn(value: unknown, path: Path): Generator<{ path: Path; content: string; isKey: boolean }> {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* textsIn(item, [...path, index]);
  } else if (isMapping(value)) {
    for (const [key, item] of Object.entries(value)) {
      yield { path: [...path, key], content: key, isKey: true };
      yield* textsIn(item, [...path, key]);
    }
  } else if (value !== null && value !== undefined) {
    yield { path, content: String(value), isKey: false };
  }
}

function excerptOf(content: string, start: number, length: number): string {
  const from = Math.max(0, start - CONTEXT);
  const to = Math.min(content.length, start + length + CONTEXT);
  return `${from > 0 ? '…' : ''}${content.slice(from, to)}${to < content.length ? '…' : ''}`;
}
