import * as cel from '@marcbachmann/cel-js';
import * as z from 'zod';
import { batching, ForwardConfigBase, seconds } from '../../src/sdk/index.ts';
import { CelExpression } from '../expressions/cel.ts';
import { fieldPath, getField } from '../expressions/fields.ts';
import { expression, fieldName } from '../expressions/schema.ts';
import { clientTls } from '../tls/client-tls.ts';

const URL_FORM = /^(tcp|tls|relp):\/\/(?:\[([0-9a-fA-F:.]+)\]|([^\s:/?#[\]@]+)):(\d{1,5})\/?$/;
type Scheme = 'tcp' | 'tls' | 'relp';

const url = () =>
  z.string().transform((text, ctx) => {
    const [, scheme, ipv6, name, digits] = URL_FORM.exec(text) ?? [];
    const port = Number(digits);
    if (scheme !== undefined && port > 0 && port <= 65_535) {
      return { text, scheme: scheme as Scheme, host: (ipv6 ?? name) as string, port };
    }
    const message = 'tcp://, tls:// or relp:// with a host and a port, as in relp://logs.example.com:2514';
    ctx.issues.push({ code: 'custom', input: text, message, params: { secret: text.includes('@') } });
    return z.NEVER;
  });

/** A fixed value, the value of a field, or that of an expression. */
const value = (what: string, otherwise: string) =>
  z
    .union([
      z.string().transform((text) => () => text as unknown),
      z.strictObject({ field: fieldName().describe('The field.') }).transform(({ field }) => {
        const path = fieldPath(field);
        return ({ data }: { readonly data: Readonly<Record<string, unknown>> }) => getField(data, path);
      }),
      z
        .strictObject({
          cel: expression(cel, { expected: 'an expression' }).describe('The expression.'),
        })
        .transform(({ cel: source }) => {
          const compiled = new CelExpression(source, cel);
          return (event: Parameters<typeof compiled.of>[0]) => compiled.of(event);
        }),
    ])
    .optional()
    .describe(`${what}: a value, \`{ field: NAME }\` or \`{ cel: … }\`. Default: ${otherwise}.`);

/** The fields of the forwarder `syslog`. */
export const forwarderSchema = ForwardConfigBase.extend({
  url: url().describe('The protocol, the host and the port to send to: `tcp://`, `tls://` or `relp://`.'),
  tls: clientTls()
    .optional()
    .describe('Settings of TLS, for `tls://`; with them, `relp://` uses TLS as well.'),
  framing: z
    .enum(['octet_counting', 'newline'])
    .default('octet_counting')
    .describe('How messages are separated over `tcp://` and `tls://`: RFC 6587.'),
  facility: value('The facility', '`facility` of the event, or `user`'),
  severity: value('The severity', '`severity` or `level` of the event, or `notice`'),
  hostname: value('The host name', '`hostname` of the event, or the id of this host'),
  appname: value('The name of the program', '`appname` of the event'),
  procid: value('The process id', '`procid` of the event'),
  msgid: value('The kind of message', '`msgid` of the event'),
  message: value('The text', '`message` or `line` of the event, or all of `data` as JSON'),
  timeout: seconds()
    .gt(0)
    .default(30)
    .describe('Seconds to connect, and for a batch to be sent and, over `relp://`, acknowledged.'),
  ...batching({ events: 1024 }),
}).check((ctx) => {
  const { url, tls } = ctx.value;
  if (url?.scheme !== 'tcp' || tls === undefined) return;
  const message = 'only `tls://` and `relp://` have this field; found `tcp://`';
  ctx.issues.push({ code: 'custom', input: ctx.value, path: ['tls'], message });
});
export type ForwarderConfig = Readonly<z.output<typeof forwarderSchema>>;
