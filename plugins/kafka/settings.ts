import * as z from 'zod';
import { type ConfigProblem, isLoopback, secret } from '../../src/sdk/index.ts';
import { clientTls } from '../tls/client-tls.ts';

const BROKER = /^(?:\[[0-9a-fA-F:]+\]|[^\s:/@[\]]+)(?::\d{1,5})?$/;
const broker = () =>
  z.string().refine((text) => BROKER.test(text), {
    message: 'a broker such as kafka1:9092; a user and a password belong under `sasl`',
    params: { secret: true },
  });

const list = <T extends z.ZodType<string>>(item: T) =>
  z.union([z.array(item).min(1), item.transform((one) => [one])]);

/** What Kafka takes as the name of a topic. */
export const isTopic = (name: unknown): name is string =>
  typeof name === 'string' && /^(?!\.{1,2}$)[\w.-]{1,249}$/.test(name);

export const topicName = () =>
  z.string().refine(isTopic, {
    message: 'the name of a topic: letters, digits, dots, `_` and `-`, up to 249 characters',
  });
export const topicNames = () => list(topicName());

/** A name without spaces, which the client requires. */
export const plainName = () =>
  z.string().refine((name) => /^\S+$/.test(name), { message: 'a name without spaces' });

const sasl = z.strictObject({
  mechanism: z.enum(['plain', 'scram-sha-256', 'scram-sha-512']).describe('How the password is proved.'),
  username: z.string().min(1).describe('The user name.'),
  password: secret().describe('The password.'),
});

const tls = clientTls('a broker');

/** The fields of both plugins that say where the brokers are and how to log in. */
export const connectionFields = {
  brokers: list(broker()).describe('The brokers of a cluster, of which one is enough to find the others.'),
  sasl: sasl.optional().describe('How to log in: `mechanism`, `username`, `password`.'),
  tls: z
    .union([z.literal(true).transform(() => tls.parse({})), tls])
    .optional()
    .describe('How to connect with TLS: `true`, or `ca`, `cert`, `key`, `verify`.'),
};

const connection = z.object(connectionFields);
export type ConnectionSettings = Readonly<z.output<typeof connection>>;

const hostOf = (broker: string) => broker.replace(/:\d+$/, '').replace(/^\[|\]$/g, '');

/** Warns of connections that endanger events or the password. */
export function insecureConnection({ brokers, sasl, tls }: ConnectionSettings): readonly ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  if (tls?.verify === false) {
    const message = 'the brokers are not verified, so anyone on the way can read and change the events';
    problems.push({ path: ['tls', 'verify'], severity: 'warning', message });
  }
  const isLocal = brokers.every((broker) => isLoopback(hostOf(broker)));
  if (sasl?.mechanism === 'plain' && tls === undefined && !isLocal) {
    const message = 'the password is sent without encryption; set `tls`, or choose `scram-sha-512`';
    problems.push({ path: ['sasl', 'mechanism'], severity: 'warning', message });
  }
  return problems;
}
