import { expect, it } from '@jest/globals';
import { forward, forwardBatch, get_config_schema } from '../../../plugins/forward/noop.ts';
import { ForwardConfigBase } from '../../../src/sdk/config.ts';

it('does nothing, with the base configuration', () => {
  expect(get_config_schema()).toBe(ForwardConfigBase);
  expect(forward()).toBeUndefined();
  expect(forwardBatch()).toBeUndefined();
});
