import * as cel from '@marcbachmann/cel-js';
import { catchError, concat, concatMap, defer, EMPTY, merge, type Observable, tap, throwError } from 'rxjs';
import * as z from 'zod';
import {
  batching,
  bytes,
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
  seconds,
  serialise,
  toJsonLine,
} from '../../src/sdk/index.ts';
import { CelExpression } from '../expressions/cel.ts';
import { expression } from '../expressions/schema.ts';
import { connectNats } from '../nats/connect.ts';
import {
  MessageTooLarge,
  type NatsLink,
  NoStream,
  type OpenLink,
  type StreamSettings,
} from '../nats/link.ts';
import { EventsDraft, headerBytes, LinesDraft, type MessageDraft } from '../nats/message-draft.ts';
import {
  type ConnectionSettings,
  connectionFields,
  isSubject,
  jetStreamName,
  subjectPattern,
} from '../nats/settings.ts';
import { SharedLink } from '../nats/shared-link.ts';

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
  max_age: seconds()
    .gt(0)
    .optional()
    .describe('Seconds for which a message is kept. Default: without limit.'),
  max_bytes: bytes().min(1).optional().describe('Bytes of the stream at most. Default: without limit.'),
  duplicate_window: seconds()
    .gt(0)
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
    .describe('The content of a message: a batch of events, one per line, or a single event.'),
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
    shownSettings: { servers: '', subject: '', stream: '' },
    checkConfig,
    traits: { deduplicates: true },
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

/** Told of a message that failed. */
type OnFailure = (draft: MessageDraft, error: unknown) => void;

class Publisher {
  /** Whether all events of a call go into one message, if that is not too large. */
  readonly takesLines: boolean;
  readonly #ctx: Context;
  readonly #link: SharedLink;
  readonly #subjectOf: (event: CollectedEvent) => string;
  /** Bytes of a message and its subject for which the whole stream has room. */
  #streamBytes = Number.POSITIVE_INFINITY;
  /** The smallest message that the stream has refused as too large. */
  #refused: { readonly bytes: number; readonly error: MessageTooLarge } | undefined;

  constructor(ctx: Context, open: OpenLink<ConnectionSettings>) {
    this.#ctx = ctx;
    const { subject, stream, message } = ctx.config;
    this.takesLines = typeof subject === 'string' && message === 'batch';
    this.#subjectOf = typeof subject === 'string' ? () => subject : computedSubject(subject.cel);
    const create = streamSettings(ctx.config);
    this.#link = new SharedLink(ctx, open, (link) => {
      this.#refused = undefined;
      if (stream === undefined) return EMPTY;
      return link.stream(stream, create).pipe(tap((bytes) => (this.#streamBytes = bytes)));
    });
  }

  publish(events: readonly CollectedEvent[], id: string, restOf?: PartlyFailedCall): Observable<never> {
    return this.#withLink((link) => {
      const { drafts, refused } =
        restOf === undefined
          ? this.#draftsOf(events, id)
          : leftOf(this.#draftsOf(restOf.events, restOf.id), restOf);
      const failures = new Failures(refused);
      const positions = restOf && positionsOf(restOf);
      const onFailure: OnFailure = ({ indexes }, error) =>
        failures.add(
          indexes.map((index) => positions?.get(index) ?? index),
          error,
        );
      const sent$ = merge(...drafts.map((draft) => this.#store(link, draft, onFailure)));
      return concat(sent$, failures.thrown$(drafts.length === 1 ? events.length : undefined));
    });
  }

  /** If a message fails, all are published again with the same ids, and those that are stored are not stored again. */
  publishLines(lines: Buffer, id: string): Observable<never> {
    return this.#withLink((link) => {
      const failures = new Failures();
      const onFailure: OnFailure = ({ indexes }, error) => {
        if (!isPermanent(error)) throw error;
        failures.add(indexes, error);
      };
      const draft = new LinesDraft(this.#ctx.config.subject as string, id, lines);
      return concat(this.#store(link, draft, onFailure), failures.thrown$());
    });
  }

  #withLink(use: (link: NatsLink) => Observable<never>): Observable<never> {
    return this.#link.link$.pipe(concatMap(use));
  }

  /** Messages of one subject each, in the order of their first events. */
  #draftsOf(events: readonly CollectedEvent[], id: string): Drafts {
    const isEach = this.#ctx.config.message === 'event';
    const groups = new Map<unknown, { subject: string; documents: string[]; indexes: number[] }>();
    const refused: FailedEvent[] = [];
    events.forEach((event, index) => {
      let subject: string;
      try {
        subject = this.#subjectOf(event);
      } catch (error) {
        refused.push({ index, reason: safeReason(error), permanent: true });
        return;
      }
      const key = isEach ? index : subject;
      const group = groups.get(key) ?? { subject, documents: [], indexes: [] };
      groups.set(key, group);
      group.documents.push(isEach ? serialise(event) : toJsonLine(event));
      group.indexes.push(index);
    });
    const drafts = [...groups.values()].map(
      ({ subject, documents, indexes }) => new EventsDraft(subject, id, documents, indexes),
    );
    return { drafts, refused };
  }

  /** Publishes a message, or its halves if it is too large. Completes when all that did not fail is stored. */
  #store(link: NatsLink, draft: MessageDraft, onFailure: OnFailure): Observable<never> {
    const { config, stats } = this.#ctx;
    const { subject, id } = draft;
    const bytes = draft.bytes + headerBytes(id, config.stream);
    const tooLarge = this.#tooLarge(bytes, draft, link);
    if (tooLarge !== undefined) return this.#storeHalves(link, draft, onFailure, tooLarge);
    return link.publish({ subject, id, payload: draft.payload() }, config.stream).pipe(
      tap({
        complete: () => {
          stats.bytes(draft.bytes);
          if (this.#refused !== undefined && bytes >= this.#refused.bytes) this.#refused = undefined;
        },
      }),
      catchError((error) => {
        if (error instanceof MessageTooLarge) {
          if (this.#refused === undefined || bytes < this.#refused.bytes) this.#refused = { bytes, error };
          return this.#storeHalves(link, draft, onFailure, error);
        }
        if (error instanceof NoStream && config.create !== false) this.#link.prepareAgain();
        onFailure(draft, error);
        return EMPTY;
      }),
    );
  }

  #storeHalves(
    link: NatsLink,
    draft: MessageDraft,
    onFailure: OnFailure,
    tooLarge: PluginError,
  ): Observable<never> {
    const halves = draft.halves();
    if (halves.length === 0) onFailure(draft, tooLarge);
    return merge(...halves.map((half) => this.#store(link, half, onFailure)));
  }

  /** Why a message need not be tried. */
  #tooLarge(bytes: number, draft: MessageDraft, { maxPayload }: NatsLink): MessageTooLarge | undefined {
    const size = `the event takes a message of ${bytes} bytes, headers included`;
    if (bytes > maxPayload) {
      return new MessageTooLarge(`${size}, and the server accepts ${maxPayload} at most (max_payload)`);
    }
    if (bytes + Buffer.byteLength(draft.subject) > this.#streamBytes) {
      return new MessageTooLarge(`${size}, for which the whole stream has no room (max_bytes)`);
    }
    // A single event is tried again: the limit of a stream can be raised while it is used.
    const isKnown = this.#refused !== undefined && bytes >= this.#refused.bytes && draft.indexes.length > 1;
    return isKnown ? this.#refused?.error : undefined;
  }
}

interface Drafts {
  readonly drafts: readonly MessageDraft[];
  /** Events without a subject. */
  readonly refused: readonly FailedEvent[];
}

/** The positions of the events that are left, by those that they had in the call that failed in part. */
function positionsOf({ left }: PartlyFailedCall): ReadonlyMap<number, number> {
  return new Map(left.map((index, position) => [index, position]));
}

/** The messages of the call that failed in part, without those that are stored. */
function leftOf({ drafts, refused }: Drafts, restOf: PartlyFailedCall): Drafts {
  const positions = positionsOf(restOf);
  const left = (draft: MessageDraft): readonly MessageDraft[] => {
    const count = draft.indexes.filter((index) => positions.has(index)).length;
    if (count === draft.indexes.length) return [draft];
    return count === 0 ? [] : draft.halves().flatMap(left);
  };
  return {
    drafts: drafts.flatMap(left),
    refused: refused.flatMap((failed) => {
      const index = positions.get(failed.index);
      return index === undefined ? [] : [{ ...failed, index }];
    }),
  };
}

/** The events of a call that failed. */
class Failures {
  readonly #events: FailedEvent[];
  #first: unknown;

  constructor(refused: readonly FailedEvent[] = []) {
    this.#events = [...refused];
  }

  add(indexes: readonly number[], error: unknown): void {
    this.#first ??= error;
    const reason = safeReason(error);
    const permanent = isPermanent(error);
    for (const index of indexes) this.#events.push({ index, reason, permanent });
  }

  /** Errors if an event failed, and names those that did, unless all `events` of the call failed and may succeed later. */
  thrown$(events?: number): Observable<never> {
    return defer(() => {
      const [first] = this.#events;
      if (first === undefined) return EMPTY;
      const isWhole = this.#events.length === events && this.#events.every(({ permanent }) => !permanent);
      if (isWhole) return throwError(() => this.#first);
      const permanent = this.#events.every((event) => event.permanent === true);
      const reason = first.reason ?? 'a message was not stored';
      return throwError(() => new PluginError(reason, { failedEvents: this.#events, permanent }));
    });
  }
}

function streamSettings({ create, subject }: Config): StreamSettings | undefined {
  if (create === false) return undefined;
  const settings = create === true ? streamFields.parse({}) : create;
  // Without subjects, it is a literal one: see checkConfig.
  return { ...settings, subjects: settings.subjects ?? [subject as string] };
}

/** An event must not call the API of the server, which can delete streams. */
const RESERVED_SUBJECT = /^(?:\$(?:JS|SYS|NRG|MQTT)|_INBOX)\./;

function computedSubject(source: string): (event: CollectedEvent) => string {
  const compiled = new CelExpression(source, cel);
  return (event) => {
    const subject = compiled.of(event);
    const isValid = typeof subject === 'string' && isSubject(subject);
    if (isValid && !RESERVED_SUBJECT.test(subject)) return subject;
    const reason = isValid
      ? 'the expression of `subject` gave a subject of the API of the server, such as `$JS.API.…` or `_INBOX.…`'
      : 'the expression of `subject` gave what is no subject: a part is empty, or has a space, `*` or `>`';
    throw new PluginError(reason, { permanent: true });
  };
}
