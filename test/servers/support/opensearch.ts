import { join } from 'node:path';
import { answers, Restartable } from './restartable.ts';
import { classPath, freePort, serverFolder, startServer } from './start-server.ts';

/** A document of an index. */
export interface StoredDocument {
  readonly _index: string;
  readonly _id: string;
  readonly _source: Readonly<Record<string, unknown>>;
}

/** An OpenSearch node without documents. */
export interface OpenSearch extends Restartable {
  readonly url: string;
  /** Sends a request, and returns the parsed answer. Fails if its status is not below 300. */
  request(method: string, path: string, body?: unknown): Promise<unknown>;
  /** How many documents an index, a data stream or a pattern has. Indices that do not exist have none. */
  count(index: string): Promise<number>;
  /** All documents of an index, a data stream or a pattern. */
  documents(index: string): Promise<StoredDocument[]>;
}

/** Starts OpenSearch, which takes about 20 s: `skipWithout('opensearch')`. */
export async function startOpenSearch(): Promise<OpenSearch> {
  const home = serverFolder('opensearch');
  const [http, transport] = [await freePort(), await freePort()];
  const url = `http://127.0.0.1:${http}`;
  const main = join(import.meta.dirname, 'opensearch', 'Main.java');
  const args = ['-Xmx512m', '-cp', classPath('opensearch') ?? '', main, home, `${http}`, `${transport}`];
  const server = await Restartable.start(() =>
    // After a restart, it answers before it has opened its indices.
    startServer('java', args, () => answers(`${url}/_cluster/health?wait_for_status=yellow&timeout=1s`)),
  );
  const request = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(`${url}/${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const answer = (await response.json()) as unknown;
    if (!response.ok) throw new Error(`${response.status}: ${JSON.stringify(answer)}`);
    return answer;
  };
  const missing = 'ignore_unavailable=true&allow_no_indices=true';
  const documents = async (index: string) => {
    await request('POST', `${index}/_refresh?${missing}`);
    const all: StoredDocument[] = [];
    type Page = { readonly _scroll_id: string; readonly hits: { readonly hits: StoredDocument[] } };
    let page = (await request('POST', `${index}/_search?${missing}&scroll=1m`, { size: 10_000 })) as Page;
    while (page.hits.hits.length > 0) {
      all.push(...page.hits.hits);
      page = (await request('POST', '_search/scroll', { scroll: '1m', scroll_id: page._scroll_id })) as Page;
    }
    await request('DELETE', '_search/scroll', { scroll_id: page._scroll_id });
    return all;
  };
  const count = async (index: string) => {
    await request('POST', `${index}/_refresh?${missing}`);
    return ((await request('GET', `${index}/_count?${missing}`)) as { readonly count: number }).count;
  };
  return Object.assign(server, { url, request, count, documents });
}
