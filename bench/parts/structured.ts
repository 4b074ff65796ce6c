import { join } from 'node:path';
import { accessJob, jsonJob, packsJob } from '../jobs.ts';
import { accessFile, secretsFile, structuredFile } from '../log-file.ts';
import { rounds } from '../measure/rounds.ts';
import { type Run, sizeOf } from '../measure/run-command.ts';
import { median, ratio } from '../measure/statistics.ts';
import { fluentBitStructured } from '../peers/fluent-bit.ts';
import { runWithOutput } from '../peers/run-peer.ts';
import { type Content, contentOf, millracePeer, type StructuredPeer } from '../peers/structured-peer.ts';
import { syslogNgStructured } from '../peers/syslog-ng.ts';
import { vectorStructured } from '../peers/vector.ts';
import { program, withFolder } from '../places.ts';
import { count, microseconds, perSecond, seconds, times } from './figures.ts';
import { atLeast, type Part, type PartContext, type PartResult } from './part.ts';

const LEAST = 0.9;

const BY_HAND: StructuredPeer = {
  name: 'Node, by hand',
  isDaemon: false,
  find: () => ({ version: process.versions.node }),
  command: (input, output) => ({
    command: process.execPath,
    args: [program('loop'), 'structured', input, output],
  }),
};

/** NDJSON to NDJSON: parse, filter, mask three rules in all strings. */
export const structured: Part = {
  name: 'structured',
  title: 'the structured job: NDJSON, parsed, filtered, and masked in all strings',
  async run(context) {
    const ours = millracePeer(jsonJob);
    const others = [BY_HAND, syslogNgStructured, vectorStructured.json, fluentBitStructured.json];
    const { result, runs } = await compare(context, structuredFile, ours, others);
    const speeds = (peer: StructuredPeer) => runs(peer).map(({ wallMs }) => 1 / wallMs);
    const cpu = (peer: StructuredPeer) => runs(peer).map(({ cpuMs }) => cpuMs);
    return {
      ...result,
      targets: [
        atLeast('speed, against the loop by hand', ratio(speeds(ours), speeds(BY_HAND)), LEAST, times),
        atLeast('the same by processor time', ratio(cpu(BY_HAND), cpu(ours)), LEAST, times),
      ],
      notes: [
        ...result.notes,
        'The loop does the same with JSON.parse, String.replace for each rule and string, and JSON.stringify, in blocks of 256 KiB.',
      ],
    };
  },
};

/** An access log to NDJSON: parse, filter, mask three rules in all strings. */
export const access: Part = {
  name: 'access',
  title: 'an access log in the combined format, parsed, filtered, and masked in all strings',
  async run(context) {
    const others = [vectorStructured.access, fluentBitStructured.access];
    return (await compare(context, accessFile, millracePeer(accessJob), others)).result;
  },
};

/** NDJSON to NDJSON: `redact` with its default packs; the others have an expression for each kind of secret in the log. */
export const packs: Part = {
  name: 'packs',
  title: 'NDJSON, parsed, and masked by the default packs of `redact`, beside four expressions of others',
  async run(context) {
    const others = [vectorStructured.packs, fluentBitStructured.packs];
    const { result } = await compare(context, secretsFile, millracePeer(packsJob), others);
    const note =
      'Only millrace looks for every kind of secret in its packs. The others have four expressions, for the four kinds in this log.';
    return { ...result, notes: [...result.notes, note] };
  },
};

interface Compared {
  readonly result: PartResult;
  readonly runs: (peer: StructuredPeer) => readonly Run[];
}

/** @throws Error if a peer writes other events than `ours` */
async function compare(
  { quick, progress }: PartContext,
  inputOf: (lines: number) => string,
  ours: StructuredPeer,
  others: readonly StructuredPeer[],
): Promise<Compared> {
  // With fewer lines, the 0.3 s in which millrace starts would count more than the work.
  const lines = quick ? 300_000 : 1_000_000;
  const input = inputOf(lines);
  const peers: StructuredPeer[] = [];
  const versions: string[] = [];
  const missing: string[] = [];
  for (const peer of [ours, ...others]) {
    const found = await peer.find();
    if ('missing' in found) missing.push(`Not measured: ${peer.name}, because ${found.missing}.`);
    else {
      peers.push(peer);
      versions.push(`${peer.name} ${found.version}${peer.note === undefined ? '' : `, which ${peer.note}`}`);
    }
  }
  const { content } = await runOnce(ours, input);
  const sizes = new Map<StructuredPeer, number>();
  for (const peer of peers) {
    progress(`${peer.name}, once ahead`);
    sizes.set(peer, (await runOnce(peer, input, { content })).size);
  }
  const measured = await rounds(peers, quick ? 2 : 5, async (peer, round) => {
    progress(`${peer.name}, round ${round + 1}`);
    return (await runOnce(peer, input, { content, size: sizes.get(peer) })).run;
  });
  const runs = (peer: StructuredPeer) => measured.get(peer) ?? [];
  const speeds = (peer: StructuredPeer) => runs(peer).map(({ wallMs }) => perSecond(lines, wallMs));
  const cpu = (peer: StructuredPeer) => runs(peer).map(({ cpuMs }) => cpuMs);
  const first = others.find((peer) => peers.includes(peer)) ?? ours;
  const table = {
    cells: 'figures' as const,
    columns: ['', 'lines a second', 'processor time', 'for each line', `× ${first.name}`],
    rows: peers.map((peer) => [
      peer.name,
      count(median(speeds(peer))),
      seconds(median(cpu(peer))),
      microseconds((median(cpu(peer)) / lines) * 1000),
      times(ratio(speeds(peer), speeds(first))),
    ]),
  };
  const notes = [
    `${count(lines)} lines of ${count(sizeOf(input) / lines)} bytes, ${versions.join('; ')}. The events of all of them are compared, ` +
      'without timestamps and the order of keys.',
    ...missing,
  ];
  return { result: { tables: [table], targets: [], notes }, runs };
}

interface Expected {
  readonly content: Content;
  /** Of a daemon's complete output in bytes, as a run before has found it. Without, its lines are counted, which takes time from it. */
  readonly size?: number | undefined;
}

/** @throws Error if the events are not the expected ones */
function runOnce(peer: StructuredPeer, input: string, expected?: Expected) {
  return withFolder(async (folder) => {
    const output = join(folder, 'out.jsonl');
    const command = peer.command(input, output, folder);
    const run = await runWithOutput(command, output, peer, {
      lines: expected?.content.events ?? 0,
      size: expected?.size,
    });
    const content = contentOf(output, peer);
    if (expected !== undefined && content.digest !== expected.content.digest) {
      throw new Error(`${peer.name}: the events differ from those of millrace`);
    }
    return { run, content, size: sizeOf(output) };
  });
}
