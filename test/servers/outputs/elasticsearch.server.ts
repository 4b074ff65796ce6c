import { type OpenSearch, startOpenSearch } from '../support/opensearch.ts';
import { testOverHttp } from './http-scenarios.ts';

testOverHttp<OpenSearch>({
  name: 'elasticsearch',
  needs: ['opensearch'],
  start: startOpenSearch,
  url: ({ url }) => url,
  async target(server, index) {
    const mappings = { properties: { line: { type: 'keyword' } } };
    await server.request('PUT', index, { settings: { number_of_replicas: 0 }, mappings });
    return {
      forwarder: (at) => `plugin: elasticsearch, url: '${at}', index: ${index}`,
      documents: async () => (await server.documents(index)).map(({ _source }) => JSON.stringify(_source)),
    };
  },
  // An event that is sent again has the same id.
  recognises: true,
  exactlyOnce: true,
  endsBy: 'SIGKILL',
  // A keyword has at most 32,766 bytes.
  refusedLength: 40_000,
  credentials: {
    fields: 'auth: { bearer: { file: token } }',
    isRight: ({ authorization }) => authorization === 'Bearer right-token',
  },
});
