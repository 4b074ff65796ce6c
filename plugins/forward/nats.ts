import * as cel from '@marcbachmann/cel-js';
import { catchError, concat, concatMap, defer, EMPTY, merge, type Observable, tap, throwError } from 'rxjs';
import * as z from 'zod';
import {
  batching,
  type CollectedEvent,
  type ConfigProblem,
  defineForwarder,
  type FailedEvent,
  ForwardConfigBase,
  type ForwardPlugin,
  integer,
  isPermanent,
  oncePerContext,
  type PartlyFailedCall,
  type PipelineRunContext,
  PluginError,
  safeReason,
  serialise,
  toJsonLine,
} from '../../src/sdk/index.ts';
import { CelExpression } from '../expressions/cel.ts';
import { expression } from '../expressions/schema.ts';
import { connectNats } from '../nats/connect.ts';
import type { NatsLink, OpenLink, OutgoingMessage, StreamSettings } from '../nats/link.ts';
import {
  type ConnectionSettings,
  connectionFields,
  isSubject,
  jetStreamName,
  subjectPattern,
} from '../nats/settings.ts';
import { SharedLink } from '../nats/shared-link.ts';

const LF = 0x0a;

const seconds = () => z.number().gt(0);

const streamFields = z.strictObject({
  subjects: z
    .array(subjectPattern())
    .min(1)
    .optional()
    .describe('Subjects that the stream takes. Default: `subject`, which then has to be a literal one.'),
  replicas: integer().min(1).max(5).default(1).describe('Servers that store each message: 1, 3 or 5.'),
  storage: z.enum(['file', 'memory']).default('file').describe('Where the stream is stored.'),
  retention: z
    .enum(['limits', 'workqueue', 'interest'])
    .default('limits')
    .describe('`workqueue` removes a message when a worker has acknowledged it.'),
  discard: z
    .enum(['old', 'new'])
    .default('new')
    .describe(
      'A full stream refuses new messages, so that events wait (`new`), or removes its oldest (`old`).',
    ),
  max_age: seconds().optional().describe('Seconds for which a message is kept. Default: without limit.'),
  max_bytes: integer().min(1).optional().describe('Bytes of the stream at most. Default: without limit.'),
  duplicate_window: seconds()
    .default(120)
    .describe(
      'Seconds for which the stream knows a message again. An outage that is longer can cause duplicates.',
    ),
});

const literal = z
  .string()
  .refine(isSubject, { message: 'a subject such as `logs.app`, without spaces and wildcards' });
const computed = z.strictObject({
  cel: expression(cel, { expected: 'an expression that gives a string', types: ['string', 'dyn'] }).describe(
    'The expression.',
  ),
});

const schema = ForwardConfigBase.extend({
  ...connectionFields,
  subject: z
    .union([literal, computed])
    .describe(
      'The subject of the messages, or `{ cel: … }`: an expression that gives the subject of each event.',
    ),
  stream: jetStreamName()
    .optional()
    .describe('The stream that has to store the messages. Default: whichever takes the subject.'),
  create: z
    .union([z.boolean(), streamFields])
    .default(false)
    .describe('Whether to create the stream if it is missing, with `true` or with its settings.'),
  message: z
    .enum(['batch', 'event'])
    .default('batch')
    .describe('What a message holds: a batch of events, one a line, or a single event.'),
  ...batching({ events: 256 }),
});
type Config = Readonly<z.output<typeof schema>>;
type Context = PipelineRunContext<Config>;

/** The plugin, with another client for tests. */
export function natsForwarder(open: OpenLink<ConnectionSettings>): ForwardPlugin {
  const publisherOf = oncePerContext((ctx: Context) => new Publisher(ctx, open));
  return defineForwarder({
    description:
      'Publishes events to a stream of NATS JetStream, in batches, and waits until they are stored.',
    example: `
fleet:
  plugin: nats
  servers: nats://127.0.0.1:4222
  subject: logs.app
  stream: LOGS
  create: true
`,
    schema,
    shownSettings: { subject: '', stream: '' },
    checkConfig,
    deduplicates: true,
    forward: ({ ctx, event, id, restOf }) => publisherOf(ctx).publish([event], id, restOf),
    forwardBatch: ({ ctx, events, id, restOf }) => publisherOf(ctx).publish(events, id, restOf),
    forwardJsonLines({ ctx }) {
      const publisher = publisherOf(ctx);
      return publisher.takesLines ? (lines, id) => publisher.publishLines(lines, id) : undefined;
    },
  });
}

export default natsForwarder(connectNats);

function checkConfig({ config: { create, stream, subject } }: { config: Config }): readonly ConfigProblem[] {
  if (create === false) return [];
  const problems: ConfigProblem[] = [];
  if (stream === undefined) {
    problems.push({ path: ['create'], message: 'requires `stream`, the name of the stream to create' });
  }
  if (typeof subject !== 'string' && (create === true || create.subjects === undefined)) {
    const message = 'requires `create.subjects` where `subject` is an expression, such as `["logs.>"]`';
    problems.push({ path: ['create'], message });
  }
  return problems;
}

interface Message extends OutgoingMessage {
  /** The positions of its events in the call. */
  readonly indexes: readonly number[];
}

class Publisher {
  /** Whether all events of a call go into one message, if that is not too large. */
  readonly takesLines: boolean;
  readonly #ctx: Context;
  readonly #link: SharedLink;
  readonly #subjectOf: (event: CollectedEvent) => string;

  constructor(ctx: Context, open: OpenLink<ConnectionSettings>) {
    this.#ctx = ctx;
    const { subject, stream, message } = ctx.config;
    this.takesLines = typeof subject === 'string' && message === 'batch';
    this.#subjectOf = typeof subject === 'string' ? () => subject : computedSubject(subject.cel);
    const create = streamSettings(ctx.config);
    this.#link = new SharedLink(ctx, open, (link) =>
      stream === undefined ? EMPTY : link.stream(stream, create),
    );
  }

  publish(events: readonly CollectedEvent[], id: string, restOf?: PartlyFailedCall): Observable<never> {
    return this.#withLink((link) => {
      const { messages, refused } =
        restOf === undefined
          ? this.#messagesOf(events, id, link.maxPayload)
          : leftOf(this.#messagesOf(restOf.events, restOf.id, link.maxPayload), restOf);
      return this.#send(link, messages, refused, events.length);
    });
  }

  publishLines(lines: Buffer, id: string): Observable<never> {
    return this.#withLink((link) => {
      const subject = this.#ctx.config.subject as string;
      if (lines.length <= link.maxPayload) {
        return this.#store(link, { subject, payload: lines, id });
      }
      const { messages, refused } = splitLines(lines, subject, id, link.maxPayload);
      // Without naming events: the parts are published again with the same ids, and stored once.
      const sent$ = merge(...messages.map((message) => this.#store(link, message)));
      return concat(sent$, failure(refused));
    });
  }

  #store(link: NatsLink, message: OutgoingMessage): Observable<never> {
    const { config, stats } = this.#ctx;
    return link
      .publish(message, config.stream)
      .pipe(tap({ complete: () => stats.bytes(message.payload.length) }));
  }

  #withLink(use: (link: NatsLink) => Observable<never>): Observable<never> {
    return this.#link.link$.pipe(concatMap(use));
  }

  /**
   * Messages of one subject each, in the order of their first events. Their ids name the events in them: the server takes
   * a message with an id that it knows for stored, so it must never be one of other events.
   */
  #messagesOf(events: readonly CollectedEvent[], id: string, mostBytes: number): Messages {
    const isEach = this.#ctx.config.message === 'event';
    const open = new Map<string, OpenMessage>();
    const done: OpenMessage[] = [];
    const refused: FailedEvent[] = [];
    events.forEach((event, index) => {
      let subject: string;
      try {
        subject = this.#subjectOf(event);
      } catch (error) {
        refused.push({ index, reason: safeReason(error), permanent: true });
        return;
      }
      const document = isEach ? serialise(event) : toJsonLine(event);
      const bytes = Buffer.byteLength(document);
      if (bytes > mostBytes) {
        refused.push(tooLarge(index, bytes, mostBytes));
        return;
      }
      let message = open.get(subject);
      if (message === undefined || isEach || message.bytes + bytes > mostBytes) {
        message = { subject, bytes: 0, documents: [], indexes: [] };
        open.set(subject, message);
        done.push(message);
      }
      message.bytes += bytes;
      message.documents.push(document);
      message.indexes.push(index);
    });
    const messages = done.map(({ subject, documents, indexes }) => ({
      subject,
      id: `${id}.${indexes[0]}-${indexes.at(-1)}-${indexes.length}`,
      payload: Buffer.from(documents.join('')),
      indexes,
    }));
    return { messages, refused };
  }

  /** Publishes all at once, and names the events of those that failed unless all did. */
  #send(
    link: NatsLink,
    messages: readonly Message[],
    refused: readonly FailedEvent[],
    events: number,
  ): Observable<never> {
    const failed: FailedEvent[] = [...refused];
    let first: unknown;
    const sent$ = messages.map((message) =>
      this.#store(link, message).pipe(
        catchError((error) => {
          first ??= error;
          const permanent = isPermanent(error);
          failed.push(...message.indexes.map((index) => ({ index, reason: safeReason(error), permanent })));
          return EMPTY;
        }),
      ),
    );
    const failure$ = defer(() => {
      const isWhole = first !== undefined && refused.length === 0 && failed.length === events;
      return isWhole && messages.length === 1 ? throwError(() => first) : failure(failed);
    });
    return concat(merge(...sent$), failure$);
  }
}

interface Messages {
  readonly messages: readonly Message[];
  readonly refused: readonly FailedEvent[];
}

/** The same messages as in the call that failed in part, without those that are stored. */
function leftOf({ messages, refused }: Messages, { left }: PartlyFailedCall): Messages {
  const positions = new Map(left.map((index, position) => [index, position]));
  return {
    messages: messages
      .map((message) => ({
        ...message,
        indexes: message.indexes.flatMap((index) => positions.get(index) ?? []),
      }))
      .filter(({ indexes }) => indexes.length > 0),
    refused: refused.flatMap((failed) => {
      const index = positions.get(failed.index);
      return index === undefined ? [] : [{ ...failed, index }];
    }),
  };
}

interface OpenMessage {
  readonly subject: string;
  bytes: number;
  readonly documents: string[];
  readonly indexes: number[];
}

function streamSettings({ create, subject }: Config): StreamSettings | undefined {
  if (create === false) return undefined;
  const settings = create === true ? streamFields.parse({}) : create;
  // Without subjects, it is a literal one: see checkConfig.
  return { ...settings, subjects: settings.subjects ?? [subject as string] };
}

function computedSubject(source: string): (event: CollectedEvent) => string {
  const compiled = new CelExpression(source, cel);
  return (event) => {
    const subject = compiled.of(event);
    if (typeof subject === 'string' && isSubject(subject)) return subject;
    const reason =
      'the expression of `subject` gave what is no subject: a part is empty, or has a space, `*` or `>`';
    throw new PluginError(reason, { permanent: true });
  };
}

/** Messages of as many lines as fit, and the lines that fit into none. */
function splitLines(lines: Buffer, subject: string, id: string, mostBytes: number) {
  const messages: OutgoingMessage[] = [];
  const refused: FailedEvent[] = [];
  let start = 0;
  const cut = (end: number) => {
    if (end > start)
      messages.push({ subject, payload: lines.subarray(start, end), id: `${id}.${start}-${end}` });
  };
  for (let at = 0, index = 0; at < lines.length; index++) {
    const next = lines.indexOf(LF, at) + 1;
    if (next - at > mostBytes) {
      cut(at);
      refused.push(tooLarge(index, next - at, mostBytes));
      start = next;
    } else if (next - start > mostBytes) {
      cut(at);
      start = at;
    }
    at = next;
  }
  cut(lines.length);
  return { messages, refused };
}

function tooLarge(index: number, bytes: number, most: number): FailedEvent {
  const reason = `the event has ${bytes} bytes, and the server takes messages of ${most} at most (max_payload)`;
  return { index, reason, permanent: true };
}

function failure(failed: readonly FailedEvent[]): Observable<never> {
  const [first] = failed;
  if (first === undefined) return EMPTY;
  const text = first.reason ?? 'a message was not stored';
  const permanent = failed.every((event) => event.permanent === true);
  return throwError(() => new PluginError(text, { failedEvents: failed, permanent }));
}
