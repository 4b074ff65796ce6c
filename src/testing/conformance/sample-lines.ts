import type { LineEnvelope } from '../../sdk/line-events.ts';
import { CONTENT } from './sample-events.ts';
import type { Subject } from './subject.ts';

const ENVELOPE = {
  timestamp: '2026-01-02T03:04:05.678Z',
  source: '/var/log/access.log',
  backfill: false,
  isTruncated: false,
};

/** Lines of ordinary and of odd texts, and those of the events that a plugin is to be checked with. */
export function sampleLines({ events, secret }: Pick<Subject, 'events' | 'secret'>): string[] {
  const lines = events.flatMap(({ data: { line } }) => (typeof line === 'string' ? [line] : []));
  const secrets =
    secret === undefined ? [] : [secret, `${secret} ${secret}`, `user="${secret}" ä\t${secret}`];
  return [
    ...lines,
    ...secrets,
    'GET /index.html 200',
    '',
    ' ',
    '{"level":"info","text":"a \\"quoted\\" word"}',
    'half of a pair \ud800, a whole one 😀, NUL \0, DEL \u007f, a line end \u2028',
    `${CONTENT} `.repeat(500),
    '"\\',
  ];
}

/** What lines may have in common. */
export function sampleEnvelopes(secret: string | undefined): LineEnvelope[] {
  const secretSource = secret === undefined ? [] : [{ ...ENVELOPE, source: `/var/log/${secret}` }];
  return [
    ENVELOPE,
    { ...ENVELOPE, backfill: true, source: 'app "ä".log' },
    { ...ENVELOPE, isTruncated: true },
    ...secretSource,
  ];
}
