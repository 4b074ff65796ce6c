import { ForwardConfigBase } from '../../src/sdk/index.ts';

export const description = 'Takes events and does nothing.';

export const example = `
nowhere:
  plugin: noop
`;

export const shownSettings = {};

export const traits = { discards: true };

/** The base configuration only: docs/specification.md#29-forward-plugins. */
export function get_config_schema(): typeof ForwardConfigBase {
  return ForwardConfigBase;
}

/** Does nothing to the event. */
export function forward(): void {}

/** Does nothing to the events. */
export function forwardBatch(): void {}
