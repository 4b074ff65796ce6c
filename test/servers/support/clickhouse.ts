import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort, type Server, startServer } from './start-server.ts';

/** The password of the user `agent`. */
export const PASSWORD = 'hunter2 & co';

/** A ClickHouse server with an empty database. */
export interface ClickHouse extends Server {
  readonly port: number;
  readonly url: string;
  /** The answer of a query, without the newline at its end. */
  query(sql: string): Promise<string>;
}

/** Starts ClickHouse in a folder, which it keeps its tables in. Without a `port` it gets a free one. */
export async function startClickHouse(folder: string, port?: number): Promise<ClickHouse> {
  const http = port ?? (await freePort());
  const user = (password: string) =>
    `<password>${password}</password><networks><ip>::/0</ip></networks><profile>default</profile><quota>default</quota>`;
  writeFileSync(
    join(folder, 'users.xml'),
    `<yandex><profiles><default></default></profiles><quotas><default></default></quotas>
<users><default>${user('')}</default><agent>${user(PASSWORD.replace('&', '&amp;'))}</agent></users></yandex>`,
  );
  writeFileSync(
    join(folder, 'config.xml'),
    `<yandex><logger><console>1</console><level>error</level></logger>
<http_port>${http}</http_port><tcp_port>${await freePort()}</tcp_port><listen_host>127.0.0.1</listen_host>
<path>${folder}/data/</path><tmp_path>${folder}/tmp/</tmp_path><mark_cache_size>100000000</mark_cache_size>
<users_config>users.xml</users_config><default_profile>default</default_profile>
<default_database>default</default_database></yandex>`,
  );
  const url = `http://127.0.0.1:${http}`;
  const isReady = () =>
    fetch(`${url}/ping`).then(
      ({ ok }) => ok,
      () => false,
    );
  const server = await startServer('clickhouse-server', ['--config-file=config.xml'], isReady, {
    cwd: folder,
  });
  return {
    ...server,
    port: http,
    url,
    query: async (sql) => {
      const response = await fetch(url, { method: 'POST', body: sql });
      const text = await response.text();
      if (!response.ok) throw new Error(`${response.status}: ${text}`);
      return text.trimEnd();
    },
  };
}
