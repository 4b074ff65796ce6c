import { writeFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { joined, linesOf } from '../../bench/lines-of.ts';
import {
  accessLines,
  logLines,
  secretLines,
  structuredLines,
  THREE_RULES,
} from '../../bench/log-generator.ts';
import { structured } from '../../bench/loops/structured.ts';
import { runToEnd, runUntil, sizeOf } from '../../bench/measure/run-command.ts';
import { findPeers } from '../../bench/peers/find-peers.ts';
import { fluentBit, fluentBitStructured } from '../../bench/peers/fluent-bit.ts';
import { SECRETS } from '../../bench/peers/secrets.ts';
import { contentOf, type Fields, type StructuredPeer } from '../../bench/peers/structured-peer.ts';
import { syslogNgStructured } from '../../bench/peers/syslog-ng.ts';
import { vector, vectorStructured } from '../../bench/peers/vector.ts';
import { masksInTurn, referenceOf, verify } from '../../bench/reference.ts';
import { redactor } from '../../operators/index.ts';
import { resolvePackRules } from '../../plugins/packs/load-packs.ts';
import { tempFolder } from '../support/temp-folder.ts';

const temp = tempFolder();
const LINES = 200;

const inStrings = (mask: (text: string) => string) => (_: string, value: unknown) =>
  typeof value === 'string' ? mask(value) : value;
const maskRules = masksInTurn(THREE_RULES);
const maskSecrets = (text: string) =>
  SECRETS.reduce(
    (masked, { expression, to }) => masked.replace(new RegExp(expression, 'g'), to.replace('${1}', '$1')),
    text,
  );

/** The structured jobs by hand: the fields of the events that each line becomes, and the peers that do them. */
const JOBS: readonly {
  readonly name: string;
  readonly lines: () => Iterable<string>;
  readonly fieldsOf: (line: string) => Fields | undefined;
  readonly peers: readonly StructuredPeer[];
}[] = [
  {
    name: 'structured',
    lines: () => structuredLines(LINES),
    fieldsOf: (line) => {
      const event = structured(`${line}\n`, '');
      return event === '' ? undefined : JSON.parse(event).data;
    },
    peers: [fluentBitStructured.json, vectorStructured.json, syslogNgStructured],
  },
  {
    name: 'access',
    lines: () => accessLines(LINES),
    fieldsOf: (line) => {
      const [, ip, user, method, path, protocol, status, bytes, referer, agent] =
        /^(\S+) - (\S+) \[.*?\] "(\S+) (\S+) (\S+)" (\d+) (\d+) "(.*?)" "(.*?)"$/.exec(line) ?? [];
      if (status === '304') return undefined;
      const fields = { remote_addr: ip, user, method, path, protocol, referer, user_agent: agent };
      const masked = JSON.parse(JSON.stringify(fields), inStrings(maskRules));
      return { ...masked, status: Number(status), bytes: Number(bytes) };
    },
    peers: [fluentBitStructured.access, vectorStructured.access],
  },
  {
    name: 'packs',
    lines: () => secretLines(LINES),
    fieldsOf: (line) => JSON.parse(line, inStrings(maskSecrets)),
    peers: [fluentBitStructured.packs, vectorStructured.packs],
  },
];

function writeLines(name: string, lines: Iterable<string>): string {
  writeFileSync(temp(name), [...joined(lines)].join(''));
  return temp(name);
}

const eventsOf = (fields: Iterable<Fields>) =>
  writeLines(
    'expected.jsonl',
    [...fields].map((data) => JSON.stringify({ data })),
  );

/** Waits for so many lines. */
async function run(
  peer: StructuredPeer | typeof fluentBit,
  command: ReturnType<StructuredPeer['command']>,
  lines: number,
) {
  const output = temp('out.jsonl');
  const written = () => (sizeOf(output) === 0 ? 0 : [...linesOf(output)].length);
  await (peer.isDaemon ? runUntil(command, written, (count) => count >= lines) : runToEnd(command));
  return output;
}

describe('the content of an output', () => {
  const content = (...events: object[]) => contentOf(eventsOf(events as Fields[]), {});

  it('is that of the fields, without their order, the source and the time', () => {
    const one = { source: '/a', time: '1', user: { name: 'ada', id: 7 } };
    expect(content(one)).toEqual(content({ user: { id: 7, name: 'ada' }, source: '/b', time: '2' }));
    expect(content(one).events).toBe(1);
  });

  it.each([
    ['a value', [{ a: 'x' }], [{ a: 'y' }]],
    ['a type', [{ a: 1 }], [{ a: '1' }]],
    ['a field more', [{ a: 1 }], [{ a: 1, b: 2 }]],
    ['the order of events', [{ a: 1 }, { a: 2 }], [{ a: 2 }, { a: 1 }]],
    ['the order of a list', [{ a: [1, 2] }], [{ a: [2, 1] }]],
  ])('differs by %s', (_, one, other) => {
    expect(content(...one).digest).not.toBe(content(...other).digest);
  });

  it('has the names that millrace gives fields', () => {
    const output = eventsOf([{ host: 'h' }]);
    const renamed = contentOf(output, { fieldsOf: ({ host }) => ({ remote_addr: host }) });
    expect(renamed.digest).toBe(content({ remote_addr: 'h' }).digest);
  });
});

describe('the expressions for secrets', () => {
  it('mask what the default packs of `redact` mask in the log with secrets', () => {
    const mask = redactor({ rules: resolvePackRules() });
    const lines = [...secretLines(LINES)].map((line) => JSON.parse(line, inStrings(maskSecrets)));
    expect([...secretLines(LINES)].map((line) => mask(JSON.parse(line)))).toEqual(lines);
    for (const { to } of SECRETS) {
      const written = to.replace('${1}', '');
      expect(lines.filter((line) => JSON.stringify(line).includes(written))).toHaveLength(LINES / 5);
    }
  });
});

describe('a peer', () => {
  it('that is not installed is named with the reason', async () => {
    const path = process.env.PATH;
    process.env.PATH = temp();
    try {
      const { there, missing } = await findPeers([vector]);
      expect(there).toEqual([]);
      expect(missing).toEqual([{ peer: vector, reason: 'vector is not installed' }]);
    } finally {
      process.env.PATH = path;
    }
  });

  it('that is installed does the main job: Fluent Bit', async () => {
    if ('missing' in (await fluentBit.find())) return;
    const input = writeLines('in.log', logLines(LINES));
    const job = { input, output: temp('out.jsonl'), folder: temp(), rules: THREE_RULES };
    verify(fluentBit, await run(fluentBit, fluentBit.command(job), LINES), referenceOf(input, maskRules));
  });

  it.each(JOBS.flatMap(({ peers, ...job }) => peers.map((peer) => ({ ...job, peer, who: peer.name }))))(
    'that is installed does the job $name: $who',
    async ({ peer, lines, fieldsOf }) => {
      if ('missing' in (await peer.find())) return;
      const events = [...lines()].map(fieldsOf).filter((fields) => fields !== undefined);
      const input = writeLines('in.log', lines());
      const output = await run(peer, peer.command(input, temp('out.jsonl'), temp()), events.length);
      expect(contentOf(output, peer)).toEqual(contentOf(eventsOf(events), {}));
    },
  );
});
