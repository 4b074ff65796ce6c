import * as z from 'zod';
import { bytes, integer, listenAddress, seconds } from '../../src/sdk/index.ts';
import { listenerAuth } from '../listen/auth.ts';
import { listenerTls } from '../listen/tls.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

/** The fields that collectors have which listen for HTTP. */
export const httpListenerFields = (port: number) => ({
  listen: listenAddress()
    .prefault(port)
    .describe(
      'Where to listen: `PORT`, `HOST:PORT` or `[IPV6]:PORT`. Without a host, only this machine can connect.',
    ),
  auth: listenerAuth().optional().describe('What clients have to send. Default: nothing.'),
  tls: listenerTls().optional().describe('Listens for HTTPS, and can require certificates of clients.'),
  max_body_bytes: bytes()
    .min(KIB)
    .max(256 * MIB)
    .default(10 * MIB)
    .describe('A larger body is refused with 413, before and after decompression.'),
  max_open_bytes: bytes()
    .min(KIB)
    .default(64 * MIB)
    .describe(
      'Bytes of all open requests together: their bodies and what their events take beside them. Beyond that, requests are refused with 429.',
    ),
  max_connections: integer()
    .min(1)
    .max(100_000)
    .default(1000)
    .describe('Connections at a time. A new one takes the place of the oldest one that is idle.'),
  timeout: seconds()
    .gt(0)
    .default(30)
    .describe(
      'Seconds for a request to arrive, and again for its events to be acknowledged, before it is refused with 503.',
    ),
});

const settings = z.object(httpListenerFields(0));
export type HttpListenerSettings = Readonly<z.output<typeof settings>>;
