import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ROOT } from '../support/build.ts';
import { blocksOf } from '../support/docs/markdown.ts';
import { isRunnable, runBlock } from '../support/docs/run-block.ts';
import { Workspace } from '../support/docs/workspace.ts';
import { type OpenSearch, startOpenSearch } from './support/opensearch.ts';
import { skipWithout } from './support/start-server.ts';

skipWithout('opensearch', 'curl')('documents in OpenSearch', () => {
  let server: OpenSearch;
  beforeAll(async () => {
    server = await startOpenSearch();
  });
  afterAll(() => server.stop());

  describe.each(['README.md', 'docs/recipes/nginx-to-opensearch.md'])('by the commands of %s', (page) => {
    const workspace = new Workspace();
    const blocks = blocksOf(readFileSync(join(ROOT, page), 'utf8')).filter(
      ({ attributes }) => attributes.get('server') === 'opensearch',
    );
    beforeAll(() => server.request('DELETE', 'access-log?ignore_unavailable=true'));
    // A reader is slower than the second after which a document can be found.
    beforeEach(() => server.request('POST', 'access-log/_refresh?ignore_unavailable=true'));

    it.each(blocks.map((block) => ({ title: `line ${block.line}`, block })))('$title', async ({ block }) => {
      expect(isRunnable(block)).toBe(false);
      const env = new Map(block.attributes).set('env', `OPENSEARCH_URL=${server.url}`);
      const text = block.text.replaceAll('http://localhost:9200', server.url);
      await runBlock({ ...block, text, attributes: env }, workspace);
    });

    it('leaves all requests in the index, and no secret', async () => {
      const documents = await server.documents('access-log');
      expect(documents).toHaveLength(2400);
      expect(JSON.stringify(documents)).not.toMatch(
        /KEY::\d{10}|ghp_\w{36}|AKIA\w{16}|[\w.]@[a-z]+\.example/,
      );
      expect(new Set(documents.map(({ _source }) => _source.remote_addr))).toEqual(
        new Set(['<:IPV4:>', undefined]),
      );
    });
  });
});
