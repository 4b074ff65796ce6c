import type { Run } from '../measure/run-command.ts';
import { median, ratio, spread } from '../measure/statistics.ts';
import type { FoundPeers } from '../peers/find-peers.ts';
import { millrace, millraceWithWorkers } from '../peers/millrace.ts';
import type { Peer } from '../peers/peer.ts';
import { perl } from '../peers/perl.ts';
import { syslogNg } from '../peers/syslog-ng.ts';
import { count, megabytes, perSecond, range, seconds, times } from './figures.ts';
import { atLeast, type Bar, notMeasured, type PartResult, type Target } from './part.ts';

export interface MainJobRuns extends FoundPeers {
  readonly lines: number;
  /** Of the input. */
  readonly bytes: number;
  readonly runs: ReadonlyMap<Peer, readonly Run[]>;
}

/** What each of millrace's rows is to reach, as multiples of the speed of others. */
const GOALS = [
  { own: millrace, than: perl, least: 0.9 },
  { own: millrace, than: syslogNg, least: 2.2 },
  { own: millraceWithWorkers, than: perl, least: 1.6 },
  { own: millraceWithWorkers, than: syslogNg, least: 4 },
];

/** The main job's runs as a table, a chart and targets. */
export function mainJobResult(measured: MainJobRuns): PartResult {
  const { lines, bytes, missing } = measured;
  const order = inOrderOfSpeed(measured);
  return {
    tables: [speedTable(measured, order), scopeTable(measured, order)],
    targets: GOALS.map((goal) => target(goal, measured)),
    notes: [
      `${count(lines)} lines of ${count(bytes / lines)} bytes, ${measured.runs.get(perl)?.length ?? 0} alternating rounds.`,
      ...missing.map(({ peer, reason }) => `Not measured: ${peer.name}, because ${reason}.`),
    ],
    chart: {
      title: `The main job: lines per second, of ${count(lines)} lines`,
      unit: 'lines/s',
      bars: order.map(({ peer }) => bar(peer, measured)),
    },
  };
}

type Row = FoundPeers['there'][number];

function inOrderOfSpeed(measured: MainJobRuns): Row[] {
  const speed = ({ peer }: Row) => median(speeds(peer, measured));
  return [...measured.there].sort((a, b) => speed(b) - speed(a));
}

function speeds(peer: Peer, { lines, runs }: MainJobRuns): number[] {
  return (runs.get(peer) ?? []).map(({ wallMs }) => perSecond(lines, wallMs));
}

function speedTable(measured: MainJobRuns, order: readonly Row[]) {
  const cell = (peer: Peer, other: Peer) =>
    measured.runs.has(other) ? times(ratio(speeds(peer, measured), speeds(other, measured))) : 'missing';
  return {
    cells: 'figures' as const,
    columns: ['', 'lines/s (min–max)', '× perl', '× syslog-ng', 'processor time', 'peak memory'],
    rows: order.map(({ peer }) => {
      const runs = measured.runs.get(peer) ?? [];
      return [
        peer.name,
        range(spread(speeds(peer, measured)), count),
        cell(peer, perl),
        cell(peer, syslogNg),
        seconds(median(runs.map(({ cpuMs }) => cpuMs))),
        megabytes(median(runs.map(({ peakBytes }) => peakBytes))),
      ];
    }),
  };
}

function scopeTable({ missing }: MainJobRuns, order: readonly Row[]) {
  return {
    cells: 'text' as const,
    columns: ['', 'version', 'writes', 'leaves out'],
    rows: [
      ...order.map(({ peer, version }) => [peer.name, version, peer.writes, peer.leavesOut]),
      ...missing.map(({ peer }) => [peer.name, 'missing', peer.writes, peer.leavesOut]),
    ],
  };
}

function target({ own, than, least }: (typeof GOALS)[number], measured: MainJobRuns): Target {
  const what = `${own.name}, against ${than.name}`;
  const absent = [own, than].find((peer) => !measured.runs.has(peer));
  if (absent !== undefined) return notMeasured(what, `≥ ${times(least)}`, `${absent.name} is missing`);
  return atLeast(what, ratio(speeds(own, measured), speeds(than, measured)), least, times);
}

function bar(peer: Peer, measured: MainJobRuns): Bar {
  const value = median(speeds(peer, measured));
  const isOwn = peer === millrace || peer === millraceWithWorkers;
  const kind = isOwn ? 'own' : peer.writes === 'text' ? 'text' : 'other';
  return { name: peer.name.replaceAll('`', ''), value, label: count(value), kind };
}
