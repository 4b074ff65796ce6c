import * as cel from '@marcbachmann/cel-js';
import * as z from 'zod';
import { counted } from '../../operators/internal.ts';
import { PluginError, safeReason } from '../../src/sdk/index.ts';
import { toJsonValue } from '../expressions/json-value.ts';
import { CelProgram, type Scope } from '../expressions/program.ts';
import { expression } from '../expressions/schema.ts';
import {
  type Answer,
  type AnsweredCall,
  failedItems,
  isRetried,
  jsonOf,
  type PartialFailure,
} from './answer.ts';
import { bulkItems, MOST_OF_ITEM_ANSWER, statusOf } from './bulk-items.ts';
import type { HttpProtocol } from './http-sink.ts';

/** What an expression can read of an answer. */
const OF_ANSWER: Scope = {
  variables: { status: 'int', headers: 'map', body: 'dyn', text: 'string' },
  hint: 'a field of the JSON of an answer is body.NAME',
};

const ofAnswer = (expected: string, types: readonly string[]) =>
  expression(cel, { expected, types, scope: OF_ANSWER, mayHoldSecret: true });
const LISTS = ['list', 'dyn'];

/** The setting that says how the answers of a server are read. */
export const answersField = () =>
  z
    .strictObject({
      status: ofAnswer('an expression that gives a status', ['int', 'double', 'dyn'])
        .optional()
        .describe('The status that an answer means, a CEL expression. Default: its own.'),
      items: z
        .union([
          z.enum(['status_list', 'elasticsearch']),
          z.strictObject({
            cel: ofAnswer('an expression that gives a list of statuses', LISTS).describe('The expression.'),
          }),
        ])
        .optional()
        .meta({ mayHoldSecret: true })
        .describe(
          'Where an answer with success has the status of each event: a JSON array of them, `items` as of Elasticsearch, or `{ cel: … }`, which gives the list.',
        ),
      failed_items: ofAnswer('an expression that gives a list', LISTS)
        .optional()
        .describe(
          'The events that an answer with success refuses, a CEL expression: a list of their positions from 0 on, or of `{"index": …, "status": …}`.',
        ),
    })
    .refine(({ items, failed_items }) => items === undefined || failed_items === undefined, {
      message: '`items` or `failed_items`, not both',
    });

export type AnswerSettings = Readonly<z.output<ReturnType<typeof answersField>>>;

/** How a protocol reads answers by the settings. */
export function answerReaders(
  settings: AnswerSettings | undefined,
): Pick<HttpProtocol, 'statusOf' | 'readAnswer' | 'mostOfAnswer'> {
  if (settings === undefined) return { readAnswer: refusedBy207 };
  const { status } = settings;
  return {
    readAnswer: answerReader(settings),
    mostOfAnswer: MOST_OF_ITEM_ANSWER,
    ...(status !== undefined && { statusOf: statusReader(status) }),
  };
}

function answerReader({ items, failed_items }: AnswerSettings): NonNullable<HttpProtocol['readAnswer']> {
  if (items === 'status_list') return itemReader(listOf);
  if (items === 'elasticsearch') return itemReader(itemsOf);
  if (items !== undefined) return itemReader(ofProgram(items.cel, 'answers.items'));
  if (failed_items !== undefined) return failedItemReader(ofProgram(failed_items, 'answers.failed_items'));
  return refusedBy207;
}

function ofProgram(source: string, setting: string): (answer: Answer) => unknown {
  const program = new CelProgram(source, cel, OF_ANSWER, setting);
  return ({ status, headers, text }) => {
    const values = {
      status: BigInt(status),
      headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
      body: jsonOf(text) ?? null,
      text,
    };
    return toJsonValue(program.run(values), setting);
  };
}

const isStatus = (value: unknown): value is number =>
  Number.isInteger(value) && (value as number) >= 100 && (value as number) <= 599;

/** An answer without success may be that of a proxy, in a form of its own, and has failed in any case. */
function statusReader(source: string): NonNullable<HttpProtocol['statusOf']> {
  const read = ofProgram(source, 'answers.status');
  return (answer, server) => {
    let reason = 'it gave no status from 100 to 599';
    try {
      const status = read(answer);
      if (isStatus(status)) return status;
    } catch (error) {
      reason = safeReason(error);
    }
    if (answer.status >= 300) return answer.status;
    const message = `${server} answered ${answer.status}, and \`answers.status\` does not say what that means, so it is not known whether it took the events: ${reason}`;
    throw Object.assign(new PluginError(message), { fatal: true });
  };
}

function itemReader(read: (answer: Answer) => unknown): NonNullable<HttpProtocol['readAnswer']> {
  return (answer, of) => {
    const { count } = of.documents;
    const each = expectedOf(answer, of, '`answers.items`', () => {
      const statuses = read(answer);
      const isEach = Array.isArray(statuses) && statuses.length === count && statuses.every(isStatus);
      if (!isEach) throw new PluginError(`it gave no list of ${count} statuses from 100 to 599`);
      return statuses as number[];
    });
    return { failedEvents: failedItems(each, of), retryAfter: answer.retryAfter };
  };
}

/** The status of an event of which only the position is told: it is refused. */
const REFUSED = 400;

function failedItemReader(read: (answer: Answer) => unknown): NonNullable<HttpProtocol['readAnswer']> {
  return (answer, of) => {
    const { count } = of.documents;
    const each = Array.from({ length: count }, () => 200);
    expectedOf(answer, of, '`answers.failed_items`', () => {
      const failed = read(answer);
      if (!Array.isArray(failed)) throw new PluginError('it gave no list');
      for (const item of failed) {
        const { index, status } = (
          typeof item === 'number' ? { index: item, status: REFUSED } : (item ?? {})
        ) as {
          readonly index?: unknown;
          readonly status?: unknown;
        };
        const isIndex = Number.isInteger(index) && (index as number) >= 0 && (index as number) < count;
        if (!isIndex || !isStatus(status)) {
          const message = `it gave an item that is neither a position below ${count} nor has one in \`index\`, and a status in \`status\``;
          throw new PluginError(message);
        }
        // Of several statuses of an event, one that may pass counts: what is sent again is not lost.
        const known = each[index as number] as number;
        if (known < 300 || isRetried(status, of.statuses)) each[index as number] = status;
      }
    });
    return { failedEvents: failedItems(each, of), retryAfter: answer.retryAfter };
  };
}

/**
 * What is read of an answer with success.
 *
 * @throws PluginError if it does not have the expected form: some events may have been refused, and must not be lost. JSON
 * that ends too early may be whole the next time. Any other form is fatal, because the server may answer each batch like that.
 */
function expectedOf<T>({ status, text, isCut }: Answer, of: AnsweredCall, setting: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    const isIncomplete = !isCut && /^\s*[[{]/.test(text) && jsonOf(text) === undefined;
    const reason = isCut
      ? `it is longer than ${MOST_OF_ITEM_ANSWER / 1024 ** 2} MiB; lower \`batch.events\``
      : isIncomplete
        ? 'its JSON is incomplete'
        : safeReason(error);
    const message = `${of.server} answered ${status} to ${counted(of.documents.count, 'event')} with an answer in which ${setting} does not find what became of them, so it is not known which of them it took: ${reason}`;
    // Halves of a batch have shorter answers.
    const isShorterInHalves = isCut && of.documents.count > 1;
    throw Object.assign(new PluginError(message), { fatal: !isIncomplete && !isShorterInHalves });
  }
}

const listOf = ({ text }: Answer) => jsonOf(text);

const itemsOf = ({ text }: Answer) => bulkItems(text)?.map(statusOf);

/**
 * The events that a 207 refuses: its body is a JSON array with a status for each event.
 *
 * @throws PluginError for any other body: some events may have been refused, and must not be lost. An array that was cut
 * may be whole the next time. A body of another form is fatal, because the server may answer each batch like that.
 */
function refusedBy207({ status, text, retryAfter }: Answer, of: AnsweredCall): PartialFailure {
  if (status !== 207) return { failedEvents: [] };
  const { count } = of.documents;
  const each = jsonOf(text);
  if (each === undefined && /^\s*\[/.test(text)) {
    const message = `${of.server} answered 207 with an array that is too long or not valid JSON, so it is not known which of ${counted(count, 'event')} it took`;
    throw new PluginError(message);
  }
  if (!Array.isArray(each) || each.length !== count || !each.every(isStatus)) {
    const message = `${of.server} answered 207 to ${counted(count, 'event')} with a body other than a JSON array with a status for each, so it is not known which of them it took; let it answer with such an array, or with 200 if it took all of them, or set \`answers\``;
    throw Object.assign(new PluginError(message), { fatal: true });
  }
  return { failedEvents: failedItems(each, of), retryAfter };
}
