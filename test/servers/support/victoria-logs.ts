import { answers, Restartable } from './restartable.ts';
import { freePort, serverFolder, startServer } from './start-server.ts';

/** An entry of VictoriaLogs: all of its values are strings, as in `_time`, `_msg` and `_stream`. */
export type LogRow = Readonly<Record<string, string>>;

/** A VictoriaLogs server with an empty store. */
export interface VictoriaLogs extends Restartable {
  /** As in `http://127.0.0.1:1234`; its inputs are below `/insert/`. */
  readonly url: string;
  /** Where it takes syslog over TCP, as `host:port`. */
  readonly syslog: string;
  /** What is stored. @param query in LogsQL; default: everything. */
  rows(query?: string): Promise<LogRow[]>;
}

/** Starts VictoriaLogs: `skipWithout('victoria-logs')`. */
export async function startVictoriaLogs(): Promise<VictoriaLogs> {
  const data = serverFolder('victoria-logs');
  const url = `http://127.0.0.1:${await freePort()}`;
  const syslog = `127.0.0.1:${await freePort()}`;
  const args = [
    `-httpListenAddr=${new URL(url).host}`,
    `-syslog.listenAddr.tcp=${syslog}`,
    `-storageDataPath=${data}`,
    // Lines of tests may have any time.
    '-retentionPeriod=100y',
    '-loggerLevel=WARN',
  ];
  const server = await Restartable.start(() =>
    startServer('victoria-logs', args, () => answers(`${url}/health`)),
  );
  const rows = async (query = '*') => {
    await fetch(`${url}/internal/force_flush`);
    const response = await fetch(`${url}/select/logsql/query`, {
      method: 'POST',
      body: new URLSearchParams({ query }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${response.status}: ${text}`);
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as LogRow);
  };
  return Object.assign(server, { url, syslog, rows });
}
