import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { logFile } from '../log-file.ts';
import { type Run, runToEnd, runUntil } from '../measure/run-command.ts';
import { median } from '../measure/statistics.ts';
import { runCommand } from '../peers/millrace.ts';
import { program, withFolder } from '../places.ts';
import { count, megabytes, microseconds, perSecond, seconds } from './figures.ts';
import { atLeast, atMost, type Part } from './part.ts';

const LEAST_PER_SECOND = 150_000;
/** More than this over the memory of a short stall is growth, not noise, in bytes. */
const NOISE = 15e6;

/** From a file to a server on the same machine that reads and answers, and to one that does not answer. */
export const http: Part = {
  name: 'http',
  title: 'http: lines of a file to a local server, as NDJSON without compression',
  async run({ quick, progress }) {
    const lines = quick ? 300_000 : 2_000_000;
    const sent: Sent[] = [];
    for (let round = 0; round < (quick ? 1 : 3); round++) {
      progress(`${count(lines)} lines, round ${round + 1}`);
      sent.push(await send(lines));
    }
    const rate = median(sent.map(({ ms }) => perSecond(lines, ms)));
    const cpu = median(sent.map(({ run }) => run.cpuMs));
    const peak = median(sent.map(({ run }) => run.peakBytes));
    const [short, long] = quick ? [3000, 8000] : [5000, 30_000];
    progress('a server that stalls');
    const stalls = [await stall(lines, short), await stall(lines, long)] as const;
    const growth = stalls[1] - stalls[0];
    return {
      tables: [
        {
          cells: 'figures',
          columns: ['lines', 'lines a second', 'processor time', 'for each line', 'peak memory'],
          rows: [
            [count(lines), count(rate), seconds(cpu), microseconds((cpu / lines) * 1000), megabytes(peak)],
          ],
        },
        {
          cells: 'figures',
          columns: ['server does not answer for', 'peak memory'],
          rows: [
            [seconds(short), megabytes(stalls[0])],
            [seconds(long), megabytes(stalls[1])],
          ],
        },
      ],
      targets: [
        atLeast('http to a local server, lines a second', rate, LEAST_PER_SECOND, count),
        atMost('growth of memory while the server stalls', Math.max(0, growth), NOISE, megabytes),
      ],
      notes: [
        'The server is a separate process. Lines a second are counted by the server, from the first request to the ' +
          'last answer; processor time and memory are those of millrace, start included.',
      ],
    };
  },
};

interface Sent {
  /** From the first request to the last answer. */
  readonly ms: number;
  readonly run: Run;
}

/** @throws Error if not every line has come. */
function send(lines: number): Promise<Sent> {
  return withSink([], async (url, folder) => {
    const run = await runToEnd(runCommand(folder, configuration(url, lines), '--once'));
    const seen = (await (await fetch(url)).json()) as { lines: number; ms: number };
    if (seen.lines !== lines) throw new Error(`the server got ${seen.lines} lines of ${lines}`);
    return { ms: seen.ms, run };
  });
}

/** Peak memory after so many milliseconds in which the server does not answer. */
function stall(lines: number, ms: number): Promise<number> {
  return withSink(['stall'], async (url, folder) => {
    const end = performance.now() + ms;
    const command = runCommand(folder, configuration(url, lines), '--drain-timeout', '0.1');
    const now = () => performance.now();
    return (await runUntil(command, now, (at) => at > end)).peakBytes;
  });
}

const configuration = (url: string, lines: number) => ({
  collectors: { log: { plugin: 'file', paths: [logFile(lines)], backfill: true } },
  forwarders: { server: { plugin: 'http', url } },
  pipelines: { main: { collect: 'log', forward: 'server' } },
  host_config: {},
});

function withSink<T>(args: readonly string[], use: (url: string, folder: string) => Promise<T>): Promise<T> {
  return withFolder(async (folder) => {
    const sink = spawn(process.execPath, [program('http-sink'), ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      const [port] = (await once(sink.stdout, 'data')) as [Buffer];
      return await use(`http://127.0.0.1:${String(port).trim()}/`, folder);
    } finally {
      sink.kill('SIGKILL');
    }
  });
}
