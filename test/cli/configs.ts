/** Counts to `count` and writes the events to standard output. */
export const countTo = (count: number, pipeline = '') => `
collectors:
  numbers: { plugin: test, interval: 0.001, count: ${count} }
forwarders:
  screen: { plugin: stdout }
pipelines:
  counting: { collect: numbers, forward: screen, restart: false${pipeline} }
host_config: {}
`;

/** Two pipelines, and a third that is disabled. None of them writes to standard output or ends by itself. */
export const THREE = `
collectors:
  numbers: { plugin: test, interval: 0.001 }
processors:
  same: { plugin: test }
forwarders:
  nowhere: { plugin: noop }
pipelines:
  web: { collect: numbers, process: same, forward: nowhere }
  api: { collect: numbers, forward: nowhere }
  old: { collect: numbers, forward: nowhere, enabled: false }
host_config: {}
`;

/** A configuration whose forwarder or collector is a module beside it. */
export const withModules = (modules: { collect?: string; forward?: string }) => `
collectors:
  numbers: { plugin: ${modules.collect ?? 'test'} }
forwarders:
  target: { plugin: ${modules.forward ?? 'noop'} }
pipelines:
  web: { collect: numbers, forward: target, restart: false }
host_config: {}
`;

const SCHEMA = 'export const get_config_schema = () => ({ safeParse: (data) => ({ success: true, data }) });';
const SECRET = 'password 4711';

/** Modules, by file name. All errors in them quote a secret. */
export const MODULES = {
  'failing.mjs': `${SCHEMA} export const collect = () => { throw new Error('${SECRET}'); };`,
  'crashing.mjs': `${SCHEMA} export const collect = () => new Promise(() => {
    setTimeout(() => { throw new Error('${SECRET}'); }, 1);
  });`,
  'hanging.mjs': `${SCHEMA} export const forward = ({ ctx }) => {
    ctx.logger.info('holding an event');
    return new Promise(() => { setInterval(() => {}, 1000); });
  };`,
  // Nothing of these keeps the process by itself.
  'silent.mjs': `${SCHEMA} export const forward = ({ ctx }) => {
    ctx.logger.info('holding an event');
    return new Promise(() => {});
  };`,
  'one.mjs': `${SCHEMA} export const collect = () => [{ timestamp: '2026-01-01T00:00:00Z', data: {} }];`,
  'unloaded.mjs': `${SCHEMA} export const forward = () => {}; await new Promise(() => {});`,
  'chatty.mjs': `${SCHEMA} export const forward = ({ ctx }) => ctx.logger.warn('one more event');`,
};
