import { type Observable, throwError } from 'rxjs';
import {
  type CollectedEvent,
  defineForwarder,
  oncePerContext,
  type PipelineRunContext,
  PluginError,
} from '../../src/sdk/index.ts';
import { encodeEach } from '../encode-each.ts';
import { type ForwarderConfig, forwarderSchema } from '../syslog/forwarder-settings.ts';
import { SyslogLink } from '../syslog/link.ts';
import { messageWriter } from '../syslog/write-message.ts';

type Context = PipelineRunContext<ForwarderConfig>;

export default defineForwarder({
  description: 'Sends events as syslog messages of RFC 5424, over TCP, TLS or RELP.',
  example: `
archive:
  plugin: syslog
  url: relp://127.0.0.1:2514
`,
  schema: forwarderSchema,
  shownSettings: { url: '', framing: '', timeout: ' s', concurrency: '' },
  checkConfig: ({ config }) =>
    config.tls?.verify === false
      ? [{ path: ['tls', 'verify'], severity: 'warning', message: UNVERIFIED }]
      : [],
  forward: ({ ctx, event }) => senderOf(ctx)([event]),
  forwardBatch: ({ ctx, events }) => senderOf(ctx)(events),
});

const UNVERIFIED = 'the server is not verified, so anyone on the way can read and change the events';

/** Completes when the events are delivered. Errors name those that are not. */
const senderOf = oncePerContext((ctx: Context) => {
  const link = new SyslogLink(ctx);
  const write = messageWriter(ctx.config, ctx.info.id);
  return (events: readonly CollectedEvent[]): Observable<never> => {
    const { encoded, positions, refused } = encodeEach(events, (event) => write(event));
    if (refused.length === 0) return link.send(encoded);
    // The others are sent in the next call, because an error names all that failed at once.
    const failedEvents = [...refused, ...positions.map((index) => ({ index, permanent: false }))];
    const reason = 'an event cannot be written as a message';
    return throwError(() => new PluginError(reason, { failedEvents, unfinished: true }));
  };
});
