import * as z from 'zod';
import { bytes, CollectConfigBase, integer, parseListenAddress, seconds } from '../../src/sdk/index.ts';
import { listenerTls } from '../listen/tls.ts';
import { timeZone } from '../parse/time-zone.ts';

const KIB = 1024;

const SCHEMES = ['udp', 'tcp', 'tls', 'relp'] as const;
type Scheme = (typeof SCHEMES)[number];

const listen = () =>
  z.string().transform((text, ctx) => {
    const [, scheme, rest = ''] = /^([a-z]+):\/\/(.+)$/.exec(text) ?? [];
    const address = parseListenAddress(rest);
    if (address !== undefined && SCHEMES.includes(scheme as Scheme)) {
      return { scheme: scheme as Scheme, ...address };
    }
    const message =
      'udp://, tcp://, tls:// or relp:// with an address and a port, as in tcp://127.0.0.1:1514';
    ctx.issues.push({ code: 'custom', input: text, message });
    return z.NEVER;
  });

/** The fields of the collector `syslog`. */
export const collectorSchema = CollectConfigBase.extend({
  listen: listen().describe(
    'The protocol, the address and the port to listen on: `udp://`, `tcp://`, `tls://` or `relp://`.',
  ),
  tls: listenerTls()
    .optional()
    .describe('TLS: the certificate and key of this server, and the authorities of clients.'),
  time_zone: z
    .string()
    .refine((name) => timeZone(name) !== undefined, {
      message: 'a time zone, such as Europe/Berlin, +02:00, or local for that of this machine',
    })
    .optional()
    .describe('The zone of times that name none, as in RFC 3164. Default: UTC.'),
  max_message_bytes: bytes()
    .min(KIB)
    .max(8 * KIB * KIB)
    .default(128 * KIB)
    .describe('A longer message is refused: it goes to the dead letter, without its content.'),
  max_connections: integer()
    .min(1)
    .default(1000)
    .describe(
      'Connections that are open at a time. A new one takes the place of one over which nothing came, or of the quietest one.',
    ),
  idle_timeout: seconds()
    .gt(0)
    .optional()
    .describe(
      'Seconds without a byte after which a connection is closed. A sender over plain TCP may lose a message then. Default: never.',
    ),
  receive_buffer_bytes: bytes()
    .min(KIB)
    .optional()
    .describe('For `udp://`: the receive buffer of the socket. Default: that of the system.'),
}).check((ctx) => {
  const { listen, tls, idle_timeout, receive_buffer_bytes } = ctx.value;
  const refuse = (path: string, message: string) =>
    ctx.issues.push({ code: 'custom', input: ctx.value, path: [path], message });
  // A wrong `listen` is reported by itself.
  const scheme = listen?.scheme;
  if (scheme === 'tls' && tls === undefined)
    refuse('tls', 'missing; `tls://` requires `tls.cert` and `tls.key`');
  if ((scheme === 'tcp' || scheme === 'udp') && tls !== undefined) {
    refuse('tls', `only \`tls://\` and \`relp://\` have this field; found \`${scheme}://\``);
  }
  if (scheme === 'udp' && idle_timeout !== undefined) refuse('idle_timeout', '`udp://` has no connections');
  if (scheme !== 'udp' && receive_buffer_bytes !== undefined) {
    refuse('receive_buffer_bytes', 'only `udp://` has this field');
  }
});
export type CollectorConfig = Readonly<z.output<typeof collectorSchema>> & { readonly name?: string };
