import { defer, EMPTY, finalize, map, merge, Subject, throwError } from 'rxjs';
import { isNoteworthy } from '../../operators/internal.ts';
import {
  collectedEvent,
  defineCollector,
  EventBatch,
  isLoopback,
  isoNow,
  type ListenAddress,
  ParsedEvents,
  type ParsedFields,
  type PipelineRunContext,
  PluginError,
} from '../../src/sdk/index.ts';
import { addressText, listensOn, onceError } from '../listen/listening.ts';
import { type CollectorConfig, collectorSchema } from '../syslog/collector-settings.ts';
import { listenForDatagrams } from '../syslog/datagrams.ts';
import { type MessageParser, messageParser } from '../syslog/parse-message.ts';
import { type ListenerReports, listenForStreams, type Received } from '../syslog/stream-listener.ts';

const EXPOSED =
  'other machines can reach this address, and anyone there can send events; use `tls://` or `relp://` with ' +
  '`tls.client_ca`, or let a firewall pass your senders only';

export default defineCollector({
  description: 'Receives syslog messages, RFC 5424 and RFC 3164, over UDP, TCP, TLS and RELP.',
  example: `
fleet:
  plugin: syslog
  listen: relp://127.0.0.1:2514
`,
  schema: collectorSchema,
  shownSettings: { listen: '', max_connections: '' },
  checkConfig: ({ config: { listen, tls } }) =>
    isLoopback(listen.host) || tls?.client_ca !== undefined
      ? []
      : [{ path: ['listen'], severity: 'warning', message: EXPOSED }],
  traits: {
    usesState: false,
    waits: true,
    listens: ({ config: { listen } }: { config: { listen: ListenAddress & { scheme: string } } }) =>
      listensOn(listen, listen.scheme === 'udp' ? 'udp' : 'tcp'),
  },
  testing: {
    eventsOfText: ({ config, text, source = '127.0.0.1' }) => {
      return rowsOf({ messages: [text], source }, messageParser(config.time_zone)).events;
    },
  },
  /**
   * Emits a batch for the messages that came together from one sender. Over TCP, it does not read while there is no room;
   * over RELP, it acknowledges each message when the batch is delivered. Errors if it cannot listen.
   */
  collect({ ctx }) {
    if (ctx.once) return throwError(onceError);
    const parse = messageParser(ctx.config.time_zone);
    const refused$ = new Subject<EventBatch>();
    const reports = reportsOf(ctx, (source) => refused$.next(tooLong(source, ctx.config)));
    const listen = ctx.config.listen.scheme === 'udp' ? listenForDatagrams : listenForStreams;
    const batch$ = listen(ctx, reports).pipe(
      map((received) => new EventBatch(rowsOf(received, parse), received.acknowledge)),
      finalize(() => refused$.complete()),
    );
    return defer(() => (ctx.signal.aborted ? EMPTY : merge(refused$, batch$)));
  },
});

type Context = PipelineRunContext<CollectorConfig>;

/** The events of messages. Nobody else has them, so that masks may change them in place. */
function rowsOf(
  { messages, source }: Pick<Received, 'messages' | 'source'>,
  parse: MessageParser,
): ParsedEvents {
  const received = isoNow();
  const fields: ParsedFields[] = [];
  const timestamps: string[] = [];
  for (const message of messages) {
    const parsed = parse(message, source, received);
    fields.push(parsed.fields);
    timestamps.push(parsed.timestamp ?? received);
  }
  // Masks remember what they know of a source. Senders may be many, and each is a field of its own.
  return new ParsedEvents(fields, { timestamp: received, source: 'syslog', isTruncated: false }, timestamps);
}

function tooLong(source: string, { max_message_bytes }: CollectorConfig): EventBatch {
  const reason = `a message of ${source} is longer than \`max_message_bytes\` (${max_message_bytes}); raise it, or shorten the message`;
  return EventBatch.refused(collectedEvent({ source }), new PluginError(reason, { permanent: true }));
}

/** Counts and logs what is not an event. */
function reportsOf(ctx: Context, onTooLong: (source: string) => void): ListenerReports {
  const { logger, pipeline, config, metrics } = ctx;
  const { scheme } = config.listen;
  const who = `${pipeline}: collector ${config.name}`;
  const open = metrics.gauge({ name: 'syslog_connections', help: 'Connections that are open.' });
  const closed = metrics.counter({
    name: 'syslog_connections_closed_total',
    help: 'Connections that were closed or refused because of what their clients did, or a limit.',
  });
  let count = 0;
  return {
    listening: (address) =>
      logger.info(`${who} listens on ${scheme}://${addressText(address)}`, { port: address.port }),
    certificate: (why) => logger.error(`${who} goes on with its old certificate: ${why}`),
    connections: (number) => open.set(number),
    tooLong: onTooLong,
    closed: (source, why) => {
      closed.inc(1);
      count++;
      // A client that does this once may do it all the time.
      if (isNoteworthy(count))
        logger.warn(`${who} closed a connection of ${source}: ${why} (closed so far: ${count})`);
    },
  };
}
