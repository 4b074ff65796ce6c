import { expect, it } from '@jest/globals';
import { runCommand } from '../support/cli.ts';

it('the example of policies passes its tests', async () => {
  const { code, stdout } = await runCommand(['test', 'examples/field-policies/pipeline.yaml']);
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('3 passed') });
});
