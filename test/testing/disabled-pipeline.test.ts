import { expect, it } from '@jest/globals';
import { testPipeline } from '../../src/testing/index.ts';

it('testPipeline runs a disabled pipeline', async () => {
  const run = await testPipeline(
    {
      collectors: { web: { plugin: 'file', paths: ['/nowhere'] } },
      forwarders: { out: { plugin: 'noop' } },
      pipelines: { main: { collect: 'web', forward: 'out', enabled: false } },
      host_config: {},
    },
    { collect: { web: { marbles: 'a|' } } },
  );
  expect(run.state).toBe('completed');
  expect(run.forwarded('out')).toHaveLength(1);
});
