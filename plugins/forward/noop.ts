import { ForwardConfigBase } from '../../src/sdk/index.ts';

export const description = 'Takes events and does nothing.';

export const example = `
nowhere:
  plugin: noop
`;

export const shownSettings = {};

/** Specification 2.9: noop has the base configuration only. */
export function get_config_schema(): typeof ForwardConfigBase {
  return ForwardConfigBase;
}

/** Does nothing to the event. */
export function forward(): void {}

/** Does nothing to the events. */
export function forwardBatch(): void {}
